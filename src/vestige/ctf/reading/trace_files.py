"""Opening the files of traces and joining them into data streams.

The rules are those by which Babeltrace 2 joins files: trace directories with the same
UUID are parts of one trace, described by the metadata with the most classes; files with
the same stream class and the same data stream ID are parts of one data stream, in the
order of their first time stamps; a file without such an ID is a data stream of its own.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from ... import core
from ..._suppress import suppress
from ..._typing import NamedTuple
from ...damage import Damage
from ...errors import TraceFormatError, error_context
from .discovery import (
    METADATA,
    FoundTrace,
    data_file_names,
    has_data,
    indexed_names,
    lists_packets,
)

__all__ = [
    "DamagedFile",
    "LogicalTrace",
    "StreamFiles",
    "metadata_content",
    "open_traces",
    "read_metadata",
    "usable_metadata",
]

OPEN_SUFFIX = ".open"
"""How the names of files end whose packet Vestige's tracer is filling."""
OTHER_FILES = 256
"""Files that a process has open besides data streams."""
MOST_LOOKS = 3
"""How often a file is looked at that a tracer may be replacing."""
PAUSE = 0.01
"""Seconds between two of these looks."""
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
    states: dict[Path, tuple[int, int] | None] = {}
    for trace in found:
        states[trace.directory] = _state_of(trace.directory / METADATA)
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
    _allow_files(sum(len(data_file_names(directory)) for directory in states))
    opened = [_open_group(group) for group in groups.values()]
    for index, logical in enumerate(opened):
        for directory in logical.directories:
            if _state_of(directory / METADATA) != states[directory]:
                logical = _with_new_classes(logical, directory, damaged)  # noqa: PLW2901
        opened[index] = logical
        metadata = (damaged.get(directory) for directory in logical.directories)
        logical.damaged[:0] = [file for file in metadata if file is not None]
    return opened, unusable


