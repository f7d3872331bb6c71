"""Running a program as if nobody did: its signals, its open files, its exit status."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

__all__ = ["run"]

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_OF_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def run(
    command: Sequence[str],
    environment: dict[str, str],
    *,
    later: Callable[[], object],
    moments: Sequence[float],
) -> int:
    """Run a program and wait for its end.

    The terminal's signals are left to the program, and those that come to this process
    are passed on. The program keeps the files that this process has inherited.

    Args:
        command: The program and its arguments.
        environment: Its environment.
        later: What is to be done now and then while the program runs.
        moments: When: seconds from its start, ascending.

    Returns:
        Its exit status; 128 and the number of the signal that ended it.

    Raises:
        OSError: It cannot be started.
    """
    signals = {*_PASSED_ON, *_OF_THE_TERMINAL}
    # None may come while it is not settled who takes them.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        process = os.posix_spawnp(
            command[0],
            list(command),
            environment,
            setsigmask=mask,
            setsigdef=_IGNORED_BY_PYTHON,
        )
        before = _pass_on(process)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    try:
        _at(moments, process, later)
        _, status = os.waitpid(process, 0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _pass_on(process: int) -> dict[signal.Signals, signal._HANDLER]:
    """Let the process have our signals; return who had them before."""

    def pass_on(number: int, _frame: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(process, number)

    before = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    for number in _OF_THE_TERMINAL:
        before[number] = signal.signal(number, signal.SIG_IGN)
    return before


def _at(moments: Sequence[float], process: int, later: Callable[[], object]) -> None:
    """Call a function at some moments while a process runs."""
    started = time.monotonic()
    try:
        handle = os.pidfd_open(process)
    except OSError:
        # Linux before 5.3, or forbidden.
        return
    try:
        ended = select.poll()
        ended.register(handle, select.POLLIN)
        for moment in moments:
            rest = max(started + moment - time.monotonic(), 0)
            if ended.poll(rest * 1000):
                return
            later()
    finally:
        os.close(handle)
