"""A soak of sessions: programs start and die, and sessions are rotated, cleared and so on.

What happens follows from a seed; ``VESTIGE_SOAK_SEED`` does it again, for as many seconds as
``VESTIGE_SOAK_SECONDS`` says. It takes two minutes, always with the same seed, and ten with
``VESTIGE_TORTURE=1``, each time with another; the daemon is killed, too, in the long form,
or with ``VESTIGE_SOAK_KILLS=1``.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import time
from pathlib import Path

import pytest

from support.live_sessions import daemon_for_programs
from support.session_daemon import SessionDaemon
from support.soak import Memory, Soak, memory_of, tell
from support.soak_programs import Counts, SoakedPrograms, build_soaked
from support.tortured import IS_LONG
from support.waiting import wait_until

SECONDS = float(os.environ.get("VESTIGE_SOAK_SECONDS", "600" if IS_LONG else "120"))
SEED = int(os.environ.get("VESTIGE_SOAK_SEED", "0" if IS_LONG else "17"))
SEED = SEED or random.SystemRandom().randrange(1, 1 << 32)
KILLS = os.environ.get("VESTIGE_SOAK_KILLS", "1" if IS_LONG else "0") == "1"
"""Whether the daemon is killed in the first rounds. What is said to be lost after that is
not exact each time yet, so the suite leaves it to the long form."""
STEPS = 150 if IS_LONG else 80
"""Of a round, after which all that was recorded is read."""
MOST_GROWTH = 4 << 20
"""Bytes of private memory from half of the rounds to the last one, where these are many and
long. In ten minutes, some 1000 commands follow the half: 4 KiB that each leaves behind would
show."""
MOST_EARLY_GROWTH = 12 << 20
"""The same after few commands: what an allocator keeps changes by a megabyte from round to
round, and by more in the first two."""
MOST_ONCE = 10 << 20
"""Bytes more in one of the rounds: once it grows by 8 MiB, in an early one or in a late one,
and stays there."""
FEW_ROUNDS = 3
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer", "lttng"),
    pytest.mark.timeout(5 * SECONDS + 300),
]


def soak(
    daemon: SessionDaemon,
    built: dict[str, Path],
    folder: Path,
    number: int,
    *,
    kills: bool,
) -> list[str]:
    """Do one round; return what is wrong."""
    chance = random.Random(f"{SEED} {number}")  # noqa: S311 - no secret
    folder.mkdir()
    counts = Counts(folder / "counts")
    programs = SoakedPrograms(built, counts, daemon.environment, chance)
    one = Soak(daemon, programs, folder, chance, kills_daemon=kills)
    try:
        reports = one.run(STEPS)
    except BaseException:
        tell(*one.history)
        raise
    faults = [*one.faults]
    for name, report in reports.items():
        tell(f"round {number}, {name}: {report}")
        faults += [f"{name}: {fault}" for fault in report.faults]
    tell(f"round {number}: {programs.started} programs, {memory_of(daemon)}")
    if faults:
        tell(*one.history)
    else:
        shutil.rmtree(folder)
    return faults


def at_rest(daemon: SessionDaemon, most: int) -> Memory:
    """Return what a daemon has that has nothing to do."""
    wait_until(lambda: memory_of(daemon).descriptors <= most, "it lets go", 60.0)
    return memory_of(daemon)


def test_sessions_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Every event is read once or told lost, and the daemon does not grow."""
    built = build_soaked(tmp_path)
    tell(f"VESTIGE_SOAK_SEED={SEED} VESTIGE_SOAK_SECONDS={SECONDS:g}")
    # A program that stands still is not given up.
    monkeypatch.setenv("LTTNG_APP_SOCKET_TIMEOUT", "60")
    begin, passed, longest = time.monotonic(), 0.0, 0.0
    found: list[Memory] = []
    number = 0
    with daemon_for_programs() as daemon:
        first = memory_of(daemon)
        # Its journal is open once there was a session.
        most = first.descriptors + 1
        while passed + longest / 2 < SECONDS or len(found) < 2:
            # One that was killed has a young successor, whose memory still grows.
            kills = KILLS and passed < SECONDS / 3 and not found
            faults = soak(daemon, built, tmp_path / str(number), number, kills=kills)
            assert not faults, f"seed {SEED}, round {number}"
            number += 1
            if not kills:
                found.append(at_rest(daemon, most))
            before, passed = passed, time.monotonic() - begin
            longest = max(longest, passed - before)
    tell(f"begin {first}", *map(str, found))
    assert all(one.rings == 0 for one in found)
    assert found[-1].descriptors <= most
    assert found[-1].threads <= found[0].threads
    half = [one.private for one in found[(len(found) - 1) // 2 :]]
    grown = [after - before for before, after in itertools.pairwise(half)]
    are_many = len(grown) >= FEW_ROUNDS
    once = min(max(grown), MOST_ONCE) if are_many else 0
    most = MOST_GROWTH if IS_LONG and are_many else MOST_EARLY_GROWTH
    assert sum(grown) - once < most
