"""Recordings of the kernel of one program: waits of its threads, of no strangers."""

from __future__ import annotations

import json

import pytest

import vestige
from vestige import ctf
from vestige.analysis.threads import Process, Thread
from vestige.cli.main import main

OURS, STRANGER = 7, 90
SWITCHES = [
    # The stranger's turn on another CPU in between was not recorded.
    (20, STRANGER, OURS),
    (50, OURS, STRANGER),
    (60, STRANGER, OURS),
    (80, OURS, 0),
    (95, 0, OURS),
]
FIELDS = {"prev_tid": "s32", "prev_state": "s64", "next_tid": "s32"}


def write(path, *, whose="program", is_born=True, switches=SWITCHES):
    """Write a trace of a kernel with call stacks."""
    address = ctf.array(ctf.integer(64, base=16))
    environment = {"domain": "kernel", "tracer_major": 2, "tracer_minor": 13}
    if whose is not None:
        environment["kernel_of"] = whose
    with ctf.Writer(
        path,
        packet_context={"cpu_id": "u32"},
        event_context={"tid": "s32", "callstack_kernel": address},
        environment=environment,
    ) as writer:
        born = writer.event_class("sched_wakeup_new", {"tid": "s32"})
        switch = writer.event_class("sched_switch", FIELDS)
        stream = writer.stream("channel0_0", cpu_id=0)
        if is_born:
            stream.write(born, 10, {"tid": 1, "callstack_kernel": []}, tid=OURS)
        for time, before, after in switches:
            context = {"tid": before, "callstack_kernel": [0xFFFFFFFF81000010]}
            values = {"prev_tid": before, "prev_state": 1, "next_tid": after}
            stream.write(switch, time, context, **values)
    return path


def waits(path, capfd, *options):
    """Return how often each thread waited, and how long in all."""
    assert main(["report", "--off-cpu", "--json", *options, str(path)]) == 0
    stacks = json.loads(capfd.readouterr().out)["stacks"]
    return {one["tid"]: (one["count"], one["total_ns"]) for one in stacks}


@pytest.mark.parametrize("is_born", [True, False])
def test_waits_of_strangers_are_none(tmp_path, capfd, is_born):
    """Also in a part of a recording that does not have the births."""
    path = write(tmp_path / "kernel", is_born=is_born)

    assert waits(path, capfd) == {OURS: (2, 25)}


def test_in_a_part_of_the_time_the_births_before_it_count(tmp_path, capfd):
    """Nothing else tells there whose thread it is."""
    path = write(tmp_path / "kernel", switches=SWITCHES[:3])

    assert waits(path, capfd, "--begin=0.000000040", "--clock-gmt") == {OURS: (1, 10)}


def test_of_a_whole_machine_all_count(tmp_path, capfd):
    """As before."""
    path = write(tmp_path / "kernel", whose=None)

    assert waits(path, capfd) == {OURS: (2, 25), STRANGER: (1, 30)}


def test_turns_of_strangers_are_not_known(tmp_path):
    """Of which two ends are there, and not what was between."""
    trace = vestige.open(write(tmp_path / "kernel"), debug_info=False)
    turns = trace.turns()
    name = trace.streams[0].trace.name

    def of(thread):
        return turns.of_thread(Thread(process=Process(None, None, name), tid=thread))

    assert of(STRANGER) is None
    shares = of(OURS).shares(20, 95)
    assert (shares.running, shares.blocked) == (50, 25)
