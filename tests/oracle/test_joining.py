"""Running programs of LTTng-UST are joined by ``vestige record -p``, and left again."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

import vestige
from support.lttng import can_use_name_spaces
from support.own_programs import wait_for_processes
from support.paused_programs import is_in_sleep
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, session_daemon
from support.waiting import wait_until

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

SECONDS = 120.0
VESTIGE = [sys.executable, "-m", "vestige"]
SOURCE = Path(__file__).parent.parent / "programs" / "flood.c"
BURSTS = ("1", "100000", "5000")
"""An event each 5 ms, for many minutes."""


@pytest.fixture(scope="module")
def running() -> Iterator[SessionDaemon]:
    """A daemon whose application socket is where programs of its home look."""
    with session_daemon() as daemon:
        daemon.run_folder = daemon.home / ".lttng"
        daemon.environment["VESTIGE_RUNDIR"] = str(daemon.run_folder)
        started = daemon.start()
        assert started.returncode == 0, started.stderr
        yield daemon


@pytest.fixture
def daemon(running: SessionDaemon, monkeypatch: pytest.MonkeyPatch) -> SessionDaemon:
    """That daemon, without sessions, which this process finds, too."""
    running.lttng("destroy", "--all")
    for name, value in running.environment.items():
        monkeypatch.setenv(name, value)
    return running


@pytest.fixture
def flood(daemon: SessionDaemon, workshop: Workshop) -> Iterator[subprocess.Popen]:
    """A program that has registered and goes on."""
    with subprocess.Popen([workshop.program("flood"), *BURSTS]) as program:
        wait_for_processes(daemon, program.pid)
        # It registers before its own tracepoints are there.
        wait_until(lambda: is_in_sleep(program.pid), "it emits", SECONDS)
        yield program
        program.kill()


def record(*words: object) -> subprocess.CompletedProcess[str]:
    """Run ``vestige record`` to its end."""
    return subprocess.run(
        [*VESTIGE, "record", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def begin(*words: object) -> subprocess.Popen[str]:
    """Start ``vestige record``, and wait until it records."""
    command = [*VESTIGE, "record", *map(str, words)]
    started = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stderr is not None
    line = started.stderr.readline()
    assert line.startswith("vestige: recording "), line + started.stderr.read()
    return started


def told_at_end(recorder: subprocess.Popen[str]) -> str:
    """Wait until a recorder has ended; return what it said.

    One that does not end says where it is.
    """
    try:
        return recorder.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        recorder.send_signal(signal.SIGABRT)
        said = recorder.communicate(timeout=SECONDS)[1]
        pytest.fail(f"it does not end: {said}")


def pauses(program: subprocess.Popen) -> int:
    """Return how often a program has paused; there is an event before each pause."""
    status = Path(f"/proc/{program.pid}/status").read_text()
    return int(
        re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)[0]
    )


def tracepoint_line() -> int:
    """Return the line of the tracepoint in the source."""
    lines = SOURCE.read_text().splitlines()
    return 1 + next(
        i for i, line in enumerate(lines) if "lttng_ust_tracepoint(" in line
    )


def test_the_state_dump_comes_before_all_other_events(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """A program that never pauses describes its state first: addresses have names."""
    with subprocess.Popen([workshop.program("flood"), "1000000000000"]) as program:
        wait_for_processes(daemon, program.pid)
        done = record("-p", program.pid, "--duration", "500ms", "-o", tmp_path / "t")
        program.kill()

    assert done.returncode == 0, done.stderr
    events = iter(vestige.open(tmp_path / "t", debug_info=False).events())
    before = list(takewhile(lambda event: event.name != "flood:drop", events))
    assert before[0].name == "lttng_ust_statedump:start"
    assert before[-1].name == "lttng_ust_statedump:end"
    assert next(events).name == "flood:drop"


@pytest.mark.parametrize(
    "rule",
    [
        ("--all",),
        ("--all", "--exclude=other:*"),
        ("*", "--loglevel=DEBUG"),
        ("lttng_ust_statedump:*,flood:drop",),
        ("*_*,flood:*",),
    ],
    ids=" ".join,
)
def test_each_rule_for_the_state_dump_takes_all_of_it(
    daemon: SessionDaemon,
    flood: subprocess.Popen,
    tmp_path: Path,
    rule: tuple[str, ...],
):
    """Also of a program that runs, and before its other events."""
    daemon.lttng("create", "s", f"--output={tmp_path}")
    assert daemon.lttng("enable-event", "-u", *rule).status == 0
    daemon.lttng("start")
    before = pauses(flood)
    wait_until(lambda: pauses(flood) > before + 2, "it records", SECONDS)
    daemon.lttng("destroy")

    names = [one.name for one in vestige.open(tmp_path, debug_info=False).events()]
    first = names.index("flood:drop")
    assert names[0] == "lttng_ust_statedump:start"
    assert names[first - 1] == "lttng_ust_statedump:end"
    assert set(names[first:]) == {"flood:drop"}
    assert "lttng_ust_statedump:bin_info" in names


def test_a_program_that_ran_before_everything_is_read_with_names(
    workshop: Workshop, tmp_path
):
    """It waits for a daemon, is recorded by one that lasts as long, and goes on.

    The next daemon finds it, too.
    """
    if not can_use_name_spaces():
        pytest.skip("name spaces cannot be made here")
    trace = tmp_path / "t"
    again = shlex.quote(str(tmp_path / "again"))
    program = shlex.join([str(workshop.program("flood")), *BURSTS])
    script = f"""
        mount -t tmpfs none /run; mount -t tmpfs none /dev/shm
        {program} & pid=$!
        until grep -q liblttng-ust.so /proc/$pid/maps; do sleep 0.01; done
        {shlex.join(VESTIGE)} record -p $pid --duration 2s -o {shlex.quote(str(trace))}
        echo "status $?"
        {shlex.join(VESTIGE)} record -q -p $pid --duration 1s -o {again}
        echo "again $?"
        kill -0 $pid && echo goes on
        kill $pid
        ls /run/lttng
    """
    environment = {**os.environ, "HOME": str(tmp_path)}
    for name in ("VESTIGE_RUNDIR", "LTTNG_HOME"):
        environment.pop(name, None)
    done = subprocess.run(
        [
            *[
                "unshare",
                "--mount",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
                "sh",
                "-c",
            ],
            script,
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    left = "lttng-sessiond.lck\nvestige-tracer-1\nvestige-wait-1\n"
    assert done.stdout == f"status 0\nagain 0\ngoes on\n{left}", done.stderr
    told = re.search(
        r"vestige: recorded [\d,]+ events in ([\d.]+) s, [\d,]+ bytes; no events lost\n"
        f"vestige: trace in {trace}\n",
        done.stderr,
    )
    assert told is not None, done.stderr
    assert float(told[1]) >= 2
    assert len(vestige.open(tmp_path / "again").events("flood:drop")) > 0
    events = list(vestige.open(trace).events("flood:drop"))
    assert len(events) > 10
    for event in events:
        place = event.debug_info
        assert isinstance(place, vestige.Place)
        assert place.function == "main"
        assert (Path(place.file or "").name, place.line) == (
            "flood.c",
            tracepoint_line(),
        )


def test_only_what_is_chosen_is_recorded(daemon, flood, workshop, tmp_path):
    """Of only this program, by rules, with contexts, until Ctrl-C."""
    with subprocess.Popen([workshop.program("flood"), *BURSTS]) as other:
        recorder = begin(
            *("-p", flood.pid, "-o", tmp_path, "-c", "vpid,cpu_id,procname"),
            *("-e", "flood:*,no:*", "--exclude", "flood:x*", "--loglevel", "DEBUG"),
            *("--filter", "number > 1"),
        )
        try:
            assert "record-" in daemon.lttng("list").out
            before = pauses(flood)
            wait_until(lambda: pauses(flood) > before + 5, "events", SECONDS)
        finally:
            recorder.send_signal(signal.SIGINT)
            said = told_at_end(recorder)
            other.kill()
    assert recorder.returncode == 0
    assert f"vestige: vestige view {tmp_path}\n" in said
    events = list(vestige.open(tmp_path).events("flood:*"))
    assert events
    assert {event["vpid"] for event in events} == {flood.pid}
    assert {event["procname"] for event in events} == {"flood"}
    assert min(event["number"] for event in events) > 1
    assert daemon.lttng("list").out == "Currently no available recording session\n"
    assert flood.poll() is None


def test_a_program_that_can_be_joined_is_listed_so(flood):
    """With its tracepoints."""
    done = subprocess.run(
        [*VESTIGE, "list", "-p", str(flood.pid)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert "flood:drop" in done.stdout
    assert f"'vestige record -p {flood.pid}' joins it" in done.stderr


def test_it_ends_with_the_programs(daemon, flood, workshop, tmp_path):
    """With the last of them, and says so."""
    with subprocess.Popen([workshop.program("flood"), *BURSTS]) as second:
        recorder = begin("-p", f"{flood.pid},{second.pid}", "-o", tmp_path)
        flood.kill()
        second.kill()
        said = told_at_end(recorder)
    assert recorder.returncode == 0
    assert f"vestige: {flood.pid} (flood) has ended\n" in said
    assert f"vestige: {second.pid} (flood) has ended\n" in said
    assert daemon.lttng("list").out == "Currently no available recording session\n"


def test_losses_are_reported(daemon, workshop, tmp_path):
    """With the option that would have kept them."""
    with subprocess.Popen([workshop.program("flood"), "20000", "1000", "20000"]) as one:
        wait_for_processes(daemon, one.pid)
        done = record(
            *("-p", one.pid, "--buffer-size", "32k", "--duration", "1s", "-o", tmp_path)
        )
        one.kill()
    assert done.returncode == 0
    assert re.search(r"; [\d,]+ events lost\n", done.stderr), done.stderr
    assert (
        "vestige: buffers were full: --buffer-size makes them larger\n" in done.stderr
    )


def test_a_killed_recorder_leaves_a_trace_and_no_session(daemon, flood, tmp_path):
    """The daemon ends what was to last as long as the recorder."""
    recorder = begin("-p", flood.pid, "-o", tmp_path)
    recorder.kill()
    recorder.communicate(timeout=SECONDS)
    wait_until(
        lambda: "record-" not in daemon.lttng("list").out, "it is destroyed", SECONDS
    )
    assert len(vestige.open(tmp_path)) > 0


def test_the_end_of_the_daemon_ends_the_recording(daemon, flood, tmp_path):
    """It says who writes what is missing, and the next daemon does."""
    trace = tmp_path / "t"
    recorder = begin("-p", flood.pid, "-o", trace)
    try:
        daemon.end(signal.SIGKILL)
        said = told_at_end(recorder)
    finally:
        daemon.start()
    assert recorder.returncode == 125
    assert "the session daemon ended the connection: the next one" in said
    assert f"writes what is missing in {trace}\n" in said
    names = {event.name for event in vestige.open(trace).events()}
    assert any(name.startswith("lttng_ust_statedump:") for name in names)


def test_a_program_is_recorded_into_a_session(daemon, workshop, tmp_path):
    """By the session's rules; it is left as it was found."""
    daemon.lttng("create", "s", f"--output={tmp_path}")
    daemon.lttng("enable-event", "-u", "greeting:*", "-f", "number > 0")
    done = record("--session", "s", "--", workshop.program("greeting"), "you")
    assert done.returncode == 0, done.stderr
    assert "vestige: recorded 2 events in " in done.stderr
    assert "s [inactive]" in daemon.lttng("list").out
    daemon.lttng("start")
    done = record("--session", "s", "--", "sh", "-c", "exit 7")
    assert done.returncode == 7
    assert "into session 's', which goes on" in done.stderr
    assert "s [active]" in daemon.lttng("list").out
    daemon.lttng("stop")
    events = list(vestige.open(tmp_path))
    assert [event["text"] for event in events] == ["you", "good night"]


def test_python_controls_sessions(flood, tmp_path):
    """Statistics are those of the trace, and programs are listed with fields."""
    with vestige.Session("p", output=tmp_path) as session:
        channel = session.add_channel("ch", subbuf_size="64k", switch_timer="20ms")
        channel.enable_event("flood:*")
        channel.add_context("vpid")
        session.track(vpid=flood.pid)
        session.start()
        [program] = [
            one for one in session.programs(fields=True) if one.pid == flood.pid
        ]
        [point] = [one for one in program.tracepoints if one.name == "flood:drop"]
        assert ("number", "integer") in point.fields
        session.dump_state()
        wait_until(
            lambda: session.statistics()["ch"].events, "events are written", SECONDS
        )
        losses = session.stop()
    assert losses == (0, 0, None, ())
    counted = session.statistics()["ch"]
    assert counted.events == len(session.trace())
    assert counted.discarded == counted.lost_packets == 0
