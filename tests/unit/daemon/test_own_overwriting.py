"""Channels that overwrite, of programs with Vestige's own tracer."""

from __future__ import annotations

import re
import shutil
import signal
from pathlib import Path

import pytest

import vestige
from support.own_programs import STEP, build_ordered, ordered, wait_for_listed
from support.session_daemon import SessionDaemon, stopped

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

SMALL = "enable-channel -u c --overwrite --subbuf-size=4k --num-subbuf=4"
LEAST = 3 * 200
"""So many events find room in three of its sub-buffers, at least."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def begin(daemon: SessionDaemon, output: Path, channel: str = SMALL) -> None:
    """Start a session with one channel."""
    for words in (
        f"create s --output={output}",
        channel,
        f"enable-event -u -c c {STEP}",
        "start",
    ):
        done = daemon.lttng(*words.split())
        assert done.status == 0, done.err


def numbers(trace: Path) -> list[int]:
    """Return what the steps of a trace have counted, in order."""
    return [one.payload["number"] for one in vestige.open(trace) if one.name == STEP]


def lost_packets(trace: Path) -> int:
    """Return how many packets of a trace are missing, as it tells."""
    opened = vestige.open(trace)
    for _ in opened:
        pass
    return sum(one.count or 0 for one in opened.losses if one.kind == "packets")


def told(said: str) -> int:
    """Return how many lost packets a stop tells of; 0 if it tells of none."""
    found = re.search(r"Warning: (\d+) packets were lost", said)
    return 0 if found is None else int(found[1])


def test_the_newest_packets_are_kept(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """What nobody read in time is counted, in packets; the end is all there."""
    many = 50_000
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path)
        one.do("1")
        with stopped(daemon):
            one.do(str(many))
        stop = daemon.lttng("stop")
        one.end()
    found = numbers(tmp_path)
    assert found == [*found[:-LEAST], *range(many - LEAST, many)]
    assert len(found) < many
    lost = told(stop.err)
    assert lost == lost_packets(tmp_path) > 0
    assert f"Lost packets: {lost}\n" in daemon.lttng("list", "s").out
    assert "were discarded" not in stop.err


def test_each_thread_has_its_own_end(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """One that is loud takes nothing from others, nor from those that have ended."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path)
        one.do("5")
        with stopped(daemon):
            one.do("t5000")
            one.do("7")
        stop = daemon.lttng("stop")
        one.end()
    found = numbers(tmp_path)
    for number in range(5000 - LEAST, 5000):
        assert found.count(number) == 2
    assert [one for one in found if one < 7][-7:] == [*range(7)]
    assert told(stop.err) == lost_packets(tmp_path) > 0


def test_nothing_is_lost_that_has_room(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """A channel with room is like any other, through several starts."""
    large = "enable-channel -u c --overwrite --subbuf-size=1M --num-subbuf=4"
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, large)
        for _ in range(2):
            with stopped(daemon):
                one.do("20000")
            assert daemon.lttng("stop").err == ""
            daemon.lttng("start")
        one.end()
    assert numbers(tmp_path) == [*range(20_000)] * 2


def test_a_killed_daemon_leaves_the_newest_packets(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """The next one reads what the ring has then."""
    many = 20_000
    home.start()
    with ordered(home, program) as one:
        wait_for_listed(home, one)
        begin(home, tmp_path)
        one.do("1")
        home.end(signal.SIGKILL)
        one.do(str(many))
        home.start()
        wait_for_listed(home, one)
        stop = home.lttng("stop")
        one.end()
    found = numbers(tmp_path)
    assert found[-LEAST:] == [*range(many - LEAST, many)]
    assert told(stop.err) == lost_packets(tmp_path) > 0


def test_programs_that_end_leave_the_end(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Also if the daemon looks only then, and in buffers of their own."""
    many = 20_000
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, f"{SMALL} --buffers-pid")
        one.do("1")
        with stopped(daemon):
            one.do(str(many))
            one.process.kill()
            one.process.wait()
        stop = daemon.lttng("stop")
    found = numbers(tmp_path)
    assert found[-LEAST:] == [*range(many - LEAST, many)]
    assert told(stop.err) == lost_packets(tmp_path) > 0
