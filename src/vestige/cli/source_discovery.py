"""Which sources the paths of a command line are read with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from .._typing import NamedTuple
from ..errors import NotATraceError
from .component_words import ComponentWords, PathWords, Value

__all__ = ["one_source", "path_source", "source_of_each_trace"]

SOURCE, LIVE_SOURCE = "source.ctf.fs", "source.ctf.lttng-live"
METADATA = "metadata"
"""Name of the file that makes a directory a trace."""


def one_source(paths: Sequence[PathWords]) -> list[ComponentWords]:
    """Return one source for all paths, which finds the traces when it is opened.

    Where paths have parameters of their own, each trace gets a source. Live sessions
    have one each.

    Args:
        paths: The paths, or URLs.

    Raises:
        NotATraceError: A path holds no trace.
    """
    return _sources(paths, _one_source)


def _one_source(paths: Sequence[PathWords]) -> list[ComponentWords]:
    first = paths[0]
    same = all(
        (one.params, one.log_level) == (first.params, first.log_level) for one in paths
    )
    if not same:
        return _source_of_each_trace(paths)
    return [path_source([path.path for path in paths], [first], None)]


def _sources(
    paths: Sequence[PathWords],
    of_traces: Callable[[Sequence[PathWords]], list[ComponentWords]],
) -> list[ComponentWords]:
    """Return the sources of live sessions, and those of all other paths among them."""
    live = [_is_live_session(path.path) for path in paths]
    if not any(live):
        return of_traces(paths)
    found = [
        path_source([path.path], [path], None, LIVE_SOURCE)
        for path, is_live in zip(paths, live, strict=True)
        if is_live
    ]
    others = [path for path, is_live in zip(paths, live, strict=True) if not is_live]
    if others:
        place = live.index(False)
        found[place:place] = of_traces(others)
    return found


def _is_live_session(text: str) -> bool:
    if not text.startswith("net"):
        return False
    from ..live import LiveUrl

    url = LiveUrl.parse(text)
    return url is not None and url.session is not None


def path_source(
    inputs: Iterable[str],
    paths: Iterable[PathWords],
    trace_name: str | None,
    class_name: str = SOURCE,
) -> ComponentWords:
    """Return a source.

    Args:
        inputs: What it reads.
        paths: The paths in which that was found.
        trace_name: The name of its traces, if it is to have one.
        class_name: Its class.
    """
    source = ComponentWords(class_name, class_name)
    for path in paths:
        for params in path.params:
            source.add_params(params)
        if path.log_level is not None:
            source.add_log_level(path.log_level)
    if trace_name:
        source.add_values(Value.of("trace-name", trace_name))
    source.add_values(Value.of("inputs", [*inputs]))
    return source


def source_of_each_trace(paths: Sequence[PathWords]) -> list[ComponentWords]:
    """Return a source for each trace that is found, in the order of Babeltrace 2.

    Directories with the same UUID are one trace. Live sessions have one each.

    Args:
        paths: The paths, or URLs.

    Raises:
        NotATraceError: A path holds no trace.
        TraceFormatError: The metadata of a trace cannot be used.
    """
    return _sources(paths, _source_of_each_trace)


def _source_of_each_trace(paths: Sequence[PathWords]) -> list[ComponentWords]:
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
