"""What programs with Vestige's own tracer record for sessions, Babeltrace 2 reads, too."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import vestige
from support.live_sessions import begin, daemon_for_programs, run
from support.own_programs import STEP, build_ordered, ordered
from support.peers import babeltrace
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, session_daemon, stop_process
from support.vestige_command import convert

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]


@pytest.fixture
def daemon() -> Iterator[SessionDaemon]:
    """A daemon that runs."""
    with session_daemon() as one:
        started = one.start()
        assert started.returncode == 0, started.stderr
        yield one


def test_the_trace_is_read_after_each_stop(daemon: SessionDaemon, tmp_path: Path):
    """With contexts, while the program and the session go on, and at the end."""
    program = build_ordered(tmp_path)
    trace = tmp_path / "trace"
    for words in (
        f"create s --output={trace}",
        "enable-event -u ordered:*",
        "add-context -u -t ip -t vpid -t procname",
    ):
        assert daemon.lttng(*words.split()).status == 0
    with ordered(daemon, program) as one:
        for number in range(3):
            assert daemon.lttng("start").status == 0
            one.do("50")
            assert daemon.lttng("stop").status == 0
            text = babeltrace(trace).stdout
            assert text.count(b"ordered:step") == 50 * (number + 1)
            assert text == convert(trace).stdout
        one.end()
    daemon.lttng("destroy")
    # The rate of the clock is known better by then.
    text = babeltrace(trace).stdout
    assert text.count(b"ordered:step") == 150
    assert text == convert(trace).stdout
    # The program said what is loaded where.
    places = {str(one.debug_info) for one in vestige.open(trace) if one.name == STEP}
    assert all("ordered.c" in one for one in places), places


def test_all_programs_of_a_session_are_one_trace(workshop: Workshop, tmp_path: Path):
    """Those of LTTng-UST, whose clock is another one, and those with our tracer."""
    program = build_ordered(tmp_path)
    trace = tmp_path / "trace"
    with daemon_for_programs() as daemon:
        begin(daemon, trace, f"enable-event -u {STEP}", "enable-event -u flood:*")
        with ordered(daemon, program) as one:
            one.do("50")
            run(daemon, workshop.program("flood"), 70)
            one.end()
        assert daemon.lttng("stop").status == 0
    text = babeltrace(trace).stdout
    assert (text.count(b"ordered:step"), text.count(b"flood:drop")) == (50, 70)
    assert text == convert(trace).stdout


def test_lost_packets_are_told(daemon: SessionDaemon, tmp_path: Path):
    """As many as the stop says: the numbers of packets are those that LTTng gives."""
    program = build_ordered(tmp_path)
    trace = tmp_path / "trace"
    for words in (
        f"create s --output={trace}",
        "enable-channel -u c --overwrite --subbuf-size=4k --num-subbuf=4",
        "enable-event -u -c c ordered:*",
        "start",
    ):
        assert daemon.lttng(*words.split()).status == 0
    pid = daemon.pid
    assert pid is not None
    with ordered(daemon, program) as one:
        one.do("1")
        stop_process(pid)
        one.do("20000")
        os.kill(pid, signal.SIGCONT)
        said = daemon.lttng("stop").err
        one.end()
    lost = re.search(r"Warning: (\d+) packets were lost", said)
    done = babeltrace(trace)
    told = re.findall(rb"Tracer discarded (\d+) packets? ", done.stderr)
    assert lost is not None
    assert sum(map(int, told)) == int(lost[1])
    found = re.findall(rb"number = (\d+)", done.stdout)
    assert [*map(int, found[-600:])] == [*range(19_400, 20_000)]
