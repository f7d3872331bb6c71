"""A session daemon that kills itself at a step of a rotation.

It is run as a module: the first word of its command line is the step, the others are
those of the daemon.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vestige.cli import sessiond
from vestige.daemon import server
from vestige.record.backends.lttng_ust import trace_files
from vestige.record.backends.lttng_ust.buffers import TraceBuffers
from vestige.record.backends.lttng_ust.programs import Programs
from vestige.record.backends.registered.trace import ProgramTrace

from .session_daemon import SECONDS
from .waiting import wait_until

__all__ = ["COMPLETED", "GATE", "REACHED", "STEPS"]

COMPLETED = "completed"
"""The step of the next daemon when it has completed the rotation: no program is there
yet."""
GATE = "KILLED_BEHIND"
"""Of the environment: a file for which the daemon waits before it kills itself."""
REACHED = ".reached"
"""What is appended to its name when it waits."""

STEPS: dict[str, tuple[Any, str, int]] = {
    "moved": (ProgramTrace, "cut", 1),
    "one own trace": (ProgramTrace, "cut", 2),
    "own traces": (TraceBuffers, "begin_chunk", 1),
    "empty metadata": (trace_files, "write_all", 1),
    "some metadata": (trace_files, "write_all", 2),
    "all but dumps": (Programs, "_describe", 1),
}
"""What is not done any more: of what, its name, and which call of it in a rotation."""


def _kill_at(step: str) -> None:
    owner, name, number = STEPS[step]
    is_rotating = False
    calls = 0
    begin, function = Programs.end_chunk, getattr(owner, name)
    begin_chunk = Programs.begin_chunk

    def note_begin(self: Programs, session: str) -> None:
        nonlocal is_rotating
        begin(self, session)
        is_rotating = owner is not trace_files

    def note_chunk(self: Programs, session: str) -> None:
        nonlocal is_rotating
        is_rotating = True
        begin_chunk(self, session)

    def count(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += is_rotating
        if calls == number:
            _wait_at_gate()
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **options)

    def replace(place: Any, what: str, new: Callable[..., Any]) -> None:
        setattr(place, what, new)

    replace(Programs, "end_chunk", note_begin)
    replace(Programs, "begin_chunk", note_chunk)
    replace(owner, name, count)


def _wait_at_gate() -> None:
    gate = os.environ.get(GATE)
    if gate is not None:
        Path(gate + REACHED).touch()
        wait_until(Path(gate).exists, "the gate opens", SECONDS)


def _kill_when_completed() -> None:
    def end(_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    vars(server)["remove_unfinished"] = end


if __name__ == "__main__":
    if sys.argv[1] == COMPLETED:
        _kill_when_completed()
    else:
        _kill_at(sys.argv[1])
    sys.exit(sessiond.main(sys.argv[2:]))
