"""Chunks of programs of LTTng-UST: archived and cleared while they record.

Babeltrace 2 reads each archive alone.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.live_sessions import (
    SECONDS,
    begin,
    daemon_for_programs,
    end,
    launch,
    lines,
    run,
)
from support.paused_programs import kill_in_pause
from support.peers import babeltrace
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, say, stop_process
from support.vestige_command import convert
from support.waiting import wait_until
from vestige.record.development import compile_flags, link_flags

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

RULE = "enable-event -u flood:*"
FEW_EVENTS = 20


def archives(output: Path) -> list[Path]:
    """Return the archives of a session, by their numbers."""
    found = [*(output / "archives").iterdir()]
    return sorted(found, key=lambda one: int(one.name.rpartition("-")[2]))


def numbers(trace: Path) -> list[int]:
    """Return the numbers of the events, as both readers have them."""
    return [int(one) for one in re.findall(r"number = (\d+)", "\n".join(lines(trace)))]


def test_each_event_is_in_one_chunk(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """Of a program that goes on, and of one that ends between two rotations.

    What a busy machine leaves no time to write is told as lost.
    """
    begin(daemon, tmp_path, RULE)
    gate = tmp_path / "gate"
    program = launch(daemon, workshop.program("flood"), 1000, 300, 500, gate)
    wait_until(
        lambda: daemon.lttng("list", "-u").out.count("flood:drop"), "it", SECONDS
    )
    gate.touch()
    for _ in range(8):
        say(daemon, "rotate")
    assert program.wait(SECONDS) == 0
    say(daemon, "rotate")
    run(daemon, workshop.program("flood"), FEW_EVENTS)
    said = re.match(r"Warning: (\d+) events were discarded", end(daemon))
    lost = int(said[1]) if said else 0
    say(daemon, "destroy")
    chunks = archives(tmp_path)
    found = [numbers(one) for one in chunks]
    assert found[-1] == [*range(FEW_EVENTS)]
    recorded = [one for chunk in found[:-1] for one in chunk]
    assert recorded == sorted({*recorded} & {*range(300_000)})
    assert len(recorded) + lost == 300_000
    assert sum(map(bool, found)) > 3
    assert all([*one.rglob("metadata")] for one in chunks)


@pytest.mark.parametrize("tracer", ["lttng", "own"])
def test_losses_are_those_of_the_archive(
    daemon: SessionDaemon, workshop: Workshop, tmp_path, tracer
):
    """Read alone, each tells what was lost in it, and no more."""
    options = "--subbuf-size=4k --num-subbuf=2"
    begin(daemon, tmp_path / "trace", f"enable-channel -u c {options}", f"{RULE} -c c")
    program = workshop.program("flood")
    if tracer == "own":
        program = tmp_path / "flood"
        words = ["gcc", f"-I{PROGRAMS}", *compile_flags(), PROGRAMS / "flood.c"]
        run_tool([*words, "-o", program, *link_flags(), "-llttng-ust"])
    for events in (50_000, FEW_EVENTS, 50_000, FEW_EVENTS):
        run(daemon, program, events)
        say(daemon, "rotate")
    say(daemon, "clear")
    run(daemon, program, 50_000)
    lost = re.match(r"Warning: (\d+) events were discarded", end(daemon))
    assert lost is not None
    say(daemon, "destroy")
    found = [losses(one) for one in archives(tmp_path / "trace")]
    assert all(None not in one for one in found)
    sums = [sum(filter(None, one)) for one in found]
    assert [bool(one) for one in sums] == [True, False, True, False, True]
    assert sum(sums) == int(lost[1])
    # Babeltrace 2 sorts packets of all archives by nanoseconds.
    whole = tmp_path / "trace"
    assert convert(whole).stdout == babeltrace(whole).stdout


def test_losses_that_were_told_are_not_taken_back(workshop: Workshop, tmp_path):
    """By the daemon after one that was killed: those of both tracers stay."""
    own = tmp_path / "flood"
    words = ["gcc", f"-I{PROGRAMS}", *compile_flags(), PROGRAMS / "flood.c"]
    run_tool([*words, "-o", own, *link_flags(), "-llttng-ust"])
    options = "--subbuf-size=4k --num-subbuf=2"
    with daemon_for_programs() as daemon:
        channel = f"enable-channel -u c {options}"
        begin(daemon, tmp_path / "trace", channel, f"{RULE} -c c")
        run(daemon, workshop.program("flood"), FEW_EVENTS)
        run(daemon, own, 50_000)
        lost = re.match(r"Warning: (\d+) events were discarded", end(daemon))
        assert lost is not None
        daemon.end(signal.SIGKILL)
        daemon.start()
        say(daemon, "start")
        run(daemon, workshop.program("flood"), FEW_EVENTS)
        assert "discarded" not in daemon.lttng("stop").err
        assert f"Discarded events: {lost[1]}" in daemon.lttng("list", "s").out
        say(daemon, "destroy")


def losses(trace: Path) -> list[int | None]:
    """Return the counts of all losses that a trace tells."""
    opened = vestige.open(trace, debug_info=False)
    events = [one for one in opened if one.name == "flood:drop"]
    assert len(events) == len(numbers(trace))
    assert not opened.damage
    return [one.count for one in opened.losses]


def test_a_program_that_ended_is_in_the_chunk_before(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """What is in buffers that nobody has is written, after a stop and before."""
    begin(daemon, tmp_path, RULE)
    run(daemon, workshop.program("flood"), 10)
    say(daemon, "rotate")
    run(daemon, workshop.program("flood"), 5)
    assert end(daemon) == ""
    say(daemon, "rotate", "destroy")
    assert [len(numbers(one)) for one in archives(tmp_path)] == [10, 5]


@pytest.mark.parametrize(
    "options", ["--overwrite", "--tracefile-size=64k", "--buffers-pid"]
)
def test_channels_of_all_kinds_are_rotated(
    daemon: SessionDaemon, workshop: Workshop, tmp_path, options: str
):
    """While a program records; what one that was killed had recorded is there, too."""
    begin(
        *(daemon, tmp_path),
        f"enable-channel -u c --subbuf-size=64k --num-subbuf=16 {options}",
        f"{RULE} -c c",
    )
    gate = tmp_path / "gate"
    program = launch(daemon, workshop.program("flood"), 10, 10_000, 1000, gate)
    wait_until(
        lambda: daemon.lttng("list", "-u").out.count("flood:drop"), "it", SECONDS
    )
    say(daemon, "rotate")
    gate.touch()
    for _ in range(5):
        say(daemon, "rotate")
    kill_in_pause(program)
    program.wait(SECONDS)
    run(daemon, workshop.program("flood"), 7)
    say(daemon, "rotate")
    assert end(daemon) == ""
    say(daemon, "destroy")
    found = [one for chunk in archives(tmp_path) for one in numbers(chunk)]
    assert found[-7:] == [*range(7)]
    assert found[:-7] == [*range(len(found) - 7)]
    assert len(found) > 10


def test_a_program_that_is_stopped_does_not_hold_a_rotation_up(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """Its last events are in the chunk after that."""
    begin(daemon, tmp_path, RULE)
    gate = tmp_path / "gate"
    program = launch(daemon, workshop.program("flood"), 10, 2, 0, gate)
    wait_until(
        lambda: daemon.lttng("list", "-u").out.count("flood:drop"), "it", SECONDS
    )
    stop_process(program.pid)
    say(daemon, "rotate")
    os.kill(program.pid, signal.SIGCONT)
    gate.touch()
    assert program.wait(SECONDS) == 0
    assert end(daemon) == ""
    say(daemon, "destroy")
    assert [one for chunk in archives(tmp_path) for one in numbers(chunk)] == [
        *range(20)
    ]


@pytest.mark.parametrize("limits", ["", "--tracefile-size=4k --tracefile-count=2"])
def test_clear_leaves_what_comes_after_it(
    daemon: SessionDaemon, workshop: Workshop, tmp_path, limits: str
):
    """Twice, while the session is active and while it is not; files are removed."""
    begin(
        *(daemon, tmp_path),
        f"enable-channel -u c --subbuf-size=4k {limits}",
        f"{RULE} -c c",
    )
    run(daemon, workshop.program("flood"), 3)
    say(daemon, "clear")
    run(daemon, workshop.program("flood"), 2)
    assert end(daemon) == ""
    assert numbers(tmp_path) == [0, 1]
    say(daemon, "clear")
    assert numbers(tmp_path) == []
    say(daemon, "start")
    run(daemon, workshop.program("flood"), 1)
    assert end(daemon) == ""
    assert numbers(tmp_path) == [0]


def test_clear_empties_buffers_that_are_kept_for_snapshots(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """Of a session that is not active, whose program is there, too."""
    say(daemon, f"create s --snapshot -U file://{tmp_path}")
    say(daemon, "enable-channel -u --buffers-pid channel0", RULE, "start")
    gate = tmp_path / "gate"
    program = launch(daemon, workshop.program("flood"), 10, 2, 0, gate)
    wait_until(
        lambda: daemon.lttng("list", "-u").out.count("flood:drop"), "it", SECONDS
    )
    say(daemon, "stop", "clear", "start", "snapshot record")
    assert numbers(tmp_path) == []
    shutil.rmtree(next(tmp_path.glob("snapshot-*")))
    gate.touch()
    assert program.wait(SECONDS) == 0
    say(daemon, "destroy")


def test_clear_removes_traces_of_processes_that_ended(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """What is removed is not in use any more."""
    begin(daemon, tmp_path, "enable-channel -u c --buffers-pid", f"{RULE} -c c")
    run(daemon, workshop.program("flood"), 1000)
    say(daemon, "clear")
    assert not [one for one in (tmp_path / "ust").rglob("*") if one.is_file()]
    shutil.rmtree(tmp_path / "ust")
    say(daemon, "clear")
    assert end(daemon) == ""


def test_the_next_daemon_goes_on_with_chunks(workshop: Workshop, tmp_path):
    """What was in buffers when the daemon was killed is in the chunk after that."""
    with daemon_for_programs() as daemon:
        begin(daemon, tmp_path, RULE)
        run(daemon, workshop.program("flood"), 10)
        say(daemon, "rotate")
        run(daemon, workshop.program("flood"), 20)
        daemon.end(signal.SIGKILL)
        assert daemon.start().returncode == 0
        run(daemon, workshop.program("flood"), 3)
        say(daemon, "rotate")
        run(daemon, workshop.program("flood"), 4)
        daemon.lttng("stop")
        say(daemon, "destroy")
    assert [len(numbers(one)) for one in archives(tmp_path)] == [10, 23, 4]
