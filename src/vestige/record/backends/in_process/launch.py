"""Running a program as if nobody did: its signals, its open files, its exit status."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from .job_control import stop_with

__all__ = ["run"]

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_OF_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def run(
    command: Sequence[str],
    environment: dict[str, str],
    *,
    schedule: Iterable[tuple[float, Callable[[int], object]]] = (),
) -> int:
    """Run a program and wait for its end.

    The terminal's signals are left to the program, and those that come to this process
    are passed on. The program keeps the files that this process has inherited.

    Args:
        command: The program and its arguments.
        environment: Its environment.
        schedule: What is to be done while the program runs, and when: seconds from its
            start, ascending. It is called with the ID of the process.

    Returns:
        Its exit status; 128 and the number of the signal that ended it.

    Raises:
        OSError: It cannot be started.
    """
    process: int | None = None
    early: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        if process is None:
            early.append(number)
            return
        with suppress(ProcessLookupError):
            os.kill(process, number)

    def look_at_child(_number: int, _frame: object) -> None:
        if process is not None:
            stop_with(process)

    # Before the program starts: blocking signals would leave them to other threads.
    with (
        _handled(_PASSED_ON, pass_on),
        _handled(_OF_THE_TERMINAL, _leave),
        _handled([signal.SIGCHLD], look_at_child),
    ):
        process = os.posix_spawnp(
            command[0], list(command), environment, setsigdef=_IGNORED_BY_PYTHON
        )
        for number in early:
            pass_on(number, None)
        # It may have been stopped before we knew its ID.
        stop_with(process)
        _follow(schedule, process)
        _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _leave(_number: int, _frame: object) -> None:
    """Do nothing: it is for the program."""


@contextmanager
def _handled(
    numbers: Sequence[signal.Signals], handler: Callable[[int, object], None]
) -> Iterator[None]:
    """Handle signals, but those that are ignored: they are by the program, too.

    They are not ignored here, because the program would inherit that.
    """
    before = {}
    for number in numbers:
        if signal.getsignal(number) not in {signal.SIG_IGN, None}:
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)


def _follow(
    schedule: Iterable[tuple[float, Callable[[int], object]]], process: int
) -> None:
    """Do what is to be done while a process runs."""
    started = time.monotonic()
    try:
        handle = os.pidfd_open(process)
    except OSError:
        # Linux before 5.3, or forbidden.
        return
    try:
        ended = select.poll()
        ended.register(handle, select.POLLIN)
        for moment, do in schedule:
            rest = max(started + moment - time.monotonic(), 0)
            if ended.poll(rest * 1000):
                return
            do(process)
    finally:
        os.close(handle)
