"""What a recording holds, for the lines at its end."""

from __future__ import annotations

import os
from errno import ENOENT

from ..._typing import TYPE_CHECKING, NamedTuple
from ...core import DataFile, DataStream, EventCounter, Muxer, TraceClass, Verifier
from ...errors import VestigeError
from .._agreement import COMPACT_HEADER_SIZE, EVENTS, METADATA_FILE
from ..backends.in_process.stream_files import is_stream_file
from ..rules.contexts import context_classes
from ..rules.events import ALWAYS_RECORDED, FAST, VERBOSE
from ..rules.options import RecordingOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Contents", "read_contents", "size_of"]

SMALL = 4 << 20
"""Bytes up to which event records are counted by name."""
LOADS = ("lttng_ust_statedump:bin_info", "lttng_ust_lib:load")
"""Events that tell which object was loaded."""
MOST_OBJECTS = 4096
"""Of these events, as many are looked at."""
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


def read_contents(directory: str, options: RecordingOptions) -> Contents:
    """Count the events of a recording.

    Args:
        directory: The trace, which may be incomplete.
        options: What was recorded.

    Returns:
        What is known; less where the trace cannot be read.
    """
    found = sorted(filter(is_stream_file, os.listdir(directory)))
    paths = [os.path.join(directory, name) for name in found]
    size = sum(map(size_of, paths))
    if not paths:
        return Contents(events=0, has_calls=False, has_chosen=False)
    try:
        text = _read_metadata(os.path.join(directory, METADATA_FILE))
        trace = TraceClass.parse(text)
        # Only to tell Python programs apart does it matter whose process IDs they are.
        is_python = options.python_functions is not None
        streams = [_open(trace, path, has_space=is_python) for path in paths]
        if is_python and size <= LARGE:
            # Most programs are not Python's.
            from .python_holes import read_missing  # noqa: PLC0415 - see above

            missing = read_missing(
                streams, text, has_builtins=options.python_functions == "all"
            )
        else:
            missing = ()
        if size <= SMALL:
            return _count_by_name(trace, streams)._replace(missing=missing)
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


def _read_metadata(path: str) -> bytes:
    # A program may have put a pipe there, which would keep us waiting.
    if os.path.islink(path) or not os.path.isfile(path):
        raise FileNotFoundError(ENOENT, "no regular file", path)
    with open(path, "rb") as file:
        return file.read()


def size_of(path: str | os.PathLike[str]) -> int:
    """Return the size of a file.

    Args:
        path: Its path.

    Returns:
        Its bytes; none when a process that goes on recording has taken it away.
    """
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _open(trace: TraceClass, path: str, *, has_space: bool) -> DataStream:
    file = DataFile.open(trace, path)
    space = 0
    if has_space:
        # As above.
        from ...ctf import pid_namespace  # noqa: PLC0415 - see above

        space = pid_namespace(trace, file.stream_instance)
    return DataStream(
        trace,
        [file],
        trace_name="",
        trace_index=0,
        process_space=space,
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
    for merge in _merges(streams):
        counter.add(merge)
        counts = counter.counts
        if sum(counts.values()) >= ENOUGH:
            break
    return {name or "" for name in counter.counts}


def _count_by_name(trace: TraceClass, streams: list[DataStream]) -> Contents:
    counter = EventCounter()
    for merge in _merges(streams):
        counter.add(merge)
    counts = counter.counts
    return Contents(
        events=sum(counts.values()),
        has_calls=any(_is_call(name or "") for name in counts),
        has_chosen=not counts.keys() <= set(ALWAYS_RECORDED),
        objects=tuple(dict.fromkeys(_loaded(trace, streams))),
    )


def _loaded(trace: TraceClass, streams: list[DataStream]) -> Iterator[str]:
    """Return the paths of objects, as event records tell of them."""
    # Recordings have one class of data streams.
    classes = [one["events"] for one in trace.describe()["streams"][:1]]
    wanted = [event["name"] in LOADS for events in classes for event in events]
    number = 0
    for merge in Muxer([(stream, None, wanted, None) for stream in streams]):
        for event in merge.events():
            yield event["path"]
            number += 1
            if number == MOST_OBJECTS:
                return


def _merges(streams: list[DataStream]) -> Muxer:
    return Muxer([(stream, None, None, None) for stream in streams])


def _estimate(size: int, options: RecordingOptions) -> int:
    """Divide the size by that of a record: it has calls alone."""
    chosen = options.library_selection()
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
