"""The lines at the end of a recording."""

from __future__ import annotations

import os

from ..._signals import signals
from ..._typing import TYPE_CHECKING
from ...record.recorder import Recording
from ...record.summary.contents import Contents, read_contents, size_of
from ...record.summary.lttng_library import why_without_lttng
from ...record.trace_directory import PRESENT, PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ...record.collected import Collected, KernelCollected

__all__ = [
    "copy_lines",
    "has_kernel_report",
    "kernel_counts",
    "kernel_lines",
    "overwritten_lines",
    "quoted",
    "recording_lines",
]

_FAILURES = tuple(
    128 + number
    for number in (
        signals.SIGABRT,
        signals.SIGBUS,
        signals.SIGFPE,
        signals.SIGILL,
        signals.SIGKILL,
        signals.SIGSEGV,
        signals.SIGSYS,
        signals.SIGTRAP,
        signals.SIGXCPU,
        signals.SIGXFSZ,
    )
)
"""Exit statuses of programs that failed: of the signals that ended them."""
_REPORTED = ("sched", "syscall", "irq", "softirq", "all")
"""How words of ``--kernel`` begin of which ``vestige report --kernel`` has tables."""
MANY_THREADS = 1000
"""With fewer, no limit of the system is near."""
FILTERED = (
    "a filter for system calls ended the program, perhaps at one of the tracer: that "
    "makes none after a filter that prctl() or syscall() of the C library installs, "
    "and notices no other"
)
PYTHON_NOTE = (
    "a Python program: its functions were recorded; --functions=off leaves them out"
)


def recording_lines(
    recording: Recording,
    *,
    is_python_by_default: bool = False,
    said: Collection[str] = (),
) -> Iterator[str]:
    """Say what was recorded, what was lost and why, and what to type next.

    Args:
        recording: A recording that has ended.
        is_python_by_default: Whether the functions of a Python program were wanted
            without anybody asking for them.
        said: Problems that were told before the program began.

    Yields:
        Lines for people.
    """
    whole = os.fspath(recording)
    directory = _directory(recording)
    contents = read_contents(directory, recording.options)
    size = sum(size_of(os.path.join(directory, name)) for name in os.listdir(directory))
    held = f"{_count(size, 'byte')}, "
    held += _count(recording.collected.streams, "data stream")
    seconds = f"{recording.seconds:.3f} s"
    if recording.collected.archives:
        # The others may be gone by now, and are as large as one likes.
        begin = f"recorded in parts for {seconds}, the last has {_events(contents)}"
    else:
        begin = f"recorded {_events(contents)} in {seconds}"
    yield f"vestige: {begin}, {held}; {_lost(recording)}"
    yield from (f"vestige: {line}" for line in kernel_lines(recording.collected))
    yield from (f"vestige: {line}" for line in _patched(recording))
    yield from (f"vestige: {line}" for line in _losses(recording, contents, size))
    yield from (
        f"vestige: warning: {problem}"
        for problem in recording.collected.problems
        if problem not in said
    )
    yield from (f"vestige: {line}" for line in _what_goes_on(recording))
    if recording.status in _FAILURES:
        # A shell says so of programs that it starts itself.
        failure = _signal_name(recording.status - 128)
        yield f"vestige: exit status {recording.status}, as of {failure}"
    if recording.status == 128 + signals.SIGSYS:
        yield f"vestige: {FILTERED}"
    yield from (f"vestige: {line}" for line in copy_lines(recording))
    yield from (f"vestige: {line}" for line in contents.missing)
    yield from (f"vestige: {line}" for line in _what_is_missing(recording, contents))
    if contents.events == 0 and not _has_more(recording):
        return
    trace = quoted(whole)
    yield f"vestige: trace in {trace}"
    if contents.has_calls:
        yield f"vestige: vestige report {trace}"
    if has_kernel_report(recording):
        yield f"vestige: vestige report --kernel {trace}"
    yield f"vestige: vestige view {trace}"
    if contents.has_calls and is_python_by_default:
        yield f"vestige: {PYTHON_NOTE}"


