"""The one door to the Rust core.

Every other module imports compiled names from here, never from ``vestige._core``, so
that a missing or stale extension is reported once and clearly.
"""

from __future__ import annotations

import os

try:
    from ._core import (
        AnswerWriter,
        BlockLevels,
        CallFold,
        ChromeCalls,
        ClockSnapshot,
        ColumnLayout,
        CopyLayout,
        DataFile,
        DataStream,
        DetailsRenderer,
        EncodedPacket,
        Event,
        EventCounter,
        EventIterator,
        EventLayout,
        EventMessage,
        EventTable,
        FieldBase,
        FieldsView,
        FunctionPlan,
        IndexedTable,
        IntervalIndex,
        LockFold,
        MemoryFold,
        Merge,
        MergeBuilder,
        MergeCopy,
        MergeMuxer,
        MessageCounter,
        MessageEvent,
        MessageIterator,
        Muxer,
        NumberFieldBase,
        ObjectFile,
        PerfettoWriter,
        PlaceColumn,
        PlaceFormat,
        RecordFilter,
        Repair,
        StreamWriter,
        StructureFieldBase,
        SymbolTable,
        TextRenderer,
        ThreadNames,
        TraceClass,
        Trimmer,
        UnitIndex,
        Verifier,
        copied_event,
        copied_fields,
        demangle,
        file_crc32,
        packet_of_notice,
        set_most_open_files,
    )
    from ._core import __interface__ as _interface
    from ._core import __version__ as _compiled_version
except ImportError as error:  # pragma: no cover - only on a broken installation
    raise ImportError(
        f"the compiled part of Vestige is missing or does not fit ({error}): build it "
        "with 'make' or 'pip install .' in the source tree",
        name="vestige._core",
    ) from error

from ._version import __version__

__all__ = [
    "AnswerWriter",
    "BlockLevels",
    "CallFold",
    "ChromeCalls",
    "ClockSnapshot",
    "ColumnLayout",
    "CopyLayout",
    "DataFile",
    "DataStream",
    "DetailsRenderer",
    "EncodedPacket",
    "Event",
    "EventCounter",
    "EventIterator",
    "EventLayout",
    "EventMessage",
    "EventTable",
    "FieldBase",
    "FieldsView",
    "FunctionPlan",
    "IndexedTable",
    "IntervalIndex",
    "LockFold",
    "MemoryFold",
    "Merge",
    "MergeBuilder",
    "MergeCopy",
    "MergeMuxer",
    "MessageCounter",
    "MessageEvent",
    "MessageIterator",
    "Muxer",
    "NumberFieldBase",
    "ObjectFile",
    "PerfettoWriter",
    "PlaceColumn",
    "PlaceFormat",
    "RecordFilter",
    "Repair",
    "StreamWriter",
    "StructureFieldBase",
    "SymbolTable",
    "TextRenderer",
    "ThreadNames",
    "TraceClass",
    "Trimmer",
    "UnitIndex",
    "Verifier",
    "copied_event",
    "copied_fields",
    "demangle",
    "file_crc32",
    "packet_of_notice",
    "set_most_open_files",
]


def _check_version() -> None:
    """Refuse an extension of another version: its calls would fail in odd ways."""
    if _compiled_version != __version__:
        raise ImportError(
            f"vestige {__version__} found a compiled part of version "
            f"{_compiled_version}: build it again with 'pip install .'",
            name="vestige._core",
        )


def _check_interface() -> None:
    """Refuse an extension that was built before its description was changed."""
    path = os.path.join(os.path.dirname(__file__), "_core.pyi")  # noqa: PTH118, PTH120 - each command waits for this
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            stub = file.read()
    except OSError:
        # Some packagers leave it out.
        return
    # All but the docstrings, as the build takes it.
    if b"".join(stub.split(b'"""')[::2]) != _interface:
        raise ImportError(
            "the compiled part of Vestige is older or newer than its description in "
            f"{path}: build it again with 'make' or 'pip install .' in the source tree",
            name="vestige._core",
        )


_check_version()
_check_interface()
