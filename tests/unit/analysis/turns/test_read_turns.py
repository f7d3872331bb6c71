"""When threads ran, and what they waited for, as traces of kernels tell it."""

from __future__ import annotations

import pytest

import vestige
from support.kernel_traces import write_kernel_trace
from vestige import ctf
from vestige.analysis.threads import Process, Thread
from vestige.analysis.turns import BLOCKED, RUNNABLE, RUNNING, UNKNOWN, read_turns

SLEEPS, PREEMPTED = 1, 0x100


def switch(before, after, state):
    """Return the fields of a switch."""
    return {"prev_tid": before, "prev_state": state, "next_tid": after}


RECORDS = [
    # CPU, time, name, fields
    (0, 100, "sched_switch", switch(0, 5, 0)),
    (1, 110, "sched_switch", switch(6, 0, 0)),
    (0, 120, "syscall_entry_read", {"fd": 3}),
    (0, 130, "sched_switch", switch(5, 0, SLEEPS)),
    (1, 140, "sched_waking", {"tid": 5}),
    (1, 141, "sched_wakeup", {"tid": 5}),
    (1, 150, "sched_switch", switch(0, 5, 0)),
    (1, 160, "syscall_exit_read", {"ret": 1}),
    (1, 170, "sched_switch", switch(5, 7, PREEMPTED)),
    (0, 180, "sched_waking", {"tid": 8}),
    (1, 200, "sched_switch", switch(7, 5, SLEEPS)),
]


def turns_of(tmp_path, thread, records=RECORDS):
    """Return the states of a thread of a trace of some records."""
    path = write_kernel_trace(tmp_path / "kernel", records)
    trace = vestige.open(path, debug_info=False)
    turns = trace.turns()
    name = trace.streams[0].trace.name
    return turns.of_thread(Thread(process=Process(None, None, name), tid=thread))


def states(turns):
    """Return when each state begins."""
    return list(zip(turns.times, turns.states, strict=True))


def test_a_thread_runs_waits_and_is_preempted(tmp_path):
    """It waits in a system call, and for a CPU after that."""
    turns = turns_of(tmp_path, 5)

    assert states(turns) == [
        (100, RUNNING),
        (130, BLOCKED),
        (140, RUNNABLE),
        (150, RUNNING),
        (170, RUNNABLE),
        (200, RUNNING),
    ]
    shares = turns.shares(110, 190)
    assert (shares.running, shares.runnable, shares.blocked) == (40, 30, 10)
    assert shares.waits == {"read": 10}


def test_what_runs_first_has_run_since_the_begin(tmp_path):
    """Nothing else did, on that CPU; and what could go on waits for one."""
    assert states(turns_of(tmp_path, 6)) == [(100, RUNNING), (110, RUNNABLE)]


def test_nobody_knows_what_a_thread_did_before(tmp_path):
    """One that is woken waited for something, nobody knows since when."""
    turns = turns_of(tmp_path, 8)

    assert states(turns) == [(180, RUNNABLE)]
    assert [*turns.between(0, 190)] == [(180, 190, RUNNABLE, None)]


def test_without_a_state_nobody_knows_what_a_thread_waits_for(tmp_path):
    """As in traces that were cut down."""
    records = [
        (0, 100, "sched_switch", {"prev_tid": 5, "next_tid": 0}),
        (0, 150, "sched_switch", {"prev_tid": 0, "next_tid": 5}),
    ]

    assert states(turns_of(tmp_path, 5, records)) == [(100, UNKNOWN), (150, RUNNING)]


@pytest.mark.parametrize("state", [0x10, 0x20])
def test_a_thread_that_has_ended_waits_for_nothing(tmp_path, state):
    """Neither does the next one of its number wait in the last call of it."""
    records = [
        (0, 100, "sched_switch", switch(0, 5, 0)),
        (0, 110, "syscall_entry_exit_group", {}),
        (0, 120, "sched_switch", switch(5, 0, state)),
        (0, 200, "sched_wakeup_new", {"tid": 5}),
        (0, 210, "sched_switch", switch(0, 5, 0)),
        (0, 220, "sched_switch", switch(5, 0, SLEEPS)),
    ]
    turns = turns_of(tmp_path, 5, records)

    assert states(turns)[1:4] == [(120, UNKNOWN), (200, RUNNABLE), (210, RUNNING)]
    shares = turns.shares(100, 300)
    assert (shares.running, shares.runnable, shares.blocked) == (30, 10, 80)
    assert shares.waits == {}


