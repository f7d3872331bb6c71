"""What a recording holds, for the lines at its end."""

from __future__ import annotations

from collections.abc import Iterator
from errno import ENOENT
from pathlib import Path

from ..._typing import NamedTuple
from ...core import DataFile, DataStream, EventCounter, Muxer, TraceClass, Verifier
from ...ctf.pid_namespaces import pid_namespace
from ...errors import VestigeError
from .._agreement import COMPACT_HEADER_SIZE, EVENTS
from ..backends.in_process.packets import is_stream_file
from ..rules.contexts import context_classes
from ..rules.events import ALWAYS_RECORDED, FAST, VERBOSE
from ..rules.options import RecordingOptions
from .python_holes import read_missing

__all__ = ["Contents", "read_contents", "size_of"]

SMALL = 4 << 20
"""Bytes up to which event records are counted by name."""
ENOUGH = 100_000
"""Event records that tell what kinds a larger recording has."""
LARGE = 512 << 20
"""Bytes above which counting would take longer than a second."""
_SIZES = {name: size or 0 for name, _, size, _ in EVENTS}
ENTRY_SIZES = {
    "fast": _SIZES[f"{FAST}:func_entry"],
    "verbose": _SIZES[f"{VERBOSE}:func_entry"],
}
EXIT_SIZES = {
    "fast": _SIZES[f"{FAST}:func_exit"],
    "verbose": _SIZES[f"{VERBOSE}:func_exit"],
}
PYTHON_SIZE = _SIZES["vestige_python:func_entry"]
"""Of the entry and of the exit of a Python function."""


class Contents(NamedTuple):
    """What a recording holds."""

    events: int | None = None
    """Event records; ``None`` when they cannot be counted."""

    is_estimated: bool = False
    """Whether ``events`` is worked out from the size."""

    has_calls: bool = True
    """Whether there are entries or exits of functions."""

    has_chosen: bool = True
    """Whether there are events besides the state dump and those of loaded objects."""

    objects: tuple[str, ...] = ()
    """Paths of the objects that were loaded, of small recordings."""

    missing: tuple[str, ...] = ()
    """What of Python programs was not recorded, and why: sentences."""


def read_contents(directory: Path, options: RecordingOptions) -> Contents:
    """Count the events of a recording.

    Args:
        directory: The trace, which may be incomplete.
        options: What was recorded.

    Returns:
        What is known; less where the trace cannot be read.
    """
    paths = sorted(path for path in directory.iterdir() if is_stream_file(path))
    size = sum(map(size_of, paths))
    if not paths:
        return Contents(events=0, has_calls=False, has_chosen=False)
    try:
        text = _read_metadata(directory / "metadata")
        trace = TraceClass.parse(text)
        streams = [_open(trace, path) for path in paths]
        if options.python_functions is not None and size <= LARGE:
            missing = read_missing(
                streams, text, has_builtins=options.python_functions == "all"
            )
        else:
            missing = ()
        if size <= SMALL:
            return _count_by_name(streams)._replace(missing=missing)
        names = _first_names(streams)
        # Where they were asked for, they may begin later.
        is_asked_for = options.functions or options.include or options.exclude
        has_calls = bool(is_asked_for) or any(map(_is_call, names))
        if size <= LARGE:
            return _count(streams)._replace(has_calls=has_calls, missing=missing)
        if all(_is_call(name) or name in ALWAYS_RECORDED for name in names):
            return Contents(events=_estimate(size, options), is_estimated=True)
        return Contents(has_calls=has_calls)
    except (VestigeError, OSError):
        # The trace is there all the same: whoever reads it will learn what is wrong.
        return Contents()


def _read_metadata(path: Path) -> bytes:
    # A program may have put a pipe there, which would keep us waiting.
    if path.is_symlink() or not path.is_file():
        raise FileNotFoundError(ENOENT, "no regular file", path)
    return path.read_bytes()


def size_of(path: Path) -> int:
    """Return the size of a file.

    Args:
        path: Its path.

    Returns:
        Its bytes; none when a process that goes on recording has taken it away.
    """
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _open(trace: TraceClass, path: Path) -> DataStream:
    file = DataFile.open(trace, str(path))
    return DataStream(
        trace,
        [file],
        trace_name="",
        trace_index=0,
        process_space=pid_namespace(trace, file.stream_instance),
    )


def _count(streams: list[DataStream]) -> Contents:
    verifier = Verifier(streams)
    while verifier.step():
        pass  # Ctrl-C is noticed between two steps.
    return Contents(events=verifier.records)


def _is_call(name: str) -> bool:
    return ":func_" in name or name.startswith("vestige_python:coroutine_")


def _first_names(streams: list[DataStream]) -> set[str]:
    """Return the names of the first event records, which are as the others are."""
    counter = EventCounter()
    for merge in Muxer([(stream, None, None, None) for stream in streams]):
        counter.add(merge)
        counts = counter.counts
        if sum(counts.values()) >= ENOUGH:
            break
    return {name or "" for name in counter.counts}


def _count_by_name(streams: list[DataStream]) -> Contents:
    counter = EventCounter()
    loaded: list[str] = []
    for merge in Muxer([(stream, None, None, None) for stream in streams]):
        counter.add(merge)
        if len(loaded) < SMALL // 1024:
            loaded += (
                event["path"]
                for event in merge.events()
                if event.name in {"lttng_ust_statedump:bin_info", "lttng_ust_lib:load"}
            )
    counts = counter.counts
    has_calls = any(_is_call(name or "") for name in counts)
    return Contents(
        events=sum(counts.values()),
        has_calls=has_calls,
        has_chosen=not counts.keys() <= set(ALWAYS_RECORDED),
        objects=tuple(dict.fromkeys(loaded)),
    )


def _estimate(size: int, options: RecordingOptions) -> int:
    """Divide the size by that of a record: it has calls alone."""
    chosen = options.selection()
    contexts = context_classes(options.contexts)
    start = COMPACT_HEADER_SIZE + sum(one.size for one in contexts)
    sizes = list(_payloads(chosen.entries, chosen.exits))
    if options.python_functions is not None:
        sizes = [PYTHON_SIZE]
    return round(size / (start + sum(sizes) / max(len(sizes), 1)))


def _payloads(entries: str, exits: str) -> Iterator[int]:
    if entries != "off":
        yield ENTRY_SIZES[entries]
    if exits != "off":
        yield EXIT_SIZES[exits]
