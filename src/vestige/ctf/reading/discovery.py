"""Finding CTF traces below a path."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from ..._typing import NamedTuple
from ...errors import NotATraceError

__all__ = ["METADATA", "FoundTrace", "find_traces"]

METADATA = "metadata"
"""Name of the metadata file in a trace directory."""
INDEX_SUFFIX = ".idx"
"""How the names of LTTng's index files end."""
INDEX_HEADER_SIZE = 16
"""Bytes of an index file before its first packet."""
REGISTER = ".arena"
"""The file of a recording that goes on: its metadata come after it."""
KERNEL = "kernel"
"""The directory beside the trace of programs, whose metadata come before theirs."""
LONGEST_BEGINNING = 1.0
"""Seconds for which a trace is waited for that has just begun."""
PAUSE = 0.01
"""Seconds between two looks."""


class FoundTrace(NamedTuple):
    """A trace directory and how it was found."""

    directory: Path
    """The absolute directory, symbolic links kept."""
    relative_name: str
    """Its path below the one that was given; empty when it is the given one."""


def find_traces(path: str | os.PathLike[str]) -> list[FoundTrace]:
    """Find all CTF traces at or below a path.

    Args:
        path: A trace directory, or a directory above traces.

    Returns:
        The traces, in the order of their paths.

    Raises:
        NotATraceError: The path does not exist, is no directory, or holds no trace.
    """
    given = os.fspath(path)
    root = Path(os.path.normpath(Path.cwd() / given))
    if not root.exists():
        raise NotATraceError("no such file or directory", path=given)
    if not root.is_dir():
        raise NotATraceError(
            "not a directory; expected the directory of a CTF trace", path=given
        )
    found = [
        FoundTrace(directory, relative_name(root, directory))
        for directory in _begun_directories(root)
    ]
    if not found:
        raise NotATraceError(
            "no CTF trace here or below: no directory holds a 'metadata' file",
            path=given,
        )
    return found


def relative_name(root: Path, directory: Path) -> str:
    """Return the path of a found trace below the path that was given."""
    if directory == root:
        return ""
    return str(directory.relative_to(root))


def trace_directories(root: Path) -> Iterator[Path]:
    """Walk down from ``root``; below a trace no other trace is looked for."""
    return (one for one, has_metadata in _looked_at(root) if has_metadata)


def _begun_directories(root: Path) -> list[Path]:
    """Walk down, and wait for the trace of a recording that is just beginning.

    Nobody is to see that of the kernel alone, nor nothing where all comes at once. That
    of a recorder that was killed just then is never to come.
    """
    last = time.monotonic() + LONGEST_BEGINNING
    while True:
        looked_at = [*_looked_at(root)]
        found = [one for one, has_metadata in looked_at if has_metadata]
        coming = [one for one, has_metadata in looked_at if not has_metadata]
        is_complete = bool(found) and not any(
            one.with_name(KERNEL) in found for one in coming
        )
        if is_complete or not coming or time.monotonic() > last:
            return found
        time.sleep(PAUSE)


def _looked_at(root: Path) -> Iterator[tuple[Path, bool]]:
    """Yield traces, and others without metadata, of which the register is there."""
    for directory, subdirectories, files in os.walk(root, onerror=_refuse):
        path = Path(directory)
        if METADATA in files and (path / METADATA).is_file():
            subdirectories.clear()
            yield path, True
        elif REGISTER in files:
            yield path, False
        subdirectories.sort()


def _refuse(error: OSError) -> None:
    """Turn an unreadable directory into an error instead of an empty one."""
    raise NotATraceError(
        f"cannot list the directory: {error.strerror}", path=error.filename
    )


def data_file_names(directory: Path) -> Sequence[str]:
    """Return the names of the data stream files of a trace directory, sorted.

    These are all files but the metadata and hidden ones; an empty file is a data stream
    in which nothing was recorded. A pipe, socket or device is listed too, so that it is
    reported: it stands where a data stream file is expected.

    Args:
        directory: The trace.

    Raises:
        NotATraceError: It cannot be listed: a session may have moved it to an archive.
    """
    names = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name == METADATA or entry.name.startswith("."):
                    continue
                if has_data(entry):
                    names.append(entry.name)
    except OSError as error:
        _refuse(error)
    return sorted(names)


def has_data(file: os.DirEntry[str] | Path) -> bool:
    """Tell whether a file is one that :func:`data_file_names` lists, but for its name.

    Args:
        file: The file.
    """
    try:
        status = file.stat()
        return not S_ISDIR(status.st_mode) and (
            not S_ISREG(status.st_mode) or status.st_size > 0
        )
    except OSError:
        # A link to itself, or a file that was just removed.
        return False


def indexed_names(directory: Path) -> Sequence[str]:
    """Return the names of the data stream files of which an index lists packets.

    LTTng writes an index next to each file, which shows that a file was there: packets
    are written first, and removed last.
    """
    names = []
    try:
        with os.scandir(directory / "index") as entries:
            for entry in entries:
                name = entry.name.removesuffix(INDEX_SUFFIX)
                if name != entry.name and _lists_packets(entry):
                    names.append(name)
    except OSError:
        # Most traces have no index, and one that cannot be listed tells nothing.
        return ()
    return sorted(names)


def lists_packets(directory: Path, name: str) -> bool:
    """Tell whether :func:`indexed_names` would list a data stream file.

    Args:
        directory: The trace.
        name: The data stream file.
    """
    return _lists_packets(directory / "index" / f"{name}{INDEX_SUFFIX}")


def _lists_packets(entry: os.DirEntry[str] | Path) -> bool:
    try:
        status = entry.stat()
    except OSError:
        return False
    return S_ISREG(status.st_mode) and status.st_size > INDEX_HEADER_SIZE
