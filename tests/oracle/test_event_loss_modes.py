"""Channels that overwrite, that let programs wait, and their timers.

Each is what LTTng says of it, for programs as they were built; Babeltrace 2 reads what was
written.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from support.live_sessions import SECONDS, begin, end, launch, lines, run
from support.lttng import Channel, Program
from support.peers import babeltrace
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, stopped
from support.waiting import wait_until

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

SMALL = "enable-channel -u c --subbuf-size=4k"
FLOOD = "enable-event -u -c c flood:*"
BLOCKING = {"LTTNG_UST_ALLOW_BLOCKING": "1"}


def numbers(trace: Path) -> list[int]:
    """Return the numbers of the events, as both readers have them."""
    return [int(one) for one in re.findall(r"number = (\d+)", "\n".join(lines(trace)))]


def sequence(trace: Path) -> list[int]:
    """Return the sequence numbers of the packets of the only CPU, all of one page."""
    files = [one for one in trace.rglob("c_*") if one.suffix != ".idx"]
    # LTTng makes files of the others, too.
    file = max(files, key=lambda one: one.stat().st_size)
    raw = file.read_bytes()
    places = range(64, len(raw), 4096)
    return [int.from_bytes(raw[one : one + 8], "little") for one in places]


def lost_packets(said: str) -> int:
    """Return what a stop says of them; 0 if it says nothing."""
    lost = re.match(r"Warning: (\d+) packets were lost", said)
    return 0 if lost is None else int(lost[1])


def on_one_cpu(workshop: Workshop, *numbers: int | Path) -> list[object]:
    """Return the words that run a flood of events there."""
    return [
        "taskset",
        "-c",
        min(os.sched_getaffinity(0)),
        workshop.program("flood"),
        *numbers,
    ]


def record_unread(daemon: SessionDaemon, workshop: Workshop, trace: Path) -> int:
    """Record events that the daemon does not read but for the first; return how many."""
    bursts, each = 12, 100
    gate = trace / "gate"
    program = launch(daemon, *on_one_cpu(workshop, each, bursts, 0, gate))
    wait_until(lambda: any(trace.rglob("c_*")), "some are written", SECONDS)
    with stopped(daemon):
        gate.touch()
        assert program.wait(SECONDS) == 0
    return bursts * each


def test_the_newest_packets_are_kept(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """What was not read in time is counted, in packets; the end is all there."""
    begin(daemon, tmp_path, f"{SMALL} --num-subbuf=4 --overwrite", FLOOD)
    run(daemon, *on_one_cpu(workshop, 20_000))
    lost = lost_packets(end(daemon))
    found = numbers(tmp_path)
    assert found == sorted(set(found))
    # Two of the four are full at least, when the last one is begun.
    assert found[-100:] == list(range(19_900, 20_000))
    packets = sequence(tmp_path)
    assert packets == sorted(set(packets))
    assert lost == packets[-1] + 1 - len(packets) > 0
    assert f"Lost packets: {lost}\n" in daemon.lttng("list", "s").out


def test_a_flight_recorder_has_the_end_when_nobody_read(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """As many packets as the ring has sub-buffers, and those that were read before."""
    begin(daemon, tmp_path, f"{SMALL} --num-subbuf=4 --overwrite", FLOOD)
    count = record_unread(daemon, workshop, tmp_path)
    lost = lost_packets(end(daemon))
    found = numbers(tmp_path)
    assert found[0] == 0
    assert found[-100:] == list(range(count - 100, count))
    packets = sequence(tmp_path)
    assert packets[-4:] == list(range(packets[-1] - 3, packets[-1] + 1))
    assert lost == packets[-1] + 1 - len(packets) > 0
    assert b"packets" in babeltrace(tmp_path).stderr


def test_what_is_lost_is_what_lttng_loses(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """The same packets of the same events, whoever reads them."""
    theirs = tmp_path / "theirs"
    flags = {"sub_buffer_size": "4096", "sub_buffer_count": 4, "overwrite": True}
    channel = Channel(name="c", events=("flood:*",), **flags)
    program = [str(one) for one in on_one_cpu(workshop, 20_000)]
    workshop.lttng.record(theirs, [Program(program)], [channel])
    ours = tmp_path / "ours"
    begin(daemon, ours, f"{SMALL} --num-subbuf=4 --overwrite", FLOOD)
    run(daemon, *program)
    end(daemon)
    last_ours, last_theirs = sequence(ours)[-1], sequence(theirs)[-1]
    assert last_ours == last_theirs
    assert numbers(ours)[-100:] == numbers(theirs)[-100:]


def test_nothing_is_lost_that_is_read_in_time(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """An overwriting channel with room is like any other, through several starts."""
    begin(
        *(daemon, tmp_path),
        "enable-channel -u c --subbuf-size=1M --num-subbuf=4 --overwrite",
        FLOOD,
    )
    program = workshop.program("flood")
    run(daemon, program, 20_000)
    assert end(daemon) == ""
    daemon.lttng("start")
    run(daemon, program, 20_000)
    assert end(daemon) == ""
    assert sorted(numbers(tmp_path)) == sorted([*range(20_000)] * 2)


@pytest.mark.parametrize("timeout", ["inf", "30000000"])
def test_programs_wait_for_the_reader(
    daemon: SessionDaemon, workshop: Workshop, tmp_path, timeout
):
    """Those that may: nothing is lost, though the ring is small."""
    begin(
        daemon, tmp_path, f"{SMALL} --num-subbuf=2 --blocking-timeout={timeout}", FLOOD
    )
    run(daemon, *on_one_cpu(workshop, 1000), **BLOCKING)
    assert end(daemon) == ""
    assert numbers(tmp_path) == list(range(1000))


def test_programs_wait_only_if_they_may(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """Without the variable they lose, as without a timeout."""
    for number, (timeout, variables) in enumerate([("inf", {}), ("0", BLOCKING)]):
        output = tmp_path / str(number)
        options = f"--num-subbuf=2 --blocking-timeout={timeout}"
        begin(daemon, output, f"{SMALL} {options}", FLOOD)
        run(daemon, *on_one_cpu(workshop, 20_000), **variables)
        assert "events were discarded" in end(daemon)
        daemon.lttng("destroy")


def test_programs_wait_no_longer_than_they_shall(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """A reader that does not come costs each of them the timeout, then an event."""
    begin(daemon, tmp_path, f"{SMALL} --num-subbuf=2 --blocking-timeout=300000", FLOOD)
    gate = tmp_path / "gate"
    argv = on_one_cpu(workshop, 100, 2, 0, gate)
    program = launch(daemon, *argv, **BLOCKING)
    wait_until(lambda: any(tmp_path.rglob("c_*")), "some are written", SECONDS)
    with stopped(daemon):
        before = time.monotonic()
        gate.touch()
        assert program.wait(SECONDS) == 0
        waited = time.monotonic() - before
    said = end(daemon)
    lost = re.match(r"Warning: (\d+) events were discarded", said)
    assert lost is not None, (said, waited)
    assert len(numbers(tmp_path)) + int(lost[1]) == 200
    assert waited >= 0.3 * int(lost[1])


def test_a_program_that_waits_goes_on_when_the_session_stops(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """A killed reader does not hold it for ever."""
    begin(daemon, tmp_path, f"{SMALL} --num-subbuf=2 --blocking-timeout=inf", FLOOD)
    program = launch(daemon, *on_one_cpu(workshop, 100_000), **BLOCKING)
    wait_until(lambda: any(tmp_path.rglob("c_*")), "some are written", SECONDS)
    assert end(daemon) == ""
    assert program.wait(SECONDS) == 0


def test_a_read_timer_says_when_full_packets_are_written(
    daemon: SessionDaemon, workshop: Workshop, tmp_path
):
    """Programs wake nobody; a short one writes meanwhile, a long one at the end."""
    begin(daemon, tmp_path / "long", f"{SMALL} --read-timer=1000000000", FLOOD)
    run(daemon, *on_one_cpu(workshop, 150))
    assert not any((tmp_path / "long").rglob("c_*"))
    assert end(daemon) == ""
    assert numbers(tmp_path / "long") == list(range(150))
    daemon.lttng("destroy")
    # With room for all of them: how soon a timer is served depends on the machine.
    options = "--num-subbuf=64 --read-timer=1000"
    begin(daemon, tmp_path / "short", f"{SMALL} {options}", FLOOD)
    run(daemon, *on_one_cpu(workshop, 2000))
    wait_until(
        lambda: any((tmp_path / "short").rglob("c_*")), "some are written", SECONDS
    )
    assert end(daemon) == ""
    assert numbers(tmp_path / "short") == list(range(2000))
