"""CTF traces on disk: finding, reading and writing them.

A trace is a directory with a ``metadata`` file and data stream files. LTTng
makes trees of them: ``ust/uid/UID/64-bit``, ``ust/pid/NAME-PID-TIME``, ``kernel``.
In ``reading``, ``discovery`` finds the directories below a path, ``metadata`` builds
the model, and ``trace_files`` opens the files and joins them into data streams.

:class:`Writer` writes traces. In ``writing``, ``declarations`` says what fields are
declared with, ``lowering`` completes it, ``tsdl`` and ``fragments`` write the metadata
of CTF 1.8 and CTF 2, and the core encodes event records by the metadata it parses.

Others import all names from here.
"""

from __future__ import annotations

from .._lazy import lazy_names
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model import ClockClass
    from .reading.discovery import METADATA, FoundTrace, data_file_names, find_traces
    from .reading.metadata import trace_class_model
    from .reading.metadata_text import metadata_text
    from .reading.pid_namespaces import pid_namespace
    from .reading.trace_files import (
        DamagedFile,
        LogicalTrace,
        StreamFiles,
        open_traces,
        read_metadata,
        usable_metadata,
    )
    from .writing.data_stream_writer import DataStreamWriter, EventClassWriter
    from .writing.declarations import (
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
    from .writing.stream_class_writer import StreamClassWriter
    from .writing.tsdl import Tsdl
    from .writing.writer import Writer

__all__ = [
    "METADATA",
    "ClockClass",
    "DamagedFile",
    "DataStreamWriter",
    "Declaration",
    "EventClassWriter",
    "FoundTrace",
    "LogicalTrace",
    "StreamClassWriter",
    "StreamFiles",
    "Tsdl",
    "Writer",
    "array",
    "bit_array",
    "bit_map",
    "blob",
    "boolean",
    "data_file_names",
    "enumeration",
    "find_traces",
    "floating_point",
    "integer",
    "metadata_text",
    "open_traces",
    "optional",
    "pid_namespace",
    "read_metadata",
    "string",
    "structure",
    "trace_class_model",
    "usable_metadata",
    "variable_length_integer",
    "variant",
]

_HOMES = {
    "ClockClass": "..model",
    "DamagedFile": "reading.trace_files",
    "DataStreamWriter": "writing.data_stream_writer",
    "Declaration": "writing.declarations",
    "EventClassWriter": "writing.data_stream_writer",
    "FoundTrace": "reading.discovery",
    "LogicalTrace": "reading.trace_files",
    "METADATA": "reading.discovery",
    "StreamClassWriter": "writing.stream_class_writer",
    "StreamFiles": "reading.trace_files",
    "Tsdl": "writing.tsdl",
    "Writer": "writing.writer",
    "array": "writing.declarations",
    "bit_array": "writing.declarations",
    "bit_map": "writing.declarations",
    "blob": "writing.declarations",
    "boolean": "writing.declarations",
    "data_file_names": "reading.discovery",
    "enumeration": "writing.declarations",
    "find_traces": "reading.discovery",
    "floating_point": "writing.declarations",
    "integer": "writing.declarations",
    "metadata_text": "reading.metadata_text",
    "open_traces": "reading.trace_files",
    "optional": "writing.declarations",
    "pid_namespace": "reading.pid_namespaces",
    "read_metadata": "reading.trace_files",
    "string": "writing.declarations",
    "structure": "writing.declarations",
    "trace_class_model": "reading.metadata",
    "usable_metadata": "reading.trace_files",
    "variable_length_integer": "writing.declarations",
    "variant": "writing.declarations",
}
"""The module of each name: it is imported when the name is first used.

A command needs some of them, and importing all takes longer than small tasks do.
"""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
