"""CTF traces in the file system: ``source.ctf.fs``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path

from ... import core
from ..._typing import TYPE_CHECKING
from ...ctf import LogicalTrace, find_traces, open_traces, pid_namespace
from ...damage import Damage
from ...errors import NotATraceError
from ...graph import Stream, TraceInfo
from ...graph.stream import MOST_TRACES

if TYPE_CHECKING:
    from typing import Any

    from ...graph.plan import ComponentSpec

__all__ = ["CtfFsSource", "make_ctf_fs", "process_space"]


class CtfFsSource:
    """Reads all CTF traces at or below some paths.

    Args:
        paths: Trace directories, or directories above them.
        clock_offset_seconds: Seconds to add to all clocks.
        clock_offset_nanoseconds: Nanoseconds to add to all clocks.
        force_epoch_origin: Whether all clocks count from the Unix epoch, whatever the
            metadata say.
        trace_name: Name of all traces, after the host name that a trace may have.
        first_index: Index of the first trace, when there are other sources.

    Raises:
        NotATraceError: A path holds no trace.
        TraceFormatError: The metadata of no trace can be used.
    """

    def __init__(  # noqa: PLR0913 - the parameters of source.ctf.fs, by keyword
        self,
        paths: Iterable[str | os.PathLike[str]],
        *,
        clock_offset_seconds: int = 0,
        clock_offset_nanoseconds: int = 0,
        force_epoch_origin: bool = False,
        trace_name: str | None = None,
        first_index: int = 0,
    ) -> None:
        self._offset = (clock_offset_seconds, clock_offset_nanoseconds)
        self._epoch_origin = force_epoch_origin
        paths = list(paths)
        found = {
            trace.directory: trace for path in paths for trace in find_traces(path)
        }
        self.roots = [Path(os.path.normpath(Path.cwd() / path)) for path in paths]
        """The directories that were asked for, at or above those of the traces."""
        opened, unusable = open_traces(found.values())
        self.streams: list[Stream] = []
        """The data streams of all traces."""
        self._stream_ids: list[int | None] = []
        self.damage: list[Damage] = [file.error.damage for file in unusable]
        """The files of which nothing can be read, or not all."""
        self.directories = [path for trace in opened for path in trace.directories]
        """The directories of all traces."""
        self.trace_count = len(opened)
        """The number of traces."""
        if trace_name is not None:
            opened = [trace._replace(relative_name=trace_name) for trace in opened]
        for index, trace in enumerate(opened, first_index):
            self.streams.extend(self._streams_of(index, trace))
            self.damage.extend(damaged.error.damage for damaged in trace.damaged)
        if not self.streams and not self.damage and not opened:
            raise NotATraceError("no CTF trace")

    @classmethod
    def of(cls, params: Mapping[str, Any], first_index: int = 0) -> CtfFsSource:
        """Open the traces that parameters name.

        Args:
            params: The parameters, already checked.
            first_index: Index of the first trace, when there are other sources.

        Raises:
            NotATraceError: An input holds no trace.
            TraceFormatError: The metadata of no trace can be used.
        """
        return cls(
            params["inputs"],
            clock_offset_seconds=params.get("clock-class-offset-s", 0),
            clock_offset_nanoseconds=params.get("clock-class-offset-ns", 0),
            force_epoch_origin=params.get("force-clock-class-origin-unix-epoch", False),
            trace_name=params.get("trace-name"),
            first_index=first_index,
        )

    def _streams_of(self, index: int, trace: LogicalTrace) -> Iterator[Stream]:
        parsed = self._moved(trace.trace_class)
        info = TraceInfo(
            index,
            trace.name,
            parsed,
            epoch_origin=self._epoch_origin,
            directories=trace.directories,
        )
        automatic_ids = count()
        for files in trace.streams:
            handle = core.DataStream(
                info.parsed,
                files.files,
                trace_name=info.name,
                trace_index=index,
                process_space=process_space(info, files.id),
            )
            identity = next(automatic_ids) if files.id is None else files.id
            self._stream_ids.append(files.id)
            yield Stream(info, files.stream_class, identity, files.name, handle)

    @property
    def port_names(self) -> list[str]:
        """The names of the output ports, one for each data stream, as Babeltrace's.

        That is the trace, by its UUID or its path, the ID of the stream class, and the
        ID of the data stream, or the path of its file.
        """
        return [
            _port_name(stream, identity)
            for stream, identity in zip(self.streams, self._stream_ids, strict=True)
        ]

    def _moved(self, trace_class: core.TraceClass) -> core.TraceClass:
        if self._offset == (0, 0):
            return trace_class
        return trace_class.with_clock_offset(*self._offset)


def make_ctf_fs(spec: ComponentSpec, first_index: int) -> CtfFsSource:
    """Open the traces that a component is to read.

    Args:
        spec: The component.
        first_index: The number of traces of other sources before it.

    Raises:
        NotATraceError: An input holds no trace.
        TraceFormatError: The metadata of no trace can be used.
    """
    return CtfFsSource.of(spec.params, first_index)


def _port_name(stream: Stream, identity: int | None) -> str:
    uuid = stream.trace.uuid
    trace = os.path.commonpath(stream.trace.directories) if uuid is None else str(uuid)
    last = os.path.abspath(stream.path) if identity is None else str(identity)  # noqa: PTH100 - the path is text
    return f"{trace} | {stream.handle.class_id} | {last}"


def process_space(trace: TraceInfo, stream_id: int | None) -> int:
    """Return a number of the trace and of the PID namespace of a data stream.

    Args:
        trace: The trace.
        stream_id: The ID of the data stream, if it has one.
    """
    return pid_namespace(trace.parsed, stream_id) * MOST_TRACES + trace.index
