"""Programs of a soak: how many events each has made, and what becomes of them."""

from __future__ import annotations

import mmap
import os
import random
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vestige.record.backends.in_process.tracer import library_path
from vestige.record.development import compile_flags, link_flags

from .compilers import PROGRAMS, Toolchain, run_tool
from .lttng import FORK_HELPER

__all__ = ["EMITTERS", "Counts", "Numbers", "SoakedPrograms", "build_soaked"]

EMITTERS = ("emit_alpha", "emit_bravo", "emit_charlie", "emit_delta")
"""Functions of the program: that of an event is the one at its number modulo four."""
Numbers = npt.NDArray[np.int64]
"""One for each writer."""
WRITERS = 16384
WORDS = 4
END_SECONDS = 60.0


def build_soaked(folder: Path, name: str = "soaked") -> dict[str, Path]:
    """Build a program for both tracers.

    Args:
        folder: Where.
        name: The program.

    Returns:
        Its paths; the keys are ``own`` and ``lttng``.
    """
    own = folder / "own"
    words = ["gcc", "-g", "-O1", f"-I{PROGRAMS}", *compile_flags()]
    source = str(PROGRAMS / f"{name}.c")
    linking = ["-pthread", *link_flags(), "-llttng-ust"]
    run_tool([*words, source, "-o", str(own), *linking])
    theirs = folder / "theirs"
    Toolchain().build([PROGRAMS / f"{name}.c"], theirs)
    return {"own": own, "lttng": theirs}


class Counts:
    """How many events writers have begun and done, in memory that they share.

    Args:
        path: The file; it is made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes((1 + WRITERS) * WORDS * 8))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)
        self._words = np.frombuffer(self._memory, dtype=np.uint64).reshape(-1, WORDS)

    def _column(self, index: int) -> Numbers:
        writers = int(self._words[0, 0])
        return self._words[1 : 1 + writers, index].astype(np.int64)

    def begun(self) -> Numbers:
        """Return how many events each writer has begun."""
        return self._column(0)

    def done(self) -> Numbers:
        """Return how many of them are certainly recorded, if they are to be."""
        return self._column(1)

    def processes(self) -> Numbers:
        """Return the process ID of each writer."""
        return self._column(2)

    def programs(self) -> Numbers:
        """Return that of the process that was started, where others are its children."""
        return self._column(3)


class SoakedPrograms:
    """Programs that come and go.

    Args:
        built: What to run, by tracer.
        counts: Where they count.
        environment: What they need to find the daemon.
        chance: Decides what each does.
    """

    def __init__(
        self,
        built: Mapping[str, Path],
        counts: Counts,
        environment: Mapping[str, str],
        chance: random.Random,
    ) -> None:
        self.counts = counts
        self.started = 0
        self.paused: list[int] = []
        """Process IDs of those that are stopped."""
        self._built = built
        self._environment = {**os.environ, **environment}
        self._chance = chance
        self._running: list[subprocess.Popen[bytes]] = []

    def running(self) -> list[int]:
        """Return the process IDs of those that run and are no children of others."""
        self._running = [one for one in self._running if one.poll() is None]
        return [one.pid for one in self._running]

    def start(self) -> None:
        """Start one more."""
        chance = self._chance
        tracer = chance.choice(sorted(self._built))
        bursts = chance.choice([0, 20, 60, 200])
        threads, forks = chance.choice([1, 1, 2, 3]), chance.choice([0, 0, 0, 1, 2])
        numbers = [chance.randrange(1 << 30), bursts, threads, forks]
        words: Sequence[object] = [self._built[tracer], self.counts.path, *numbers]
        environment = dict(self._environment)
        if tracer == "lttng":
            environment["LD_PRELOAD"] = FORK_HELPER
        elif chance.random() < 0.5:
            environment["LD_PRELOAD"] = str(library_path())
        # A group of its own, so that children end with it.
        self._running.append(
            subprocess.Popen(
                [*map(str, words)], env=environment, start_new_session=True
            )
        )
        self.started += 1

    def kill_one(self, *tracers: str) -> None:
        """Kill one, and not its children.

        Args:
            tracers: Of programs with these; with any of them by default.
        """
        killable = {*self.living(*tracers)} if tracers else {*self.running()}
        if running := [one for one in self.running() if one in killable]:
            self._end(self._chance.choice(running))

    def _end(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)
        for one in self._running:
            if one.pid == process:
                one.wait(END_SECONDS)
        if process in self.paused:
            self.paused.remove(process)

    def pause_one(self) -> None:
        """Let one stand still."""
        if running := self.running():
            process = self._chance.choice(running)
            os.kill(process, signal.SIGSTOP)
            if process not in self.paused:
                self.paused.append(process)

    def resume(self) -> list[int]:
        """Let those go on that stand still; return them."""
        resumed, self.paused = self.paused, []
        running = set(self.running())
        for process in resumed:
            if process in running:
                os.kill(process, signal.SIGCONT)
        return [one for one in resumed if one in running]

    def living(self, *tracers: str) -> list[int]:
        """Return the process IDs of all writers that are there, of children, too.

        Args:
            tracers: Of programs with these; with any of them by default.
        """
        own = str(self.counts.path).encode()
        paths = {str(self._built[one]).encode() for one in tracers or self._built}
        found = []
        for process in {int(one) for one in self.counts.processes()}:
            try:
                words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if own in words and words[0] in paths:
                found.append(process)
        return found

    def end(self) -> None:
        """Kill all that are left, and their children."""
        for one in self._running:
            try:
                os.killpg(one.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            one.wait(END_SECONDS)
        # Children of those that were killed before are in their groups no more.
        for process in self.living():
            os.kill(process, signal.SIGKILL)
        self.running()
