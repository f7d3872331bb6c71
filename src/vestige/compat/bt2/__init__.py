"""Babeltrace 2's Python module ``bt2``, over Vestige.

Scripts are run with it by ``python -m vestige.compat.bt2 script.py ARGS``: there
``import bt2`` gives this package. It has the names and behaviour of ``bt2`` 2.0.4, of
which it is no part; see the reference manual for what it does not have.
"""

from __future__ import annotations

from typing import Any

from .errors import (
    ComponentClassType,
    Stop,
    TryAgain,
    UnknownObject,
    _ComponentClassErrorCause,
    _ComponentErrorCause,
    _Error,
    _ErrorCause,
    _IncompleteUserClass,
    _MemoryError,
    _MessageIteratorErrorCause,
    _OverflowError,
)
from .fields.field import (
    _ArrayFieldConst,
    _BitArrayFieldConst,
    _BoolFieldConst,
    _DoublePrecisionRealFieldConst,
    _DynamicArrayFieldConst,
    _EnumerationFieldConst,
    _IntegerFieldConst,
    _OptionFieldConst,
    _RealFieldConst,
    _SignedEnumerationFieldConst,
    _SignedIntegerFieldConst,
    _SinglePrecisionRealFieldConst,
    _StaticArrayFieldConst,
    _StringFieldConst,
    _StructureFieldConst,
    _UnsignedEnumerationFieldConst,
    _UnsignedIntegerFieldConst,
    _VariantFieldConst,
)
from .fields.field_classes import (
    IntegerDisplayBase,
    _ArrayFieldClassConst,
    _BitArrayFieldClassConst,
    _BoolFieldClassConst,
    _DynamicArrayFieldClassConst,
    _DynamicArrayWithLengthFieldFieldClassConst,
    _EnumerationFieldClassConst,
    _IntegerFieldClassConst,
    _OptionFieldClassConst,
    _OptionWithBoolSelectorFieldClassConst,
    _OptionWithIntegerSelectorFieldClassConst,
    _OptionWithSelectorFieldClassConst,
    _OptionWithSignedIntegerSelectorFieldClassConst,
    _OptionWithUnsignedIntegerSelectorFieldClassConst,
    _RealFieldClassConst,
    _SignedEnumerationFieldClassConst,
    _SignedIntegerFieldClassConst,
    _StaticArrayFieldClassConst,
    _StringFieldClassConst,
    _StructureFieldClassConst,
    _UnsignedEnumerationFieldClassConst,
    _UnsignedIntegerFieldClassConst,
    _VariantFieldClassConst,
    _VariantFieldClassWithIntegerSelectorConst,
    _VariantFieldClassWithoutSelectorConst,
    _VariantFieldClassWithSignedIntegerSelectorConst,
    _VariantFieldClassWithUnsignedIntegerSelectorConst,
)
from .fields.field_paths import (
    FieldPathScope,
    _CurrentArrayElementFieldPathItem,
    _CurrentOptionContentFieldPathItem,
    _FieldPathConst,
    _FieldPathItem,
    _IndexFieldPathItem,
)
from .fields.made_field_classes import (
    _ArrayFieldClass,
    _BitArrayFieldClass,
    _BoolFieldClass,
    _DoublePrecisionRealFieldClass,
    _DynamicArrayFieldClass,
    _DynamicArrayWithLengthFieldFieldClass,
    _EnumerationFieldClass,
    _IntegerFieldClass,
    _OptionFieldClass,
    _OptionWithBoolSelectorFieldClass,
    _OptionWithSignedIntegerSelectorFieldClass,
    _OptionWithUnsignedIntegerSelectorFieldClass,
    _RealFieldClass,
    _SignedEnumerationFieldClass,
    _SignedIntegerFieldClass,
    _SinglePrecisionRealFieldClass,
    _StaticArrayFieldClass,
    _StringFieldClass,
    _StructureFieldClass,
    _UnsignedEnumerationFieldClass,
    _UnsignedIntegerFieldClass,
    _VariantFieldClass,
    _VariantFieldClassWithoutSelector,
    _VariantFieldClassWithSignedIntegerSelector,
    _VariantFieldClassWithUnsignedIntegerSelector,
)
from .fields.made_fields import (
    _ArrayField,
    _BitArrayField,
    _BoolField,
    _DoublePrecisionRealField,
    _DynamicArrayField,
    _EnumerationField,
    _IntegerField,
    _OptionField,
    _RealField,
    _SignedEnumerationField,
    _SignedIntegerField,
    _SinglePrecisionRealField,
    _StaticArrayField,
    _StringField,
    _StructureField,
    _UnsignedEnumerationField,
    _UnsignedIntegerField,
    _VariantField,
)
from .graphs.graph import Graph
from .graphs.mip import (
    ComponentDescriptor,
    get_greatest_operative_mip_version,
    get_maximal_mip_version,
)
from .graphs.ports import (
    _FilterComponentConst,
    _SinkComponentConst,
    _SourceComponentConst,
)
from .interrupter import Interrupter
from .logging import (
    LoggingLevel,
    get_global_logging_level,
    get_minimal_logging_level,
    set_global_logging_level,
)
from .messages.made_messages import (
    _DiscardedEventsMessage,
    _DiscardedPacketsMessage,
    _EventMessage,
    _MessageIteratorInactivityMessage,
    _PacketBeginningMessage,
    _PacketEndMessage,
    _StreamBeginningMessage,
    _StreamEndMessage,
)
from .messages.message import (
    _DiscardedEventsMessageConst,
    _DiscardedPacketsMessageConst,
    _EventMessageConst,
    _MessageIteratorInactivityMessageConst,
    _PacketBeginningMessageConst,
    _PacketEndMessageConst,
    _StreamBeginningMessageConst,
    _StreamEndMessageConst,
)
from .plugins.component_classes import (
    _FilterComponentClassConst,
    _SinkComponentClassConst,
    _SourceComponentClassConst,
)
from .plugins.files import plugin_component_class, register_plugin
from .plugins.plugin import find_plugin, find_plugins, find_plugins_in_path
from .plugins.query import QueryExecutor
from .reading.component_specs import AutoSourceComponentSpec, ComponentSpec
from .reading.iterator import TraceCollectionMessageIterator
from .traces.trace_ir import (
    ClockClassOffset,
    EventClassLogLevel,
    _ClockSnapshotConst,
    _UnknownClockSnapshot,
)
from .user.components import (
    _UserFilterComponent,
    _UserSinkComponent,
    _UserSourceComponent,
)
from .user.iterators import _UserMessageIterator
from .values.integer_ranges import (
    SignedIntegerRange,
    SignedIntegerRangeSet,
    UnsignedIntegerRange,
    UnsignedIntegerRangeSet,
    _SignedIntegerRangeConst,
    _SignedIntegerRangeSetConst,
    _UnsignedIntegerRangeConst,
    _UnsignedIntegerRangeSetConst,
)
from .values.value import (
    ArrayValue,
    BoolValue,
    MapValue,
    RealValue,
    SignedIntegerValue,
    StringValue,
    UnsignedIntegerValue,
    _ArrayValueConst,
    _BoolValueConst,
    _IntegerValue,
    _IntegerValueConst,
    _MapValueConst,
    _RealValueConst,
    _SignedIntegerValueConst,
    _StringValueConst,
    _UnsignedIntegerValueConst,
    create_value,
)

__version__ = "2.0.4"
"""The version of ``bt2`` whose names and behaviour these are."""


def __getattr__(name: str) -> Any:
    """Return what stands for a module of ``bt2``."""
    from .aliases import SUBMODULES, submodule  # noqa: PLC0415 - few scripts need it

    if name not in SUBMODULES:
        raise AttributeError(f"module 'bt2' has no attribute {name!r}")
    made = globals()[name] = submodule(name)
    return made
