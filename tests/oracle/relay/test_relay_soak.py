"""A soak of sessions that are sent: relay daemons are killed, viewers come and go.

It takes less than a minute, always with the same seed, and ten with
``VESTIGE_TORTURE=1``, each time with another. As in ``test_soak.py``,
``VESTIGE_SOAK_SEED`` and ``VESTIGE_SOAK_SECONDS`` say otherwise.

What is asserted: each event that a session had to record is in one of its traces, or told
lost where buffers are small (more is told there: records of state dumps, too); none is
twice in one trace (it may be in two, before and after a kill), and none is there that
nobody made. Both readers agree about each trace. Where a relay daemon was killed, half a
packet at the end of a file is cut off before, and empty metadata, which were to come anew,
are those that another directory has of the trace. A relay daemon that is not killed has
exactly what it should have. Daemon and relay daemons keep no memory and no descriptors.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from pathlib import Path

import pytest

from support.child_relay import LTTNG, OURS, ChildRelay, child_relay
from support.live_sessions import daemon_for_programs
from support.relay_soak import Breaker, RelaySoak
from support.session_daemon import SessionDaemon
from support.soak import Memory, memory_of, memory_of_process, tell
from support.soak_programs import Counts, SoakedPrograms, build_soaked
from support.tortured import IS_LONG
from support.waiting import DeadlineExpiredError, wait_until

SECONDS = float(os.environ.get("VESTIGE_SOAK_SECONDS", "600" if IS_LONG else "20"))
SEED = int(os.environ.get("VESTIGE_SOAK_SEED", "0" if IS_LONG else "20"))
SEED = SEED or random.SystemRandom().randrange(1, 1 << 32)
STEPS = 200 if IS_LONG else 30
KILL_SECONDS = 30.0 if IS_LONG else 4.0
"""From one kill to the next, about."""
MOST_GROWTH = 12 << 20
"""Bytes of private memory from half of the rounds to the last one."""
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer", "relay_peer"),
    pytest.mark.timeout(5 * SECONDS + 300),
]


def soak(
    daemon: SessionDaemon,
    built: dict[str, Path],
    folder: Path,
    number: int,
    steady: ChildRelay,
) -> list[str]:
    """Do one round; return what is wrong."""
    chance = random.Random(f"{SEED} {number}")  # noqa: S311 - no secret
    folder.mkdir()
    counts = Counts(folder / "counts")
    programs = SoakedPrograms(built, counts, daemon.environment, chance)
    command = (OURS, LTTNG)[number % 2]
    with child_relay(folder / "relay", command) as relay:
        before = memory_of_process(relay.pid)
        breaker = Breaker(relay, random.Random(SEED + number), KILL_SECONDS)  # noqa: S311 - as above
        one = RelaySoak(daemon, programs, folder, chance, breaker, steady)
        try:
            reports = one.run(STEPS)
        except BaseException:
            tell(*one.history)
            raise
        # How many LTTng's opens, and when, is not tested here.
        most = before.descriptors if command is OURS else sys.maxsize
        after = at_rest(relay.pid, most)
        tell(f"round {number}, relay: {before}, {after}, {breaker.kills} kills")
    faults = [*one.faults]
    for session in one.sent:
        report = reports[session.name]
        facts = f"{session.cuts} {session.unusable} {session.repeated}"
        tell(f"round {number}, {session.name}: {report}, {facts}")
        faults += [f"{session.name}: {fault}" for fault in report.faults]
    tell(f"round {number}: {programs.started} programs, {one.viewers} viewers")
    if faults:
        tell(*one.history, relay.said)
    else:
        shutil.rmtree(folder)
        shutil.rmtree(steady.output)
    return faults


def at_rest(pid: int | None, most: int) -> Memory:
    """Return what a daemon has that has nothing to do."""
    try:
        wait_until(
            lambda: memory_of_process(pid).descriptors <= most, "it lets go", 60.0
        )
    except DeadlineExpiredError:
        tell(f"{most} before", *map(os.readlink, Path(f"/proc/{pid}/fd").iterdir()))
        raise
    return memory_of_process(pid)


def grown(found: list[Memory]) -> int:
    """Return by how many bytes it has grown since half of the rounds."""
    return found[-1].private - found[(len(found) - 1) // 2].private


def test_relays_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Every event is there or told lost, and nobody grows."""
    built = build_soaked(tmp_path)
    tell(f"VESTIGE_SOAK_SEED={SEED} VESTIGE_SOAK_SECONDS={SECONDS:g}")
    # A program that stands still is not given up.
    monkeypatch.setenv("LTTNG_APP_SOCKET_TIMEOUT", "60")
    begin, passed, longest = time.monotonic(), 0.0, 0.0
    daemons: list[Memory] = []
    relays: list[Memory] = []
    number = 0
    with (
        child_relay(tmp_path / "steady", OURS) as steady,
        daemon_for_programs() as daemon,
    ):
        # Its journal is open once there was a session.
        most = memory_of(daemon).descriptors + 1
        first = memory_of_process(steady.pid)
        while passed + longest / 2 < SECONDS or number < 2:
            faults = soak(daemon, built, tmp_path / str(number), number, steady)
            assert not faults, f"seed {SEED}, round {number}"
            number += 1
            relays.append(at_rest(steady.pid, first.descriptors))
            daemons.append(at_rest(daemon.pid, most))
            tell(f"{daemons[-1]}, {relays[-1]}")
            before, passed = passed, time.monotonic() - begin
            longest = max(longest, passed - before)
        assert steady.said == ""
    assert relays[-1].threads <= relays[0].threads
    assert daemons[-1].threads <= daemons[0].threads
    assert grown(relays) < MOST_GROWTH
    assert grown(daemons) < MOST_GROWTH
