"""Traces for Python programs: :func:`open`, :class:`Trace` and what is selected of one.

``selection`` has events by time and by name, ``columns`` and ``partitions`` those as
columns and in parts, ``column_files``, ``export``, ``dask_frame`` and ``dask`` hand
them to other programs. ``abandoned`` completes recordings that were killed before they
are read. Others import all names from here.
"""

from __future__ import annotations

from .._lazy import lazy_names
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .abandoned import recover_abandoned
    from .column_files import FORMATS, Format, Progress, complete_file, write_file
    from .columns import ColumnKeywords, ColumnOptions, EventColumns, require_extra
    from .export import export_each
    from .selection import EventSelection
    from .trace import Trace, TraceDamageWarning, open  # noqa: A004

__all__ = [
    "FORMATS",
    "ColumnKeywords",
    "ColumnOptions",
    "EventColumns",
    "EventSelection",
    "Format",
    "Progress",
    "Trace",
    "TraceDamageWarning",
    "complete_file",
    "export_each",
    "open",
    "recover_abandoned",
    "require_extra",
    "write_file",
]

_HOMES = {
    "ColumnKeywords": "columns",
    "ColumnOptions": "columns",
    "EventColumns": "columns",
    "EventSelection": "selection",
    "FORMATS": "column_files",
    "Format": "column_files",
    "Progress": "column_files",
    "Trace": "trace",
    "TraceDamageWarning": "trace",
    "complete_file": "column_files",
    "export_each": "export",
    "open": "trace",
    "recover_abandoned": "abandoned",
    "require_extra": "columns",
    "write_file": "column_files",
}
"""The module of each name: it is imported when the name is first used.

A command needs some of them, and importing all takes longer than small tasks do.
"""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
