"""What ``stop`` says was lost, when the daemon was killed between two of them."""

from __future__ import annotations

import re
import shutil
import signal
from pathlib import Path

import pytest

import vestige
from support.own_programs import build_ordered, ordered, steps, wait_for_listed
from support.session_daemon import SECONDS, SessionDaemon, say
from support.waiting import wait_until

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
EVENTS = 20_000
CHANNEL = "enable-channel -u --subbuf-size=4k --num-subbuf=2 c"


def said(daemon: SessionDaemon) -> int:
    """Stop the session; return how many events it says were lost."""
    done = daemon.lttng("stop")
    assert done.status == 0
    found = re.search(r"(\d+) events were discarded", done.err)
    return int(found[1]) if found else 0


def begin(daemon: SessionDaemon, output: Path) -> None:
    """Start a session with little room."""
    rule = "enable-event -u -c c ordered:*"
    say(daemon, f"create s --output={output}", CHANNEL, rule, "start")


def kill(daemon: SessionDaemon) -> None:
    """Let another daemon go on."""
    daemon.end(signal.SIGKILL)
    assert daemon.start().returncode == 0


def test_losses_are_said_once(daemon: SessionDaemon, tmp_path: Path):
    """Those of a thread that goes on are in memory until a packet of it tells them."""
    program = build_ordered(tmp_path)
    output = tmp_path / "out"
    begin(daemon, output)
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        one.do(str(EVENTS))
        found = [said(daemon)]
        kill(daemon)
        wait_for_listed(daemon, one)
        for events in (1, EVENTS):
            say(daemon, "start")
            one.do(str(events))
            found.append(said(daemon))
    say(daemon, "destroy")
    assert found[0] > 0 == found[1] < found[2]
    assert sum(found) == 2 * EVENTS + 1 - steps(output).total()


def told(trace: Path) -> int:
    """Return how many events packets say were lost."""
    opened = vestige.open(trace)
    assert sum(1 for _ in opened) > 0
    return sum(one.count or 0 for one in opened.losses)


def test_losses_are_not_taken_back(daemon: SessionDaemon, tmp_path: Path):
    """Those of a thread that has ended since were told, and are in memory no more."""
    program = build_ordered(tmp_path)
    output = tmp_path / "out"
    begin(daemon, output)
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        one.do(str(EVENTS))
        found = [said(daemon)]
        say(daemon, "start")
        one.end()
    wait_until(lambda: told(output) == found[0], "a packet tells them", SECONDS)
    kill(daemon)
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        one.do(str(EVENTS))
        found.append(said(daemon))
    say(daemon, "destroy")
    assert sum(found) == 2 * EVENTS - steps(output).total()
