"""Which sources the paths of a command line are read with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import NotATraceError
from .conversion import path_source

if TYPE_CHECKING:
    from .component_words import ComponentWords, PathWords

__all__ = ["source_of_each_trace"]

METADATA = "metadata"
"""Name of the file that makes a directory a trace."""


def source_of_each_trace(paths: Sequence[PathWords]) -> list[ComponentWords]:
    """Return a source for each trace that is found, in the order of Babeltrace 2.

    Directories with the same UUID are one trace.

    Args:
        paths: The paths.

    Raises:
        NotATraceError: A path holds no trace.
        TraceFormatError: The metadata of a trace cannot be used.
    """
    found: dict[object, list[_Input]] = {}
    for path in paths:
        directories = list(_trace_directories(path.path))
        if not directories:
            raise NotATraceError(
                "no CTF trace here or below: no directory holds a 'metadata' file",
                path=path.path,
            )
        for directory in directories:
            key = _identity(directory) or directory
            found.setdefault(key, []).append(_Input(directory, path))
    return [_source_of(inputs) for inputs in found.values()]


class _Input(NamedTuple):
    # A trace directory, and the path in which it was found.
    directory: str
    path: PathWords


def _source_of(inputs: Sequence[_Input]) -> ComponentWords:
    paths = {id(one.path): one.path for one in inputs}
    name = None
    if len(inputs) == 1:
        ((directory, path),) = inputs
        name = directory.removeprefix(path.path).lstrip("/")
    return path_source([one.directory for one in inputs], paths.values(), name)


def _trace_directories(path: str) -> Iterator[str]:
    """Walk down in the order in which the file system has it."""
    try:
        with os.scandir(path) as entries:
            names = {entry.name: entry.is_dir() for entry in entries}
    except OSError as error:
        raise NotATraceError(str(error.strerror), path=path) from None
    if METADATA in names and not names[METADATA]:
        yield path
        return
    for name, is_directory in names.items():
        if is_directory:
            yield from _trace_directories(f"{path}/{name}")


def _identity(directory: str) -> bytes | None:
    from pathlib import Path

    from ..ctf import read_metadata

    return read_metadata(Path(directory))[0].uuid