def test_threads_of_other_machines_are_others(tmp_path):
    """Nobody knows a thread by its number alone."""
    path = write_kernel_trace(tmp_path / "kernel", RECORDS)
    turns = vestige.open(path, debug_info=False).turns()

    other = Thread(process=Process(None, None, "elsewhere"), tid=5)
    assert turns.of_thread(other) is None


@pytest.mark.parametrize(
    ("begin", "end", "is_here"),
    [(105, 165, True), (105, 145, True), (132, 175, False), (None, None, True)],
)
def test_whoever_records_runs_then(tmp_path, begin, end, is_here):
    """Else it is another thread, which has that ID in a PID namespace."""
    path = write_kernel_trace(tmp_path / "kernel", RECORDS)
    trace = vestige.open(path, debug_info=False)
    process = Process(None, None, trace.streams[0].trace.name)
    thread = Thread(process=process, tid=5, begin=begin, end=end)
    turns = trace.turns()

    assert turns.is_elsewhere(thread) is not is_here
    assert (turns.of_thread(thread) is not None) is is_here


def test_traces_without_a_kernel_have_no_turns(tmp_path):
    """Neither do those of kernels without switches."""
    records = [(0, 100, "sched_waking", {"tid": 5})]
    path = write_kernel_trace(tmp_path / "kernel", records)

    assert read_turns(vestige.open(path, debug_info=False).streams) is None


def test_a_switch_that_was_not_told_is_seen_from_what_is_recorded(tmp_path):
    """Some kernels leave out switches from idle CPUs."""
    records = [
        (0, 100, "sched_switch", switch(5, 0, SLEEPS)),
        (1, 110, "sched_switch", switch(0, 7, 0)),
        (0, 120, "sched_waking", {"tid": 5}),
        # Here the switch to it is missing.
        (0, 180, "sched_switch", switch(5, 0, SLEEPS)),
        # And here the one away from 7.
        (1, 200, "sched_switch", switch(8, 0, SLEEPS)),
        (1, 210, "sched_waking", {"tid": 7}),
    ]

    assert states(turns_of(tmp_path, 5, records)) == [
        (100, BLOCKED),
        (120, RUNNING),
        (180, BLOCKED),
    ]
    assert states(turns_of(tmp_path / "again", 7, records)) == [
        (110, RUNNING),
        (200, UNKNOWN),
        (210, RUNNABLE),
    ]


def test_whoever_records_an_event_runs(tmp_path):
    """The context of a record tells who that is."""
    with ctf.Writer(
        tmp_path / "kernel",
        packet_context={"cpu_id": "u32"},
        event_context={"tid": "s32"},
        environment={"domain": "kernel"},
    ) as writer:
        kinds = dict.fromkeys(("prev_tid", "prev_state", "next_tid"), "s32")
        switched = writer.event_class("sched_switch", kinds)
        ended = writer.event_class("syscall_exit_read", {"ret": "s32"})
        stream = writer.stream("channel0_0", cpu_id=0)
        stream.write(switched, 100, {"tid": 5}, **switch(5, 0, SLEEPS))
        stream.write(ended, 150, {"tid": 5}, ret=1)
    trace = vestige.open(tmp_path / "kernel", debug_info=False)
    process = Process(None, None, trace.streams[0].trace.name)
    turns = trace.turns().of_thread(Thread(process=process, tid=5))

    assert states(turns) == [(100, BLOCKED), (150, RUNNING)]


def test_a_thread_of_another_pid_namespace_is_none_that_kernels_tell_of(tmp_path):
    """Though the one with its ID runs where one of them begins, or events were lost."""
    path = write_kernel_trace(tmp_path / "kernel", RECORDS)
    trace = vestige.open(path, debug_info=False)
    turns = trace.turns()
    name = trace.streams[0].trace.name

    def thread(namespace, begin, end):
        process = Process(None, None, name, namespace)
        return Thread(process=process, tid=5, begin=begin, end=end)

    for namespace, is_elsewhere in ((0, False), (1, True)):
        assert turns.is_elsewhere(thread(namespace, 105, 135)) is is_elsewhere
    assert turns.is_elsewhere(thread(0, 135, 145))
    assert not turns.is_elsewhere(thread(1, 105, 165))
    turns.losses = 1
    for namespace, is_elsewhere in ((0, False), (1, True)):
        assert turns.is_elsewhere(thread(namespace, 135, 145)) is is_elsewhere
        assert turns.is_elsewhere(thread(namespace, 105, 165)) is is_elsewhere