def _directory(recording: Recording) -> str:
    """Return where the trace of programs is."""
    whole = os.fspath(recording)
    if recording.options.is_rotated:
        whole = os.path.join(whole, PRESENT)
    return (
        os.path.join(whole, PROGRAMS) if recording.options.is_kernel_recorded else whole
    )


def has_kernel_report(recording: Recording) -> bool:
    """Tell whether events of the kernel were asked for that its report counts.

    Args:
        recording: A recording that has ended.
    """
    return recording.collected.kernel is not None and any(
        word.startswith(_REPORTED) for word in recording.options.kernel
    )


def _has_more(recording: Recording) -> bool:
    """Tell whether there is more than the trace of programs."""
    collected = recording.collected
    return bool(collected.archives) or collected.kernel is not None


def kernel_lines(collected: Collected) -> Iterator[str]:
    """Say what is there of the kernel.

    Args:
        collected: What a recording holds.

    Yields:
        Lines for people; none if the kernel was not recorded.
    """
    kernel = collected.kernel
    if kernel is not None:
        yield f"of the kernel {kernel_counts(kernel)}"
        yield from overwritten_lines(kernel)


def overwritten_lines(kernel: KernelCollected) -> Iterator[str]:
    """Say how much of the kernel's events made room for newer ones.

    Args:
        kernel: What a recording holds of it.

    Yields:
        A line, if any did.
    """
    if kernel.overwritten:
        yield (
            f"of the kernel, {_count(kernel.overwritten, 'older event')} were "
            "overwritten: a larger --buffer-size, or --max-size, keeps more"
        )


def copy_lines(recording: Recording) -> Iterator[str]:
    """Say which archives and snapshots there are.

    Args:
        recording: A recording that has ended.

    Yields:
        Lines for people.
    """
    if archives := recording.collected.archives:
        folder = os.path.dirname(archives[0])
        what = "archive" if len(archives) == 1 else "archives"
        yield f"{len(archives)} {what} in {quoted(folder)}"
    for place in recording.collected.snapshots:
        yield f"snapshot in {quoted(place)}"


def kernel_counts(kernel: KernelCollected) -> str:
    """Say how much there is of the kernel.

    Args:
        kernel: What a recording holds of it.
    """
    return (
        f"{_count(kernel.records, 'event')}, {_count(kernel.bytes, 'byte')}; "
        f"{_lost_events(kernel.lost)}"
    )


def _patched(recording: Recording) -> Iterator[str]:
    """Say how many functions without hooks are recorded."""
    collected = recording.collected
    if recording.options.patch is None or not (
        collected.patched or collected.unpatched
    ):
        return
    what = "patched"
    if recording.options.include or recording.options.exclude:
        # Only programs know the names of what they load.
        what = (
            "planned; those that --include-function and --exclude-function leave are "
            "patched"
        )
    text = f"{_count(collected.patched, 'function')} {what}"
    if collected.unpatched:
        text += f", {collected.unpatched:,} cannot be ('vestige list --functions')"
    yield text


def _lost(recording: Recording) -> str:
    lost = recording.collected.lost
    if recording.collected.is_damaged:
        return (
            f"at least {_count(lost, 'event')} lost" if lost else "events may be lost"
        )
    return _lost_events(lost)


def _lost_events(lost: int) -> str:
    return f"{_count(lost, 'event')} lost" if lost else "no events lost"


