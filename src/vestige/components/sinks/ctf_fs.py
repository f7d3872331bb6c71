"""Writes traces in CTF to the file system: ``sink.ctf.fs``.

The core copies event records, mostly as they are encoded. What is decided here: which
directory and which file each trace and each data stream gets, and in which version.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ... import core
from ..._suppress import suppress
from ..._typing import TYPE_CHECKING
from ...errors import GraphError, StorageError
from ...plain_text import plain
from .ctf_fs_paths import stream_name, trace_path, unused_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import ExitStack

    from ...graph import Stream, TraceInfo
    from ...graph.plan import ComponentSpec

__all__ = ["CopyParams", "CtfFsSink", "make_ctf_fs"]

VERSIONS = {"1": "1.8", "2": "2"}
"""Versions of CTF, by the values of the parameter."""


class CopyParams:
    """What copies are to be.

    Args:
        version: Version of CTF, ``1.8`` or ``2``; that of each trace when ``None``.
        single: Whether the directory is that of the only trace.
        discarded_events: Whether to tell how many event records were discarded.
        discarded_packets: Whether to tell how many packets were discarded.
        quiet: Whether to say nothing about what was written.
    """

    def __init__(
        self,
        *,
        version: str | None = None,
        single: bool = False,
        discarded_events: bool = True,
        discarded_packets: bool = True,
        quiet: bool = False,
    ) -> None:
        self.version = version
        self.single = single
        self.discarded_events = discarded_events
        self.discarded_packets = discarded_packets
        self.quiet = quiet


class _TraceCopy:
    # A trace and its copy.

    def __init__(self, trace: TraceInfo, layout: core.CopyLayout) -> None:
        self.trace = trace
        self.parsed = trace.parsed
        self.layout = layout
        self.directory = Path()
        self.streams: list[Stream] = []
        self.names: set[str] = set()

    def write_metadata(self) -> None:
        """Write the metadata, or replace them."""
        path = self.directory / "metadata"
        fresh = self.directory / ".metadata"
        fresh.write_bytes(self.layout.metadata.encode())
        fresh.replace(path)


class CtfFsSink:
    """Copies data streams into traces below a directory.

    Args:
        directory: The directory, which is there.
        streams: The data streams.
        params: What the copies are to be.
    """

    looks_at_records = True
    """It copies them."""
    needs_boundaries = True
    """The packets of a copy are those of the trace."""

    def __init__(
        self,
        directory: Path,
        streams: Sequence[Stream],
        params: CopyParams | None = None,
    ) -> None:
        self._directory = directory
        self._streams = streams
        self._params = params or CopyParams()
        self._copy = core.MergeCopy()
        self._has_begun = False
        self._traces: dict[TraceInfo, _TraceCopy] = {}
        self._is_told = False

    @property
    def _paths(self) -> list[Path]:
        return [one.directory for one in self._traces.values()]

    def consume(self, merge: core.Merge) -> None:
        """Copy a merge.

        Raises:
            StorageError: A file cannot be written.
            GraphError: The version of CTF cannot have a field class.
        """
        try:
            if not self._has_begun:
                self._begin(merge)
            if unknown := self._copy.unknown(merge):
                self._add(unknown, merge)
            for one in self._traces.values():
                if one.trace.parsed is not one.parsed:
                    self._learn(one, merge)
            self._copy.consume(merge)
        except StorageError as error:
            raise self._incomplete(error) from error

    def finish(self) -> None:
        """End all packets, and say what was written.

        Raises:
            StorageError: A file cannot be written.
            GraphError: The version of CTF cannot have a field class.
        """
        try:
            if not self._has_begun:
                self._begin(None)
            self._copy.finish()
        except StorageError as error:
            raise self._incomplete(error) from error
        self._is_told = True
        if not self._params.quiet:
            # Its parts come from the trace.
            shown = plain if sys.stdout.isatty() else str
            for path in self._paths:
                sys.stdout.write(f"Created CTF trace `{shown(str(path))}`.\n")
            sys.stdout.flush()

    def close(self) -> None:
        """End what was begun when the reading ended early, and say so."""
        if self._is_told:
            return
        with suppress(StorageError):
            self._copy.finish()
        for path in self._paths:
            sys.stderr.write(f"not complete: {path}\n")

    def _incomplete(self, error: StorageError) -> StorageError:
        """Return an error that says which traces are not complete."""
        self._is_told = True
        message = error.message
        if self._traces:
            paths = ", ".join(str(path) for path in self._paths)
            message = f"{message}; not complete: {paths}"
        return StorageError(message, path=error.path, errno=error.errno)

    def _begin(self, merge: core.Merge | None) -> None:
        """Make the traces with their metadata and files, without a packet."""
        self._has_begun = True
        self._add(self._streams, merge)

    def _add(self, streams: Iterable[Stream], merge: core.Merge | None) -> None:
        """Add data streams, and their traces if these are new."""
        new: dict[TraceInfo, list[Stream]] = {}
        for stream in streams:
            new.setdefault(stream.trace, []).append(stream)
        count = len({*self._traces, *new})
        if self._params.single and count > 1:
            raise GraphError(
                f"assume-single-trace: there are {count} traces", path=self._directory
            )
        # What a version cannot have is told before anything is written.
        made = [
            _TraceCopy(trace, self._layout(trace, merge))
            for trace in new
            if trace not in self._traces
        ]
        for one in made:
            self._add_trace(one)
        for trace, its_streams in new.items():
            for stream in its_streams:
                self._add_stream(self._traces[trace], stream)

    def _layout(self, trace: TraceInfo, merge: core.Merge | None) -> core.CopyLayout:
        try:
            return core.CopyLayout(
                trace.parsed,
                self._params.version,
                discarded_events=self._params.discarded_events,
                discarded_packets=self._params.discarded_packets,
                epoch_origin=trace.epoch_origin,
                merge=merge,
            )
        except GraphError as error:
            raise GraphError(error.message, path=_first_path(trace)) from error

    def _learn(self, one: _TraceCopy, merge: core.Merge) -> None:
        """Go on with the metadata of a trace that has more of them by now."""
        one.parsed = one.trace.parsed
        one.layout = self._layout(one.trace, merge)
        try:
            one.write_metadata()
        except OSError as error:
            raise _storage_error(error, one.directory) from error
        for stream in one.streams:
            self._copy.learn(stream.handle, one.layout)

    def _add_trace(self, one: _TraceCopy) -> None:
        directory = self._directory
        if not self._params.single:
            path = trace_path(one.trace.name, one.trace.parsed.environment)
            directory = unused_path(directory / path)
        one.directory = directory
        try:
            directory.mkdir(parents=True)
            self._traces[one.trace] = one
            one.write_metadata()
        except OSError as error:
            raise _storage_error(error, directory) from error

    def _add_stream(self, one: _TraceCopy, stream: Stream) -> None:
        name = stream_name(stream.path, one.names)
        one.names.add(name)
        one.streams.append(stream)
        path = os.fspath(one.directory / name)
        self._copy.add(stream.handle, one.layout, stream.id, path)


def _first_path(trace: TraceInfo) -> Path | None:
    return trace.directories[0] if trace.directories else None


def _storage_error(error: OSError, path: Path) -> StorageError:
    return StorageError(f"cannot write: {error.strerror}", path=path, errno=error.errno)


def make_ctf_fs(
    spec: ComponentSpec, resources: ExitStack, streams: Sequence[Stream]
) -> CtfFsSink:
    """Make a sink, and the directory into which it writes.

    Args:
        spec: The component.
        resources: What ends traces that are not complete.
        streams: The data streams that come in.

    Raises:
        GraphError: A single trace is assumed, and the directory is there already.
        StorageError: The directory cannot be made.
    """
    params = spec.params
    directory = Path(params["path"])
    single = params.get("assume-single-trace", False)
    if single and os.path.lexists(directory):
        raise GraphError(
            f"component '{spec.name}': assume-single-trace needs a path that does not "
            "exist",
            path=directory,
        )
    if not single:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _storage_error(error, directory) from error
    version = params.get("ctf-version")
    sink = CtfFsSink(
        directory,
        streams,
        CopyParams(
            version=None if version is None else VERSIONS[version],
            single=single,
            discarded_events=not params.get("ignore-discarded-events", False),
            discarded_packets=not params.get("ignore-discarded-packets", False),
            quiet=params.get("quiet", False),
        ),
    )
    resources.callback(sink.close)
    return sink