def _state_of(path: Path) -> tuple[int, int] | None:
    """Return what changes with the contents of a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _with_new_classes(
    trace: LogicalTrace, directory: Path, damaged: dict[Path, DamagedFile]
) -> LogicalTrace:
    """Take the classes that a tracer has added while the data streams were opened."""
    try:
        parsed, damage = read_metadata(directory)
    except TraceFormatError:
        return trace
    known = trace.trace_class
    if parsed.identity != known.identity or parsed.class_count < known.class_count:
        return trace
    damaged.pop(directory, None)
    if damage is not None:
        damaged[directory] = damage
    return trace._replace(trace_class=parsed)


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
    content = metadata_content(path)
    parsed, facts = core.TraceClass.parse_partial(content)
    if facts is None and parsed is not None:
        return parsed, _damaged_recording(path, parsed)
    message, offset, start = facts or ("nothing is declared", None, None)
    if parsed is None:
        with error_context("reading the metadata"):
            raise TraceFormatError(message, path=path, offset=offset)
    damage = Damage(
        str(path), start, len(content), "metadata-cut", message, lost_records=None
    )
    return parsed, DamagedFile(path, TraceFormatError.of_damage(damage))


def _damaged_recording(path: Path, parsed: core.TraceClass) -> DamagedFile | None:
    """Return that a trace may lack events, if its recorder has written so."""
    known = parsed.environment
    if known.get("tracer_name") != "vestige" or not known.get("tracer_memory_damaged"):
        return None
    message = (
        "a recorded program damaged the memory of the recording: events may be missing "
        "that nobody has counted"
    )
    damage = Damage(str(path), None, None, "recording-damaged", message)
    return DamagedFile(path, TraceFormatError.of_damage(damage))


def metadata_content(path: Path) -> bytes:
    """Read a metadata file.

    Args:
        path: The file.

    Raises:
        TraceFormatError: It cannot be read, or is too large.
    """
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
    content = metadata_content(path)
    return core.TraceClass.usable_metadata(content) or content


def _allow_files(count: int) -> None:
    """Raise the limit of open files, as far as this process may, if it needs more.

    Where it may not, the core closes data streams and opens them again.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return
    wanted = count + OTHER_FILES
    if wanted > soft:
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit, soft), hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    core.set_most_open_files(max(soft - OTHER_FILES, soft // 2))


def _open_group(group: Sequence[tuple[FoundTrace, core.TraceClass]]) -> LogicalTrace:
    group = sorted(group, key=lambda part: str(part[0].directory))
    trace_class = max(group, key=lambda part: part[1].class_count)[1]
    single = group[0][0].relative_name if len(group) == 1 else None
    trace = LogicalTrace(
        [part[0].directory for part in group], trace_class, single or None, [], []
    )
    for directory in trace.directories:
        # Before the data files: of what is listed later, they may have nothing yet.
        listed = indexed_names(directory)
        names = data_file_names(directory)
        changing = _changing_files(trace_class, names)
        for name in changing:
            error = _add_file(trace, directory, name, changes=True)
            # Else the program has ended: the packet is in another file.
            if error is not None and (directory / name).exists():
                trace.damaged.append(DamagedFile(directory / name, error))
        if changing:
            # By now what these files had before is in others.
            found = data_file_names(directory)
            names = [name for name in found if not name.endswith(OPEN_SUFFIX)]
        gone: dict[str, TraceFormatError | None] = {
            name: None for name in listed if name not in names
        }
        for name in names:
            error = _add_file(trace, directory, name)
            if error is not None and not has_data(directory / name):
                gone[name] = error
            elif error is not None:
                trace.damaged.append(DamagedFile(directory / name, error))
        _look_again(trace, directory, gone)
    for stream in trace.streams:
        _leave_out_written(stream)
        stream.files.sort(
            key=lambda file: -1 if file.beginning is None else file.beginning
        )
    trace.streams.sort(key=lambda stream: stream.name)
    return trace


def _changing_files(trace_class: core.TraceClass, names: Sequence[str]) -> list[str]:
    """Return the files with packets that Vestige's tracer is filling."""
    if trace_class.environment.get("tracer_name") != "vestige":
        return []
    return [name for name in names if name.endswith(OPEN_SUFFIX)]


def _leave_out_written(stream: StreamFiles) -> None:
    """Leave out the packets that were being filled and have been written meanwhile.

    They are read before the other files are opened, so that nothing is missing between.
    """
    written = [
        file.last_written
        for file in stream.files
        if not file.path.endswith(OPEN_SUFFIX) and file.last_written is not None
    ]
    if not written:
        return
    last = max(number for number, _ in written)
    ends = max(end or 0 for _, end in written)
    stream.files[:] = [
        file
        for file in stream.files
        if not file.path.endswith(OPEN_SUFFIX)
        or ((file.sequence_number or 0) > last and (file.beginning or 0) >= ends)
    ]


def _look_again(
    trace: LogicalTrace,
    directory: Path,
    gone: dict[str, TraceFormatError | None],
) -> None:
    """Look once more at files that were listed, and then had nothing in them.

    A tracer that keeps few files removes the oldest one, its index first, and begins
    another one of the same name.

    Args:
        trace: Where what is found is added.
        directory: That of the files.
        gone: Their names, and why they could not be opened if that was tried.
    """
    for look in range(MOST_LOOKS):
        if not gone:
            return
        if look > 0:
            time.sleep(PAUSE)
        for name, error in list(gone.items()):
            # In this order: what an index lists is there.
            is_listed = lists_packets(directory, name)
            if has_data(directory / name):
                gone[name] = _add_file(trace, directory, name)
                if gone[name] is None:
                    del gone[name]
            elif error is None and not is_listed:
                del gone[name]
    for name, error in gone.items():
        path = directory / name
        trace.damaged.append(DamagedFile(path, error or _missing(path)))


def _add_file(
    trace: LogicalTrace, directory: Path, name: str, *, changes: bool = False
) -> TraceFormatError | None:
    """Open a data stream file, and add it to its data stream; or return why not."""
    path = directory / name
    index = _read_index(directory, name)
    try:
        _check_name(path)
        _check_regular(path)
        opened = core.DataFile.open(
            trace.trace_class, str(path), index=index, changes=changes
        )
    except TraceFormatError as error:
        return error
    identity = None if opened.beginning is None else opened.stream_instance
    stream = _matching_stream(trace, opened.stream_class, identity)
    stream.files.append(opened)
    return None


def _missing(path: Path) -> TraceFormatError:
    return TraceFormatError(
        "no data stream file with anything in it, although its index lists packets",
        path=path,
    )


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
