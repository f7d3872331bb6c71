"""The lines at the end of a recording."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterable, Iterator

from ...record.recorder import Recording
from ...record.summary.contents import Contents, read_contents, size_of
from ...record.summary.diagnosis import why_without_calls, why_without_lttng
from ...record.summary.unmatched import unmatched_rules
from .lost_events import larger_size, remedy

__all__ = ["recording_lines"]

_FAILURES = {
    128 + number: number.name
    for number in (
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGKILL,
        signal.SIGSEGV,
        signal.SIGSYS,
        signal.SIGTRAP,
        signal.SIGXCPU,
        signal.SIGXFSZ,
    )
}
"""Exit statuses of programs that failed, and the signals that ended them."""
MOST_UNREACHED = 10
"""Processes that are named."""
PYTHON_NOTE = (
    "a Python program: its functions were recorded; --functions=off leaves them out"
)


def recording_lines(
    recording: Recording, *, is_python_by_default: bool = False
) -> Iterator[str]:
    """Say what was recorded, what was lost and why, and what to type next.

    Args:
        recording: A recording that has ended.
        is_python_by_default: Whether the functions of a Python program were wanted
            without anybody asking for them.

    Yields:
        Lines for people.
    """
    contents = read_contents(recording.directory, recording.options)
    lost = recording.collected.lost
    size = sum(map(size_of, recording.directory.iterdir()))
    streams = _count(recording.collected.streams, "data stream")
    yield (
        f"vestige: recorded {_events(contents)} in {recording.seconds:.3f} s, "
        f"{_count(size, 'byte')}, {streams}; "
        + (f"{_count(lost, 'event')} lost" if lost else "no events lost")
    )
    if recording.collected.overwritten:
        yield (
            f"vestige: {_count(recording.collected.overwritten, 'byte')} of older "
            f"events were overwritten: {larger_size(recording)} keeps more"
        )
    if lost:
        yield f"vestige: {remedy(recording)}"
    yield from (
        f"vestige: warning: {problem}" for problem in recording.collected.problems
    )
    yield from (f"vestige: {line}" for line in _what_goes_on(recording))
    failure = _FAILURES.get(recording.status)
    if failure:
        # A shell says so of programs that it starts itself.
        yield f"vestige: exit status {recording.status}, as of {failure}"
    yield from (f"vestige: {line}" for line in contents.missing)
    without_lttng = why_without_lttng(recording.options, contents)
    if without_lttng is not None:
        yield f"vestige: {without_lttng}"
    yield from (f"vestige: {line}" for line in _what_is_missing(recording, contents))
    yield from (
        f"vestige: {line}" for line in _unmatched_functions(recording, contents)
    )
    if contents.events == 0:
        return
    trace = shlex.quote(str(recording.directory))
    yield f"vestige: trace in {trace}"
    if contents.has_calls:
        yield f"vestige: vestige report {trace}"
    yield f"vestige: vestige view {trace}"
    if contents.has_calls and is_python_by_default:
        yield f"vestige: {PYTHON_NOTE}"


def _what_is_missing(recording: Recording, contents: Contents) -> Iterator[str]:
    """Say why there is nothing of what somebody may look for."""
    if contents.events and recording.collected.unreached:
        # It is in what was started and is not recorded: that was named.
        return
    reason = why_without_calls(recording.command, recording.options, contents)
    if reason is not None:
        yield reason
    elif contents.events:
        yield from unmatched_rules(recording)


def _unmatched_functions(recording: Recording, contents: Contents) -> Iterable[str]:
    options = recording.options
    if not (options.include or options.exclude):
        return ()
    # It reads the symbols of programs, with what reports are made of.
    from ..unmatched_functions import unmatched_functions

    return unmatched_functions(recording.command, options, contents)


def _events(contents: Contents) -> str:
    if contents.events is None:
        return "events"
    text = _count(contents.events, "event")
    return f"about {text}" if contents.is_estimated else text


def _count(number: int, what: str, several: str | None = None) -> str:
    return f"{number:,} {what if number == 1 else several or what + 's'}"


def _what_goes_on(recording: Recording) -> Iterator[str]:
    """Say what is not yet in the trace, or never will be."""
    collected = recording.collected
    if collected.running:
        number = len(collected.running)
        yield (
            f"{_count(number, 'process', 'processes')} still recorded; the trace "
            "can be read meanwhile"
        )
    elif not collected.is_drained:
        yield (
            "not all could be written, and the rest is kept in memory: make room, then "
            f"'vestige record --recover {shlex.quote(str(recording.directory))}'"
        )
    for one in collected.unreached[:MOST_UNREACHED]:
        yield f"{one.name} (PID {one.process}) is not recorded: {one.reason}"
    more = max(len(collected.unreached) - MOST_UNREACHED, 0) + collected.more_unreached
    if more:
        yield f"{_count(more, 'more process', 'more processes')} not recorded"
