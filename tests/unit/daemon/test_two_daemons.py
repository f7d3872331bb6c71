"""Root's daemon and a user's at once: programs of the user record for both."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.own_programs import build_ordered, ordered, steps, wait_for_listed
from support.session_daemon import SessionDaemon, say
from support.two_daemons import Machine, machine

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root changes its user"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
]


@pytest.fixture
def place() -> Iterator[Machine]:
    """A machine where no daemon runs."""
    with machine() as one:
        yield one


def begin(daemon: SessionDaemon, name: str = "s") -> Path:
    """Start a session, and return its trace."""
    trace = daemon.home / f"trace-{name}"
    rule = "enable-event -u ordered:*"
    say(daemon, f"create {name} --output={trace}", rule, "start")
    return trace


@pytest.mark.parametrize("first", ["root", "user", "program", "linked"])
def test_a_program_records_for_both_daemons(place: Machine, first: str):
    """Whoever begins first, and preloaded or linked: each has all that it asked for."""
    daemons = [place.root, place.user]
    flags = ["-llttng-ust"] if first == "linked" else []
    program = build_ordered(place.folder, *flags)
    if first == "user":
        daemons.reverse()
    if first in {"root", "user"}:
        assert daemons[0].start().returncode == 0
    with ordered(place.user, program, preload=first != "linked") as one:
        one.do("10")
        for daemon in daemons:
            if daemon.pid is None:
                assert daemon.start().returncode == 0
            wait_for_listed(daemon, one)
        traces = [begin(daemon) for daemon in daemons]
        one.do("100")
        one.do("t50")
        say(daemons[0], "stop")
        one.do("3")
        say(daemons[1], "stop")
        pid = one.process.pid
        assert [steps(trace) for trace in traces] == [{pid: 200}, {pid: 203}]
        say(daemons[0], "start")
        one.do("7")
        say(daemons[0], "destroy")
        one.do("7")
        one.end()
    assert [steps(trace) for trace in traces] == [{pid: 207}, {pid: 203}]


def test_a_program_waits_for_the_rules_of_both(place: Machine):
    """Its first event is recorded by both; so are those of a child process."""
    program = build_ordered(place.folder)
    daemons = [place.root, place.user]
    for daemon in daemons:
        assert daemon.start().returncode == 0
    traces = [begin(daemon) for daemon in daemons]
    with ordered(place.user, program) as one:
        one.do("10")
        assert one.process.stdin is not None
        one.process.stdin.write("fork\n20\nexec\n5\n")
        one.end()
    for daemon, trace in zip(daemons, traces, strict=True):
        assert daemon.lttng("stop").err == ""
        found = steps(trace)
        assert found.pop(one.process.pid) == 10
        assert [*found.values()] == [25]


@pytest.mark.parametrize("killed", ["root", "user"])
def test_a_killed_daemon_takes_nothing_from_the_other(place: Machine, killed: str):
    """The program goes on for both; the next daemon finds it, and so do new sessions."""
    program = build_ordered(place.folder)
    daemons = {"root": place.root, "user": place.user}
    for daemon in daemons.values():
        assert daemon.start().returncode == 0
    dead = daemons.pop(killed)
    (other,) = daemons.values()
    with ordered(place.user, program) as one:
        for daemon in (dead, other):
            wait_for_listed(daemon, one)
        kept, trace = begin(dead), begin(other)
        one.do("100")
        dead.end(signal.SIGKILL)
        one.do("10")
        say(other, "stop", "destroy")
        assert steps(trace) == {one.process.pid: 110}
        again = begin(other, "again")
        one.do("1")
        assert dead.start().returncode == 0
        wait_for_listed(dead, one)
        one.do("1000")
        assert dead.lttng("stop").err == ""
        assert other.lttng("stop").err == ""
        one.end()
    assert steps(kept) == {one.process.pid: 1111}
    assert steps(again) == {one.process.pid: 1001}