def _losses(recording: Recording, contents: Contents, size: int) -> Iterator[str]:
    """Say what is not in the trace for lack of room."""
    overwritten = recording.collected.overwritten
    threads = recording.collected.most_threads
    if not (overwritten or recording.collected.lost or threads >= MANY_THREADS):
        return
    # Few recordings come here; the others do not wait for it.
    from .lost_events import larger_size, mappings_line, remedy, size_of_all

    if overwritten:
        yield (
            f"{_count(overwritten, 'byte')} of older events were overwritten: "
            f"{larger_size(recording)} keeps more"
        )
    if recording.collected.lost:
        yield remedy(recording, size_of_all(recording, contents.events, size))
    if threads >= MANY_THREADS and (line := mappings_line(threads)) is not None:
        yield line


def _what_is_missing(recording: Recording, contents: Contents) -> Iterator[str]:
    """Say what was wanted and is not there, and why."""
    without_lttng = why_without_lttng(recording.options, contents)
    if without_lttng is not None:
        yield without_lttng
    # Otherwise it is in what was started and is not recorded: that was named.
    if not (contents.events and recording.collected.unreached):
        yield from _why_it_is_missing(recording, contents)
    yield from _unmatched_functions(recording, contents)


def _why_it_is_missing(recording: Recording, contents: Contents) -> Iterator[str]:
    """Say why there are no calls, or no events that rules were to take."""
    failure = recording.collected.failure
    if recording.collected.is_elsewhere:
        # What is at its path tells nothing of what was recorded.
        return
    if contents.events == 0 and (failure or recording.collected.lost):
        # It is no fault of the tracer. Where events were lost, the reason was told.
        if failure and not recording.collected.lost:
            yield f"nothing was written: {failure[1]}"
        return
    reason = None
    # As with losses.
    if not contents.has_calls:
        from ...record.summary.diagnosis import why_without_calls

        reason = why_without_calls(recording.command, recording.options, contents)
    if reason is not None:
        yield reason
    elif contents.events and recording.options.events:
        from ...record.summary.unmatched import unmatched_rules

        yield from unmatched_rules(recording)


def _signal_name(number: int) -> str:
    # Its import takes time, and most programs do not fail.
    from signal import Signals

    return Signals(number).name


def quoted(path: str) -> str:
    """Return a path as a shell takes it.

    Args:
        path: The path.
    """
    if (
        path.isascii()
        and path.replace("/", "")
        .replace("-", "")
        .replace(".", "")
        .replace("_", "")
        .isalnum()
    ):
        return path
    from shlex import quote

    return quote(path)


def _unmatched_functions(recording: Recording, contents: Contents) -> Iterable[str]:
    options = recording.options
    if not (options.include or options.exclude):
        return ()
    # It reads the symbols of programs, with what reports are made of.
    from ..unmatched_functions import unmatched_functions

    return unmatched_functions(recording.command, options, contents)


def _events(contents: Contents) -> str:
    if contents.events is None:
        return "events (not counted)"
    text = _count(contents.events, "event")
    return f"about {text}" if contents.is_estimated else text


def _count(number: int, what: str, several: str | None = None) -> str:
    return f"{number:,} {what if number == 1 else several or what + 's'}"


def _what_goes_on(recording: Recording) -> Iterator[str]:
    """Say what is not yet in the trace, or never will be."""
    collected = recording.collected
    if collected.running:
        number = len(collected.running)
        without = ", the kernel no longer" if collected.kernel is not None else ""
        yield (
            f"{_count(number, 'process', 'processes')} still recorded{without}; the "
            "trace can be read meanwhile"
        )
    elif not collected.is_drained:
        yield (
            "not all could be written, and the rest is kept in memory: make room, then "
            f"'vestige record --recover {quoted(os.fspath(recording))}'"
        )
    if collected.unreached or collected.more_unreached:
        # Few recordings have any.
        from ...record.collected import WITHOUT_MEMORY
        from .unreached import unreached_lines

        yield from unreached_lines(collected.unreached, collected.more_unreached)
        if not recording.options.inherit_socket and any(
            one.reason == WITHOUT_MEMORY for one in collected.unreached
        ):
            yield "--inherit-socket leads programs in containers to the memory"
