"""The thread that starts a program leaves signals of it to who waits for its end."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from vestige.record.backends.kernel.starter import Starter

MINE = 1 << (signal.SIGCHLD - 1)


def blocked(status: Path) -> int:
    """Return the signals that a thread does not take."""
    return int(status.read_text().split("SigBlk:")[1].split()[0], 16)


def test_a_stop_of_the_program_wakes_who_waits():
    """The kernel would tell the thread, which waits for nothing of it."""
    threads: list[int] = []
    starter = Starter(threads.append)
    words = ["sleep", "300"]
    process = starter.start(lambda: os.posix_spawnp(words[0], words, dict(os.environ)))
    try:
        [thread] = threads
        assert thread != os.getpid()
        assert blocked(Path(f"/proc/self/task/{thread}/status")) & MINE
        # It is not inherited.
        assert not blocked(Path(f"/proc/{process}/status")) & MINE
    finally:
        starter.end()
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def test_a_program_that_cannot_be_started_is_no_process():
    """The error is raised where it was asked for."""
    starter = Starter(lambda _: None)
    with pytest.raises(FileNotFoundError):
        starter.start(lambda: os.posix_spawnp("/nowhere", ["x"], {}))
    starter.end()
