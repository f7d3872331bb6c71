"""A daemon is killed at each step of a rotation: the archives are those of their times.

Babeltrace 2 reads each archive alone.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import support
from support.killed_rotation import STEPS
from support.live_sessions import begin, daemon_for_programs, lines, run
from support.own_programs import build_ordered, ordered, wait_for_listed
from support.recipes import Workshop
from support.session_daemon import SECONDS, SessionDaemon, is_running, say
from support.waiting import wait_until

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

TESTS = str(Path(support.__path__[0]).parent)
TAKEN_BACK = {"moved": {"c0", "c1"}, "one own trace": {"c1"}}
"""Channels of our tracer's programs whose next chunk had not begun."""


def start_mortal(daemon: SessionDaemon, step: str) -> None:
    """Start a daemon that dies at a step of a rotation."""
    daemon.environment["PYTHONPATH"] = TESTS
    started = daemon.run_module("support.killed_rotation", step, "--daemonize")
    assert started.returncode == 0, started.stderr


def archives(output: Path) -> list[Path]:
    """Return the archives of a session, by their numbers."""
    found = [*(output / "archives").iterdir()]
    return sorted(found, key=lambda one: int(one.name.rpartition("-")[2]))


def counts(trace: Path) -> tuple[int, int, int]:
    """Return how many events of each sort both readers find.

    Of LTTng-UST's programs, and of ours in the two channels.
    """
    found = lines(trace)
    steps = [one for one in found if one.startswith("ordered:step")]
    named = sum("procname = " in one for one in steps)
    drops = sum(one.startswith("flood:drop") for one in found)
    return drops, len(steps) - named, named


@pytest.mark.parametrize("step", STEPS)
def test_archives_follow_each_other(workshop: Workshop, tmp_path: Path, step: str):
    """What was recorded before the rotation is in the archive, or all in the next one.

    There is a trace that a daemon has left which was killed before: nobody writes there.
    """
    output = tmp_path / "out"
    flood, own = workshop.program("flood"), build_ordered(tmp_path)
    with daemon_for_programs() as daemon:
        begin(
            daemon,
            output,
            "enable-event -u -c c0 flood:*,ordered:*",
            "enable-event -u -c c1 ordered:*",
            "add-context -u -c c1 -t procname",
        )
        run(daemon, flood, 10)
        daemon.end(signal.SIGKILL)
        start_mortal(daemon, step)
        run(daemon, flood, 20)
        with ordered(daemon, own) as one:
            one.do("100")
            pid = daemon.pid
            assert pid is not None
            daemon.lttng("rotate")
            wait_until(lambda: not is_running(pid), "the daemon dies", SECONDS)
            assert daemon.start().returncode == 0
            wait_for_listed(daemon, one)
            one.do("5")
            run(daemon, flood, 3)
            say(daemon, "rotate")
            one.do("1")
            daemon.lttng("stop")
            one.end()
        say(daemon, "destroy")
    back = TAKEN_BACK.get(step, set())
    before = (30, *(0 if one in back else 100 for one in ("c0", "c1")))
    after = (3, *(105 if one in back else 5 for one in ("c0", "c1")))
    if step == "moved":
        expected = [(33, 105, 105), (0, 1, 1)]
    else:
        expected = [before, after, (0, 1, 1)]
    assert [counts(one) for one in archives(output)] == expected
