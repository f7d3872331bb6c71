"""Programs that are killed while they pause, which is in none of their records.

Programs of LTTng-UST share a ring. What one reserves there and does not commit ends what
can be read of a packet, and is told as a loss: tests in which nothing may be lost must
not kill a program just then.
"""

from __future__ import annotations

import platform
import signal
import subprocess
from pathlib import Path

from .session_daemon import SECONDS
from .waiting import wait_until

__all__ = ["is_in_sleep", "kill_in_pause"]

SLEEPS = {"x86_64": {35, 219, 230}, "aarch64": {101, 115, 128}}
"""The numbers of nanosleep(2), clock_nanosleep(2) and restart_syscall(2)."""


def kill_in_pause(program: subprocess.Popen[bytes]) -> None:
    """Kill a program whose first thread emits and sleeps by turns, in its sleep.

    Args:
        program: It; nobody has waited for its end.
    """

    def is_stopped_in_sleep() -> bool:
        program.send_signal(signal.SIGSTOP)
        wait_until(lambda: is_stopped(program.pid), "it stops", SECONDS)
        if is_in_sleep(program.pid):
            return True
        program.send_signal(signal.SIGCONT)
        return False

    wait_until(is_stopped_in_sleep, "it pauses", SECONDS)
    program.kill()


def is_stopped(pid: int) -> bool:
    """Tell whether the first thread of a process stands still by a signal."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "T"


def is_in_sleep(pid: int) -> bool:
    """Tell whether the first thread of a process sleeps, or did when it was stopped."""
    number = Path(f"/proc/{pid}/syscall").read_text().split()[0]
    return number.isdecimal() and int(number) in SLEEPS[platform.machine()]
