"""The one door to the Rust core.

Every other module imports compiled names from here, never from ``vestige._core``, so
that a missing or stale extension is reported once and clearly.
"""

from __future__ import annotations

try:
    from ._core import __version__ as _compiled_version
except ImportError as error:  # pragma: no cover - only on a broken installation
    raise ImportError(
        "the compiled part of Vestige (vestige._core) is missing: "
        "build it with 'pip install .' in the source tree"
    ) from error

from ._core import (
    AnswerWriter,
    CallFold,
    ColumnLayout,
    DataFile,
    DataStream,
    Event,
    EventCounter,
    EventIterator,
    EventLayout,
    FieldsView,
    IndexedTable,
    Merge,
    Muxer,
    ObjectFile,
    PlaceColumn,
    PlaceFormat,
    RecordFilter,
    Repair,
    StreamWriter,
    SymbolTable,
    TextRenderer,
    TraceClass,
    UnitIndex,
    Verifier,
    copied_event,
    copied_fields,
    demangle,
    file_crc32,
    set_most_open_files,
)
from ._version import __version__

__all__ = [
    "AnswerWriter",
    "CallFold",
    "ColumnLayout",
    "DataFile",
    "DataStream",
    "Event",
    "EventCounter",
    "EventIterator",
    "EventLayout",
    "FieldsView",
    "IndexedTable",
    "Merge",
    "Muxer",
    "ObjectFile",
    "PlaceColumn",
    "PlaceFormat",
    "RecordFilter",
    "Repair",
    "StreamWriter",
    "SymbolTable",
    "TextRenderer",
    "TraceClass",
    "UnitIndex",
    "Verifier",
    "copied_event",
    "copied_fields",
    "demangle",
    "file_crc32",
    "set_most_open_files",
]


def _check_version() -> None:
    """Refuse an extension of another version: its calls would fail in odd ways."""
    if _compiled_version != __version__:
        raise ImportError(
            f"vestige {__version__} found a compiled part of version "
            f"{_compiled_version}: build it again with 'pip install .'"
        )


_check_version()
