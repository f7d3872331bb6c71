"""A soak of sessions that are sent: relay daemons are killed, viewers come and go."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .child_relay import ChildRelay
from .sent_sessions import SENT_KINDS, STEADY, SentSession
from .session_daemon import SessionDaemon
from .soak import Soak
from .soak_programs import Counts, SoakedPrograms
from .soak_sessions import Report

__all__ = ["Breaker", "RelaySoak"]

SECONDS = 60.0
LONGEST_TO_CONNECT = 8.0
"""Seconds after a relay daemon has come back, until nobody fails for it any more."""
MOST_VIEWERS = 4
READERS = {
    "ours": [sys.executable, "-m", "vestige", "convert"],
    "theirs": ["babeltrace2"],
}
TICK = re.compile(r" soaked:tick: .* writer = (\d+), number = (\d+),")


class Breaker:
    """Kills a relay daemon again and again, and starts it.

    Args:
        relay: The relay daemon.
        chance: Decides when.
        period: Seconds from one kill to the next, about.
    """

    def __init__(self, relay: ChildRelay, chance: random.Random, period: float) -> None:
        self.relay = relay
        self.kills = 0
        self._chance, self._period = chance, period
        self._ended_at = 0.0
        self._is_gone = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        chance = self._chance
        while not self._ending.wait(self._period * chance.uniform(0.5, 1.5)):
            self._is_gone = True
            self.relay.kill()
            self.kills += 1
            self._ending.wait(chance.choice([0.0, 0.3, 2.5]))
            self.relay.start()
            self._ended_at = time.monotonic()
            self._is_gone = False

    def may_fail(self, begin: float) -> bool:
        """Tell whether somebody who needed it since a time may have failed.

        Args:
            begin: The time.
        """
        return self._is_gone or self._ended_at + LONGEST_TO_CONNECT > begin

    def end(self) -> None:
        """Kill it no more: it runs."""
        self._ending.set()
        self._thread.join()


class Viewer:
    """One that follows a session.

    Args:
        kind: Whose it is.
        url: The session.
        path: Where it writes.
    """

    def __init__(self, kind: str, url: str, path: Path) -> None:
        self.is_ours = kind == "ours"
        self._path = path
        with path.open("wb") as out, path.with_suffix(".err").open("wb") as err:
            self._process = subprocess.Popen(
                [*READERS[kind], "-i", "lttng-live", url], stdout=out, stderr=err
            )

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait(SECONDS)

    def wait(self) -> None:
        """Wait for its end."""
        self._process.wait(SECONDS)

    def check(self, counts: Counts) -> list[str]:
        """Return what is wrong with what it has shown.

        Args:
            counts: What was made.
        """
        said = self._path.with_suffix(".err").read_text(errors="replace")
        faults = [said] if self.is_ours and "Traceback" in said else []
        text = self._path.read_text(errors="replace")
        found = [(int(one), int(two)) for one, two in TICK.findall(text)]
        if self.is_ours and len({*found}) != len(found):
            faults.append(f"{len(found) - len({*found})} events are shown twice")
        begun = counts.begun()
        if any(one >= len(begun) or two >= begun[one] for one, two in found):
            faults.append("events are shown that nobody made")
        return [f"{self._path.name}: {one}" for one in faults]


class RelaySoak(Soak):
    """One round: from no session and no program to none.

    Args:
        daemon: It runs.
        programs: None of them runs yet.
        folder: Where viewers write.
        chance: Decides everything.
        breaker: Kills the relay daemon of most sessions.
        steady: Another relay daemon.
    """

    def __init__(
        self,
        daemon: SessionDaemon,
        programs: SoakedPrograms,
        folder: Path,
        chance: random.Random,
        breaker: Breaker,
        steady: ChildRelay,
    ) -> None:
        self._breaker = breaker
        self._viewers: list[Viewer] = []
        self._folder = folder
        self.sent = [
            SentSession(kind, steady if kind in STEADY else breaker.relay, chance)
            for kind in SENT_KINDS
        ]
        super().__init__(
            daemon, programs, folder, chance, kills_daemon=False, sessions=self.sent
        )

    def run(self, steps: int) -> dict[str, Report]:
        """Do it; see :meth:`.Soak.run`.

        Args:
            steps: As there.
        """
        try:
            reports = super().run(steps)
        finally:
            self._breaker.end()
            for one in self._viewers:
                one.kill()
        for one in self._viewers:
            self.faults += one.check(self.counts)
        return reports

    @property
    def viewers(self) -> int:
        """How many there were."""
        return len(self._viewers)

    def _possible_steps(self) -> list[Callable[[], None]]:
        return [
            *super()._possible_steps(),
            *[self._begin_viewer] * 3,
            self._kill_viewer,
        ]

    def _is_excused(self, words: Sequence[str], begin: float) -> bool:
        names = {one for word in words for one in word.split("=")}
        return not names & STEADY and self._breaker.may_fail(begin)

    def _begin_viewer(self) -> None:
        if sum(one.runs for one in self._viewers) < MOST_VIEWERS:
            kind = self._chance.choice(sorted(READERS))
            port, host = self._breaker.relay.live, os.uname().nodename
            url = f"net://127.0.0.1:{port}/host/{host}/live"
            path = self._folder / f"viewer-{len(self._viewers)}-{kind}"
            self._viewers.append(Viewer(kind, url, path))
            self._note(f"{path.name} comes")

    def _kill_viewer(self) -> None:
        running = [one for one in self._viewers if one.runs]
        if running:
            self._chance.choice(running).kill()
            self._note("a viewer is killed")

    def _kill_program(self) -> None:
        # One of LTTng-UST that is killed in a record takes with it what others have
        # recorded behind that, and nobody knows how much it was.
        self.programs.kill_one("own")
        self._note("a program is killed")

    def _rotate(self) -> None:
        session = self._chance.choice(
            [one for one in self.sent if not one.is_snapshot and not one.is_live]
        )
        if session.is_rotated and not session.is_active:
            return
        with self._window() as window:
            self._say("rotate", session.name)
        session.is_rotated = not session.is_active
        if not self._status:
            # Else nobody knows which chunk is the present one.
            session.expected.rotate(window)

    def _clear(self) -> None:
        named = {"cleared", "live", "steady", "kept"}
        session = self._chance.choice([s for s in self.sent if s.name in named])
        with self._window() as window:
            self._say("clear", session.name)
        session.is_rotated = not session.is_active
        session.expected.clear(window)

    def _regenerate(self) -> None:
        active = [one for one in self.sent if one.is_active and not one.is_live]
        if active:
            session = self._chance.choice(active)
            what = self._chance.choice(["statedump", "metadata"])
            refused = (15,) if session.name == "processes" else ()
            self._say("regenerate", what, "-s", session.name, statuses=(0, *refused))

    def _end_sessions(self) -> None:
        self._breaker.end()
        super()._end_sessions()
        for one in self._viewers:
            if one.is_ours:
                # What it follows has ended, or its relay daemon was killed.
                one.wait()
