"""A program that is stopped is a stopped job of its shell, as without the recorder."""

from __future__ import annotations

import os
import time

from ...._signals import signals
from ...._suppress import suppress
from ...process_stat import stat_words

__all__ = ["stop_with"]

SETTLING = 0.02
"""Seconds until the terminal has stopped, or the shell continued, all of a job."""
TIMES_SEEN = 2
"""How often a process must be seen stopped, such a time after another."""


def stop_with(process: int) -> None:
    """Stop, as a child process was stopped: the shell sees its job stopped.

    Without a shell that controls jobs nobody would continue us, so nothing is done
    then.

    Args:
        process: The child.
    """
    if not _stays_stopped(process) or not _is_foreground_job():
        return
    os.kill(os.getpid(), signals.SIGSTOP)
    with suppress(ProcessLookupError):
        # The shell continues its job: all of a process group.
        if os.getpgid(process) != os.getpgrp():
            os.kill(process, signals.SIGCONT)


def _stays_stopped(process: int) -> bool:
    """Tell whether a process is stopped while we are not.

    With Ctrl-Z the terminal stops us, too: when the shell continues us, the process may
    still seem to be stopped, as one follows the other. A sleep that took long was such
    a pause, and what was seen before it counts no more.
    """
    seen = 0
    while seen < TIMES_SEEN:
        before = time.monotonic()
        time.sleep(SETTLING)
        if not _is_stopped(process):
            return False
        seen = seen + 1 if time.monotonic() - before < 2 * SETTLING else 0
    return True


def _is_stopped(process: int) -> bool:
    return stat_words(process)[:1] == ["T"]


def _is_foreground_job() -> bool:
    """Tell whether we are the job that a terminal waits for, and not its shell."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        group = os.tcgetpgrp(terminal)
    except OSError:
        return False
    finally:
        os.close(terminal)
    return group == os.getpgrp() != os.getsid(0)
