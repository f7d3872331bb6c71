"""Daemon, programs or clients are killed in the middle of a command, at seeded times.

Whatever it was: nothing hangs, the daemon goes on or a new one does, each event that was
committed up to the kill is read once, and what is missing is told. ``VESTIGE_TORTURE=1``
kills a hundred times.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from support.live_sessions import (
    SECONDS,
    begin,
    daemon_for_programs,
    launch,
    lines,
    run,
)
from support.recipes import Workshop
from support.session_daemon import SessionDaemon
from support.tortured import IS_LONG
from support.waiting import wait_until

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer"),
    pytest.mark.timeout(600),
]

SEEDS = range(100 if IS_LONG else 20)
VICTIMS = ["daemon", "program", "client"]
COMMANDS = [
    "list",
    "list -u",
    "list -u -f",
    "list s",
    "stop",
    "start",
    "status",
    "save",
    "enable-event -u -c c other:*",
    "disable-event -u -c c greeting:*",
    "regenerate statedump",
    "track -u --vpid --all",
    "create other --no-output",
]


def start_client(daemon: SessionDaemon, command: str) -> subprocess.Popen[bytes]:
    """Start a command as somebody in a shell does."""
    return subprocess.Popen(
        [sys.executable, "-m", "vestige", "lttng", *command.split()],
        env={**os.environ, **daemon.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def is_there(daemon: SessionDaemon) -> bool:
    """Start a daemon, unless ``create`` has come after the kill and has started one."""
    return daemon.lttng("list").status == 0 or daemon.start().returncode == 0


def numbers(trace: Path) -> dict[str, list[int]]:
    """Return the numbers of the events of each process, as both readers have them."""
    found = defaultdict(list)
    event = re.compile(r"flood:drop: \{ vpid = (\d+) \}, \{ number = (\d+),")
    for match in map(event.match, lines(trace)):
        if match is not None:
            found[match[1]].append(int(match[2]))
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kill_costs_nothing_that_was_committed(
    workshop: Workshop, tmp_path, seed: int
):
    """In every trace, each process has a run of events without a hole."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    victim, command = VICTIMS[seed % 3], chance.choice(COMMANDS)
    overwrite = chance.choice(["", " --overwrite"])
    where = chance.choice(["", f"--shm-path={tmp_path}/shm"])
    with daemon_for_programs() as daemon:
        begin(
            daemon,
            tmp_path / "out",
            f"enable-channel -u c --subbuf-size=1M --num-subbuf=4{overwrite}",
            "add-context -u -c c -t vpid",
            "enable-event -u -c c flood:*",
            "enable-event -u -c c greeting:*",
            options=where,
        )
        flood = [workshop.program("flood"), 10, 100_000, 2000]
        programs = [launch(daemon, *flood) for _ in range(2)]
        try:
            wait_until(
                lambda: daemon.lttng("list", "-u").out.count("flood:drop") == 2,
                "they begin",
                SECONDS,
            )
            client = start_client(daemon, command)
            time.sleep(chance.uniform(0, 0.4))
            pids = {"daemon": daemon.pid, "program": programs[0].pid}
            os.kill(pids.get(victim) or client.pid, signal.SIGKILL)
            client.wait(SECONDS)
            if victim == "daemon":
                wait_until(lambda: is_there(daemon), "it starts", SECONDS)
            was_active = "[active]" in daemon.lttng("list", "s").out
            run(daemon, workshop.program("greeting"), "later")
        finally:
            for one in programs:
                one.kill()
                one.wait()
        done = daemon.lttng("stop", "s")
        assert done.status == (0 if was_active else 81)
        assert daemon.lttng("list", "s").status == 0
    check(tmp_path / "out", f"{victim}, {command}", done.err)
    if was_active and not command.startswith("disable"):
        later = [one for one in lines(tmp_path / "out") if '"later"' in one]
        # A program that is killed in a record costs what follows it in the packet.
        assert len(later) == 1 or "packets were lost" in done.err
    if victim == "daemon" and was_active:
        assert "recorded nothing from" in done.err


def test_nothing_is_left_below_the_directory_of_rings(workshop: Workshop, tmp_path):
    """Neither by the daemon that was killed, nor by the one that wrote their events."""
    rings = tmp_path / "shm"
    with daemon_for_programs() as daemon:
        rule = "enable-event -u greeting:*"
        begin(daemon, tmp_path / "out", rule, options=f"--shm-path={rings}")
        run(daemon, workshop.program("greeting"))
        assert [*rings.rglob("channel0_0")]
        daemon.end(signal.SIGKILL)
        assert daemon.start().returncode == 0
        assert daemon.lttng("stop", "s").status == 0
        assert daemon.lttng("destroy", "s").status == 0
    assert [*rings.rglob("*")] == []
    assert len(lines(tmp_path / "out")) == 2


def check(output: Path, case: str, said: str) -> None:
    """Fail if a trace has a hole, or an event twice, that nobody told of."""
    traces = sorted(one.parent for one in output.rglob("metadata"))
    for index, trace in enumerate(traces):
        for found in numbers(trace).values():
            if "discarded" not in said and "lost" not in said:
                first = found[0] if index else 0
                assert found == list(range(first, first + len(found))), case
            assert found == sorted(set(found)), case
