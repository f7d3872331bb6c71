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
from .ctf_fs_paths import stream_name, trace_path, unused_path

if TYPE_CHECKING:
    from collections.abc import Sequence
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
        self._copy: core.MergeCopy | None = None
        self._paths: list[Path] = []
        self._is_told = False

    def consume(self, merge: core.Merge) -> None:
        """Copy a merge.

        Raises:
            StorageError: A file cannot be written.
            GraphError: The version of CTF cannot have a field class.
        """
        try:
            if self._copy is None:
                self._copy = self._begun(merge)
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
            if self._copy is None:
                self._copy = self._begun(None)
            self._copy.finish()
        except StorageError as error:
            raise self._incomplete(error) from error
        self._is_told = True
        if not self._params.quiet:
            for path in self._paths:
                sys.stdout.write(f"Created CTF trace `{path}`.\n")
            sys.stdout.flush()

    def close(self) -> None:
        """End what was begun when the reading ended early, and say so."""
        if self._is_told:
            return
        with suppress(StorageError):
            if self._copy is not None:
                self._copy.finish()
        for path in self._paths:
            sys.stderr.write(f"not complete: {path}\n")

    def _incomplete(self, error: StorageError) -> StorageError:
        """Return an error that says which traces are not complete."""
        self._is_told = True
        message = error.message
        if self._paths:
            paths = ", ".join(str(path) for path in self._paths)
            message = f"{message}; not complete: {paths}"
        return StorageError(message, path=error.path, errno=error.errno)

    def _begun(self, merge: core.Merge | None) -> core.MergeCopy:
        """Make the traces with their metadata and files, without a packet."""
        copy = core.MergeCopy()
        traces: dict[TraceInfo, list[Stream]] = {}
        for stream in self._streams:
            traces.setdefault(stream.trace, []).append(stream)
        if self._params.single and len(traces) > 1:
            raise GraphError(
                f"assume-single-trace: there are {len(traces)} traces",
                path=self._directory,
            )
        # What a version cannot have is told before anything is written.
        layouts = {trace: self._layout(trace, merge) for trace in traces}
        for trace, streams in traces.items():
            self._add_trace(copy, trace, streams, layouts[trace])
        return copy

    def _layout(self, trace: TraceInfo, merge: core.Merge | None) -> core.CopyLayout:
        old = trace.parsed.describe()["version"][0] < 2  # noqa: PLR2004 - CTF 2
        version = self._params.version or ("1.8" if old else "2")
        try:
            return core.CopyLayout(
                trace.parsed,
                version,
                discarded_events=self._params.discarded_events,
                discarded_packets=self._params.discarded_packets,
                epoch_origin=trace.epoch_origin,
                merge=merge,
            )
        except GraphError as error:
            raise GraphError(
                f"cannot be written in CTF {version}: {error.message}",
                path=_first_path(trace),
            ) from error

    def _add_trace(
        self,
        copy: core.MergeCopy,
        trace: TraceInfo,
        streams: Sequence[Stream],
        layout: core.CopyLayout,
    ) -> None:
        directory = self._directory
        if not self._params.single:
            path = trace_path(trace.name, trace.parsed.environment)
            directory = unused_path(directory / path)
        try:
            directory.mkdir(parents=True)
            self._paths.append(directory)
            with (directory / "metadata").open("xb") as file:
                file.write(layout.metadata.encode())
        except OSError as error:
            raise _storage_error(error, directory) from error
        names: set[str] = set()
        for stream in streams:
            name = stream_name(stream.path, names)
            names.add(name)
            file_path = os.fspath(directory / name)
            copy.add(stream.handle, layout, stream.id, file_path)


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
