"""CTF traces on disk: finding, reading and writing them.

A trace is a directory with a ``metadata`` file and data stream files. LTTng
makes trees of them: ``ust/uid/UID/64-bit``, ``ust/pid/NAME-PID-TIME``, ``kernel``.
:mod:`.discovery` finds the directories below a path, :mod:`.metadata` builds the model,
:mod:`.trace_files` opens the files and joins them into data streams.

:class:`Writer` writes traces. :mod:`.declarations` says what fields are declared with,
:mod:`.lowering` completes it, :mod:`.tsdl` and :mod:`.fragments` write the metadata of
CTF 1.8 and CTF 2, and the core encodes event records by the metadata it parses.
"""

from __future__ import annotations

from .._lazy import lazy_names
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model import ClockClass
    from .data_stream_writer import DataStreamWriter, EventClassWriter
    from .declarations import (
        Declaration,
        array,
        bit_array,
        bit_map,
        blob,
        boolean,
        enumeration,
        floating_point,
        integer,
        optional,
        string,
        structure,
        variable_length_integer,
        variant,
    )
    from .discovery import FoundTrace, find_traces
    from .stream_class_writer import StreamClassWriter
    from .trace_files import DamagedFile, LogicalTrace, StreamFiles, open_traces
    from .writer import Writer

__all__ = [
    "ClockClass",
    "DamagedFile",
    "DataStreamWriter",
    "Declaration",
    "EventClassWriter",
    "FoundTrace",
    "LogicalTrace",
    "StreamClassWriter",
    "StreamFiles",
    "Writer",
    "array",
    "bit_array",
    "bit_map",
    "blob",
    "boolean",
    "enumeration",
    "find_traces",
    "floating_point",
    "integer",
    "open_traces",
    "optional",
    "string",
    "structure",
    "variable_length_integer",
    "variant",
]

_DECLARATIONS = (
    "Declaration",
    "array",
    "bit_array",
    "bit_map",
    "blob",
    "boolean",
    "enumeration",
    "floating_point",
    "integer",
    "optional",
    "string",
    "structure",
    "variable_length_integer",
    "variant",
)

_HOMES = {
    "ClockClass": "..model",
    "DamagedFile": "trace_files",
    "DataStreamWriter": "data_stream_writer",
    "EventClassWriter": "data_stream_writer",
    "FoundTrace": "discovery",
    "LogicalTrace": "trace_files",
    "StreamClassWriter": "stream_class_writer",
    "StreamFiles": "trace_files",
    "Writer": "writer",
    "find_traces": "discovery",
    "open_traces": "trace_files",
    **dict.fromkeys(_DECLARATIONS, "declarations"),
}
"""The module of each public name, imported when the name is first used."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
