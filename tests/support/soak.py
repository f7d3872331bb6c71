"""A soak: programs come and go, and sessions are commanded at random, by one seed."""

from __future__ import annotations

import math
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vestige.daemon.run_paths import run_paths

from .session_daemon import SessionDaemon
from .soak_oracle import Window
from .soak_programs import Counts, SoakedPrograms
from .soak_sessions import KINDS, LEFT, Report, SoakSession
from .waiting import DeadlineExpiredError, wait_until

__all__ = ["Memory", "Soak", "memory_of", "memory_of_process", "tell"]

PROGRAMS = 20
SECONDS = 60.0
LONGEST_PAUSE = 3.0
"""Seconds that a program stands still at most."""
LONGEST_TO_FOLLOW = 2.0
"""Seconds until one that answers again does what sessions say, on a busy machine. Also
until a child does that was forked: with Vestige's tracer, it goes on like its parent until
it has registered."""


def tell(*lines: str) -> None:
    """Print lines, which are shown if the test fails."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


@dataclass(frozen=True)
class Memory:
    """What a daemon has."""

    private: int
    """Bytes of memory that it shares with nobody."""

    descriptors: int
    threads: int

    rings: int
    """Bytes of its rings."""


def memory_of(daemon: SessionDaemon) -> Memory:
    """Measure a daemon.

    Args:
        daemon: One that runs.
    """
    is_root = os.geteuid() == 0
    rings = Path(run_paths(is_root=is_root, folder=str(daemon.run_folder)).rings)
    return memory_of_process(daemon.pid, rings)


def memory_of_process(pid: int | None, rings: Path | None = None) -> Memory:
    """Measure a process.

    Args:
        pid: Its ID.
        rings: Where its rings are, if it has any.
    """
    process = Path(f"/proc/{pid}")
    status = dict(
        line.split(":", 1) for line in (process / "status").read_text().splitlines()
    )
    files = [*rings.rglob("*")] if rings else []
    return Memory(
        int(status["RssAnon"].split()[0]) * 1024,
        sum(1 for _ in (process / "fd").iterdir()),
        int(status["Threads"]),
        sum(one.stat().st_size for one in files if one.is_file()),
    )


class Soak:
    """One round: from no session and no program to none.

    Args:
        daemon: It runs.
        programs: None of them runs yet.
        folder: Where sessions write.
        chance: Decides everything.
        kills_daemon: Whether the daemon may be killed.
        sessions: One of each kind by default.
    """

    def __init__(
        self,
        daemon: SessionDaemon,
        programs: SoakedPrograms,
        folder: Path,
        chance: random.Random,
        *,
        kills_daemon: bool,
        sessions: Sequence[SoakSession] | None = None,
    ) -> None:
        self.daemon = daemon
        self.programs = programs
        self.history: list[str] = []
        """What was done, with seconds since the begin."""
        self.faults: list[str] = []
        self._cut_off: set[int] = set()
        """Programs that look for no new daemon."""
        if sessions is None:
            sessions = [SoakSession(kind, folder, chance) for kind in KINDS]
        self.sessions = sessions
        self._chance = chance
        self._windows: list[Window] = []
        self._changes: list[tuple[float, Window]] = []
        """Those with children that may not have registered, and when they surely have."""
        self._following: dict[int, float] = {}
        """Processes that answer again, and when they have surely followed."""
        self._begin = time.monotonic()
        self._writers: list[tuple[float, int]] = []
        """How many there were, and when."""
        self._paused_since = 0.0
        self._steps = [
            *self._possible_steps(),
            *([self._kill_daemon] if kills_daemon else []),
        ]

    def _possible_steps(self) -> list[Callable[[], None]]:
        return [
            *[self._start_program] * 3,
            self._kill_program,
            self._pause,
            *[self._rotate] * 4,
            *[self._clear] * 2,
            *[self._snapshot] * 3,
            *[self._stop_or_start] * 2,
            self._enable_or_disable,
            self._regenerate,
            self._timer,
            self._look,
        ]

    @property
    def counts(self) -> Counts:
        """What programs have made."""
        return self.programs.counts

    def run(self, steps: int) -> dict[str, Report]:
        """Do it, and return what each session turned out to have.

        Args:
            steps: How many commands are given, programs begun and so on.
        """
        try:
            self._set_up()
            for _ in range(steps):
                self._chance.choice(self._steps)()
                self._settle_those_due()
                if time.monotonic() - self._paused_since > LONGEST_PAUSE:
                    self._resume()
                select.select([], [], [], self._chance.uniform(0, 0.1))
            self._resume()
            self._end_sessions()
        finally:
            self.programs.end()
            paused = {one for window in self._windows for one in window.paused}
            self._settle([*paused], math.inf)
        return {one.name: one.check(self.counts) for one in self.sessions}

    def _note(self, what: str) -> None:
        self.history.append(f"{time.monotonic() - self._begin:.3f} {what}")

    def _say(self, *words: str, statuses: tuple[int, ...] = (0,)) -> str:
        begin = time.monotonic()
        done = self.daemon.lttng(*words)
        self._status = done.status
        self._note(
            f"{' '.join(words)}: {done.status}, {time.monotonic() - begin:.3f} s"
        )
        if done.status not in statuses and not self._is_excused(words, begin):
            self.faults.append(f"{' '.join(words)}: {done.status}, {done.err}")
        return done.out + done.err

    def _is_excused(self, words: Sequence[str], begin: float) -> bool:  # noqa: ARG002 - others look
        """Tell whether a command that began then may have failed."""
        return False

    _status = 0
    """What the last command returned."""

    @contextmanager
    def _window(self) -> Iterator[Window]:
        done = self.counts.done()
        window = Window(done, done)
        yield window
        window.after = self.counts.begun()
        window.paused = {*self.programs.paused}
        if window.paused:
            self._windows.append(window)

    @contextmanager
    def _change(self) -> Iterator[Window]:
        """As above: what programs record changes."""
        with self._window() as window:
            yield window
        now = time.monotonic()
        old = (many for at, many in self._writers if at < now - LONGEST_TO_FOLLOW)
        window.youngest = max(old, default=0)
        self._changes.append((now + LONGEST_TO_FOLLOW, window))

    def _settle_those_due(self) -> None:
        now = time.monotonic()
        self._writers.append((now, len(self.counts.begun())))
        due = [one for one, end in self._following.items() if end < now]
        for process in due:
            del self._following[process]
        self._settle(due, now)

    def _settle(self, processes: list[int], now: float) -> None:
        """Note that processes do now what the daemon has asked before, or are gone.

        Args:
            processes: Those that stood still.
            now: The time; children that were young before have registered.
        """
        for window in self._windows:
            for process in processes:
                window.settle(process, self.counts)
        self._windows = [one for one in self._windows if one.paused]
        for end, window in self._changes:
            if end < now:
                window.settle_children(self.counts)
        self._changes = [one for one in self._changes if one[0] >= now]

    def _wait_for(self, processes: Callable[[], list[int]], seconds: float) -> None:
        """Wait until the daemon lists processes, and note that they follow."""

        def are_listed() -> bool:
            listed = self.daemon.lttng("list", "-u").out
            here = processes()
            found = [one for one in here if f"PID: {one} " in listed]
            end = time.monotonic() + LONGEST_TO_FOLLOW
            self._following |= dict.fromkeys(found, end)
            return len(found) == len(here)

        try:
            wait_until(are_listed, "they are listed", seconds)
        except DeadlineExpiredError:
            self._note(f"not all are listed within {seconds} s")

    def _set_up(self) -> None:
        for session in self.sessions:
            for words in session.commands():
                self._say(*words)
        for _ in range(PROGRAMS // 2):
            self._start_program()
        for session in self.sessions:
            self._start(session)

    def _end_sessions(self) -> None:
        for session in self.sessions:
            if session.is_active:
                self._stop(session)
            session.said += self._say("destroy", session.name)

    def _start(self, session: SoakSession) -> None:
        with self._change() as window:
            self._say("start", session.name)
        session.is_active, session.is_rotated = True, False
        session.expected.change(window, records=session.is_enabled)

    def _stop(self, session: SoakSession) -> None:
        with self._change() as window:
            session.said += self._say("stop", session.name)
        session.is_active = False
        session.expected.change(window, records=False)

    def _stop_or_start(self) -> None:
        session = self._chance.choice(self.sessions)
        self._stop(session) if session.is_active else self._start(session)

    def _enable_or_disable(self) -> None:
        session = self._chance.choice(self.sessions)
        with self._change() as window:
            does = session.disabling() if session.is_enabled else session.rules()
            for words in does:
                self._say(*words)
        session.is_enabled = not session.is_enabled
        if session.is_active:
            session.expected.change(window, records=session.is_enabled)

    def _rotate(self) -> None:
        session = self._chance.choice([s for s in self.sessions if not s.is_snapshot])
        if session.is_rotated and not session.is_active:
            return
        with self._window() as window:
            self._say("rotate", session.name)
        session.is_rotated = not session.is_active
        session.expected.rotate(window)

    def _clear(self) -> None:
        named = {"cleared", "kept", "newest"}
        session = self._chance.choice([s for s in self.sessions if s.name in named])
        with self._window() as window:
            self._say("clear", session.name)
        session.is_rotated = not session.is_active
        session.expected.clear(window)

    def _snapshot(self) -> None:
        session = self._chance.choice([s for s in self.sessions if s.is_snapshot])
        with self._window() as window:
            said = self._say("snapshot", "record", f"--session={session.name}")
        del said
        known = {place for place, _ in session.snapshots}
        for place in session.output.glob("snapshot-*"):
            if place not in known and LEFT not in place.name:
                expected = session.expected.until(window)
                session.snapshots.append((place, expected))

    def _regenerate(self) -> None:
        active = [one for one in self.sessions if one.is_active]
        if active:
            session = self._chance.choice(active)
            what = self._chance.choice(["statedump", "metadata"])
            refused = (15,) if session.name == "processes" else ()
            statuses = (0, *refused)
            self._say("regenerate", what, "-s", session.name, statuses=statuses)

    def _timer(self) -> None:
        named = {"users", "processes", "small"}
        session = self._chance.choice([s for s in self.sessions if s.name in named])
        verb = "disable-rotation" if session.has_timer else "enable-rotation"
        value = "--timer" if session.has_timer else "--timer=400ms"
        self._say(verb, f"--session={session.name}", value)
        session.has_timer = not session.has_timer

    def _look(self) -> None:
        words = [["list"], ["list", self.sessions[0].name], ["list", "-u", "-f"]]
        self._say(*self._chance.choice(words))

    def _start_program(self) -> None:
        if len(self.programs.running()) < PROGRAMS:
            self.programs.start()
            self._note("a program starts")

    def _kill_program(self) -> None:
        self.programs.kill_one()
        self._note("a program is killed")

    def _pause(self) -> None:
        if not self.programs.paused:
            self._paused_since = time.monotonic()
        self.programs.pause_one()
        for process in self.programs.paused:
            self._following.pop(process, None)
        self._note("a program stands still")

    def _resume(self) -> None:
        resumed = self.programs.resume()
        if resumed:
            self._note(f"programs go on: {resumed}")
            self._wait_for(lambda: self._still_there(resumed), SECONDS)

    def _still_there(self, processes: list[int]) -> list[int]:
        running = set(self.programs.running()) - self._cut_off
        return [one for one in processes if one in running]

    def _kill_daemon(self) -> None:
        self._resume()
        chance = self._chance
        named = {"users", "processes", "small"}
        session = chance.choice([s for s in self.sessions if s.name in named])
        listed = self.daemon.lttng("list", "-u").out
        # Without any of these, nothing is missing later.
        is_used = any(f"PID: {one} " in listed for one in self.programs.living("lttng"))
        done = self.counts.done()
        self._note(f"the daemon is killed while {session.name} is rotated")
        client = subprocess.Popen(
            [sys.executable, "-m", "vestige", "lttng", "rotate", session.name],
            env={**os.environ, **self.daemon.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        select.select([], [], [], chance.uniform(0, 0.6))
        self.daemon.end(signal.SIGKILL)
        client.wait(SECONDS)
        wait_until(lambda: self.daemon.start().returncode == 0, "it starts", SECONDS)
        window = Window(done, done, {*self.programs.living()})
        self._windows.append(window)
        self._following.clear()
        # Those of LTTng-UST look for a new daemon in LTTng's own directories only.
        self._cut_off |= {*self.programs.living("lttng")}
        self._wait_for(lambda: self.programs.living("own"), SECONDS)
        window.after = self.counts.begun()
        for one in self.sessions:
            one.expected.daemon_killed(window, in_memory=one.is_snapshot)
            one.killed_while_active |= one.is_active and is_used
        session.is_rotated = not session.is_active
