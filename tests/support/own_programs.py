"""Programs with Vestige's own tracer that do what they are told, for session daemons."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import vestige
from vestige.record.backends.in_process.tracer import library_path
from vestige.record.development import compile_flags, link_flags

from .compilers import PROGRAMS, run_tool
from .session_daemon import SECONDS, SessionDaemon
from .waiting import wait_until

__all__ = [
    "STEP",
    "Ordered",
    "build_ordered",
    "ordered",
    "steps",
    "wait_for_listed",
    "wait_for_processes",
]

STEP = "ordered:step"
"""The event that such a program emits."""


def build_ordered(folder: Path, *more: str) -> Path:
    """Build the program.

    Args:
        folder: Where.
        more: More words for the compiler.

    Returns:
        Its path.
    """
    program = folder / "ordered"
    source = PROGRAMS / "ordered.c"
    words = ["gcc", "-g", f"-I{PROGRAMS}", *compile_flags(), str(source), "-pthread"]
    run_tool([*words, "-o", str(program), *link_flags(), *more])
    return program


class Ordered:
    """A program that runs.

    Args:
        process: The process.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def do(self, command: str, answers: int = 1) -> None:
        """Let it do something, and wait until it is done.

        Args:
            command: What, as the program's source has it.
            answers: Lines that it answers with.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        for _ in range(answers):
            assert self.process.stdout.readline() == f"{command}\n"

    def threads(self) -> int:
        """Return how many threads it has."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/task").iterdir())

    def maps(self) -> str:
        """Return what is in its memory, as the kernel lists it."""
        return Path(f"/proc/{self.process.pid}/maps").read_text()

    def end(self) -> None:
        """Let it end, and wait for that."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(SECONDS) == 0


@contextmanager
def ordered(
    daemon: SessionDaemon,
    program: Path,
    *,
    preload: bool = True,
    environment: dict[str, str] | None = None,
) -> Iterator[Ordered]:
    """Run the program; it is gone at the end.

    Args:
        daemon: Where it looks for a daemon.
        program: Its path.
        preload: Whether the tracer is preloaded.
        environment: More of its environment.
    """
    variables = {**os.environ, **daemon.environment, **(environment or {})}
    command = [*daemon.prefix, str(program)]
    if preload:
        # What begins the command line is not to register.
        command[-1:-1] = ["env", f"LD_PRELOAD={library_path()}"]
    process = subprocess.Popen(
        command,
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield Ordered(process)
        finally:
            process.kill()


def wait_for_listed(daemon: SessionDaemon, *programs: Ordered) -> None:
    """Wait until programs are registered.

    Args:
        daemon: Where.
        programs: The programs.
    """
    wait_for_processes(daemon, *(one.process.pid for one in programs))


def wait_for_processes(daemon: SessionDaemon, *processes: int) -> None:
    """Wait until processes are registered.

    Args:
        daemon: Where.
        processes: Their IDs.
    """
    shown = [f"PID: {one} " for one in processes]

    def are_listed() -> bool:
        # Once for all: the daemon asks each program for its events.
        listed = daemon.lttng("list", "-u").out
        return all(one in listed for one in shown)

    wait_until(are_listed, "they register", 2 * SECONDS)


def steps(trace: Path, names: Sequence[str] = (STEP,)) -> Counter[int | None]:
    """Count events of a trace, by process.

    Args:
        trace: The trace.
        names: Names of events.
    """
    found: Counter[int | None] = Counter()
    for event in vestige.open(trace):
        if event.name in names:
            # Of the record, or of the packet where threads have rings of their own.
            found[event.get("vpid")] += 1
    return found
