"""Opening the files of traces and joining them into data streams.

The rules are those by which Babeltrace 2 joins files: trace directories with the same
UUID are parts of one trace, described by the metadata with the most classes; files with
the same stream class and the same data stream ID are parts of one data stream, in the
order of their first time stamps; a file without such an ID is a data stream of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from .. import core
from ..damage import Damage
from ..errors import TraceFormatError, error_context
from .discovery import METADATA, FoundTrace, data_file_names, indexed_names

__all__ = [
    "DamagedFile",
    "LogicalTrace",
    "StreamFiles",
    "open_traces",
    "usable_metadata",
]

LARGEST_METADATA = 64 * 1024 * 1024
"""Most bytes of metadata that are read; real ones have some hundred kilobytes."""
LARGEST_INDEX = 64 * 1024 * 1024
"""Most bytes of an index file that are read: enough for a million packets."""


class DamagedFile(NamedTuple):
    """A file of which nothing, or not all, can be used."""

    path: Path
    """The file."""
    error: TraceFormatError
    """Why."""


class StreamFiles(NamedTuple):
    """A data stream: its class, its ID and its files in time order."""

    stream_class: int
    """Index of the stream class in the trace class."""
    id: int | None
    """Data stream ID, when the packets carry one."""
    files: list[core.DataFile]
    """The files."""

    @property
    def name(self) -> str:
        """Path of the first file, by which Babeltrace 2 names the data stream."""
        return self.files[0].path


class LogicalTrace(NamedTuple):
    """One trace, from one or several directories."""

    directories: list[Path]
    """Its directories."""
    trace_class: core.TraceClass
    """Its metadata."""
    relative_name: str | None
    """Path of its only directory below the one that was given, if it was found so."""
    streams: list[StreamFiles]
    """Its data streams, in the order of the paths of their first files."""
    damaged: list[DamagedFile]
    """Files of which nothing, or not all, can be used."""

    @property
    def name(self) -> str:
        """The host name and the relative path, as Babeltrace 2 names a trace."""
        host = self.trace_class.environment.get("hostname")
        parts = [host if isinstance(host, str) else None, self.relative_name]
        return "/".join(part for part in parts if part)


def open_traces(
    found: Iterable[FoundTrace],
) -> tuple[list[LogicalTrace], list[DamagedFile]]:
    """Open traces, and join those that are parts of the same one.

    Args:
        found: Trace directories.

    Returns:
        The traces, and the metadata files that cannot be used: one such trace does not
        hide the others. Data stream files that cannot be read are listed in the traces.

    Raises:
        TraceFormatError: The metadata of no trace can be used.
    """
    groups: dict[bytes | Path, list[tuple[FoundTrace, core.TraceClass]]] = {}
    damaged: dict[Path, DamagedFile] = {}
    unusable: list[DamagedFile] = []
    for trace in found:
        try:
            parsed, damage = read_metadata(trace.directory)
        except TraceFormatError as error:
            unusable.append(_unusable(trace.directory / METADATA, error))
            continue
        if damage is not None:
            damaged[trace.directory] = damage
        key = trace.directory if parsed.identity is None else parsed.identity
        groups.setdefault(key, []).append((trace, parsed))
    if unusable and not groups:
        raise unusable[0].error
    opened = [_open_group(group) for group in groups.values()]
    for logical in opened:
        metadata = (damaged.get(directory) for directory in logical.directories)
        logical.damaged[:0] = [file for file in metadata if file is not None]
    return opened, unusable


def _unusable(path: Path, error: TraceFormatError) -> DamagedFile:
    """Return metadata that cannot be used as damage, which says so by its kind."""
    damage = Damage(str(path), error.offset, None, "metadata-unusable", error.message)
    known = TraceFormatError.of_damage(damage)
    known.contexts = error.contexts
    return DamagedFile(path, known)


def read_metadata(
    directory: Path,
) -> tuple[core.TraceClass, DamagedFile | None]:
    """Parse the metadata of a trace directory, as far as it can be used.

    Args:
        directory: The trace directory.

    Returns:
        The parsed metadata, and what is wrong with them.

    Raises:
        TraceFormatError: They cannot be read, or no data stream can be read with them.
    """
    path = directory / METADATA
    content = _metadata_content(path)
    parsed, facts = core.TraceClass.parse_partial(content)
    if facts is None and parsed is not None:
        return parsed, None
    message, offset, start = facts or ("nothing is declared", None, None)
    if parsed is None:
        with error_context("reading the metadata"):
            raise TraceFormatError(message, path=path, offset=offset)
    damage = Damage(
        str(path), start, len(content), "metadata-cut", message, lost_records=None
    )
    return parsed, DamagedFile(path, TraceFormatError.of_damage(damage))


def _metadata_content(path: Path) -> bytes:
    _check_name(path)
    try:
        if path.stat().st_size > LARGEST_METADATA:
            raise TraceFormatError(
                f"the metadata has more than {LARGEST_METADATA >> 20} MiB", path=path
            )
        return path.read_bytes()
    except OSError as error:
        raise TraceFormatError(
            f"cannot read the metadata: {error.strerror}", path=path
        ) from error


def usable_metadata(path: Path) -> bytes:
    """Return the metadata of a trace, as far as it can be used.

    Args:
        path: The metadata file.

    Returns:
        The whole file when all of it can be used, else the text up to where it cannot.
    """
    content = _metadata_content(path)
    return core.TraceClass.usable_metadata(content) or content


def _open_group(group: Sequence[tuple[FoundTrace, core.TraceClass]]) -> LogicalTrace:
    group = sorted(group, key=lambda part: str(part[0].directory))
    trace_class = max(group, key=lambda part: part[1].class_count)[1]
    single = group[0][0].relative_name if len(group) == 1 else None
    trace = LogicalTrace(
        [part[0].directory for part in group], trace_class, single or None, [], []
    )
    for directory in trace.directories:
        names = data_file_names(directory)
        for name in names:
            _add_file(trace, directory, name)
        for name in indexed_names(directory):
            if name not in names:
                _add_missing(trace, directory / name)
    for stream in trace.streams:
        stream.files.sort(
            key=lambda file: -1 if file.beginning is None else file.beginning
        )
    trace.streams.sort(key=lambda stream: stream.name)
    return trace


def _add_file(trace: LogicalTrace, directory: Path, name: str) -> None:
    path = directory / name
    index = _read_index(directory, name)
    try:
        _check_name(path)
        _check_regular(path)
        opened = core.DataFile.open(trace.trace_class, str(path), index=index)
    except TraceFormatError as error:
        trace.damaged.append(DamagedFile(path, error))
        return
    identity = None if opened.beginning is None else opened.stream_instance
    stream = _matching_stream(trace, opened.stream_class, identity)
    stream.files.append(opened)


def _add_missing(trace: LogicalTrace, path: Path) -> None:
    error = TraceFormatError(
        "no data stream file with anything in it, although its index lists packets",
        path=path,
    )
    trace.damaged.append(DamagedFile(path, error))


def _check_name(path: Path) -> None:
    """Refuse a path that the core cannot be told: it takes names as text."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise TraceFormatError(
            "cannot open: the path is no UTF-8 text", path=path
        ) from error


def _check_regular(path: Path) -> None:
    """Refuse what is no file: a pipe might never end, a device might do anything."""
    if not path.is_file() and path.exists():
        raise TraceFormatError(
            "not a regular file; expected a data stream file", path=path
        )


def _matching_stream(
    trace: LogicalTrace, stream_class: int, identity: int | None
) -> StreamFiles:
    for stream in trace.streams:
        same = stream.stream_class == stream_class and stream.id == identity
        if identity is not None and same:
            return stream
    stream = StreamFiles(stream_class, identity, [])
    trace.streams.append(stream)
    return stream


def _read_index(directory: Path, name: str) -> bytes | None:
    """Return LTTng's index of a data stream file; without one, headers are read."""
    path = directory / "index" / f"{name}.idx"
    try:
        # Anything but a regular file might never end, and an index only saves time.
        if not path.is_file() or path.stat().st_size > LARGEST_INDEX:
            return None
        return path.read_bytes()
    except OSError:
        return None
