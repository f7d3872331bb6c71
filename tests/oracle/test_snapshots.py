"""Snapshots of programs of LTTng-UST, as they were built, which Babeltrace 2 reads."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from support.live_sessions import SECONDS, launch, lines, run
from support.peers import babeltrace
from support.recipes import Workshop
from support.session_daemon import SessionDaemon
from support.waiting import wait_until

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]
SMALL = "enable-channel -u c --subbuf-size=16k --num-subbuf=4"


def begin(daemon: SessionDaemon, output: Path, *commands: str) -> None:
    """Start a session of snapshots."""
    for words in (f"create s --snapshot --output={output}", *commands, "start"):
        done = daemon.lttng(*words.split())
        assert done.status == 0, done.err


def take(daemon: SessionDaemon, output: Path, name: str) -> Path:
    """Take a snapshot."""
    done = daemon.lttng("snapshot", "record", "-n", name)
    assert done.status == 0, done.err
    return max(output.glob(f"{name}-*"), key=lambda one: one.stat().st_mtime_ns)


def test_what_programs_have_recorded_is_there(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path
):
    """Also when they have ended; it stays, and there are no indexes, as in LTTng's."""
    begin(daemon, tmp_path, "enable-event -u greeting:*")
    run(daemon, workshop.program("greeting"), "you")
    first, second = (take(daemon, tmp_path, name) for name in ("a", "b"))
    assert len(lines(first)) == 3
    assert lines(first) == lines(second)
    assert not [*first.rglob("*.idx")]


def test_a_snapshot_explains_its_addresses(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path
):
    """What tells of objects is there, however often the buffers went round."""
    begin(
        *(daemon, tmp_path, SMALL),
        "add-context -u -c c -t ip -t vpid",
        "enable-event -u -c c -a",
    )
    with launch(daemon, workshop.program("flood"), "1000000000") as running:
        try:
            wait_until(
                lambda: len(places(take(daemon, tmp_path, "first"))) > 100,
                "it records",
                SECONDS,
            )
            found = [take(daemon, tmp_path, name) for name in ("a", "b")]
        finally:
            running.kill()
    for trace in found:
        events = places(trace)
        # Writers come round to all of it in less time than a look takes.
        assert events
        assert all("flood.c:" in one for one in events)


def places(trace: Path) -> list[str]:
    """Return the lines of events with the places that Babeltrace 2 finds."""
    shown = babeltrace(trace, "--debug-info").stdout.decode()
    return [one for one in shown.splitlines() if "flood:" in one]


def test_busy_programs_are_cut_between_records(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path
):
    """Eight at once, while they record: each snapshot is a trace that both read."""
    begin(daemon, tmp_path, SMALL, "enable-event -u -c c flood:*")
    program = workshop.program("flood")
    running = [launch(daemon, program, "1000000000") for _ in range(8)]
    try:
        wait_until(
            lambda: daemon.lttng("list", "-u").out.count("flood:drop") == 8,
            "they run",
            SECONDS,
        )
        wait_until(
            lambda: [*take(daemon, tmp_path, "first").rglob("c_*")],
            "they record",
            SECONDS,
        )
        found = [take(daemon, tmp_path, f"s{one}") for one in range(10)]
        # One is stopped, perhaps in a record, and another killed.
        running[0].send_signal(signal.SIGSTOP)
        running[1].kill()
        found += [take(daemon, tmp_path, f"t{one}") for one in range(3)]
    finally:
        for one in running:
            one.kill()
            one.wait(SECONDS)
    found.append(take(daemon, tmp_path, "last"))
    for trace in found:
        assert len(lines(trace)) > 100
