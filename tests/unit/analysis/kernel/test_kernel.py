"""Traces of a kernel: what ran, what waited, system calls and interrupts."""

from __future__ import annotations

import vestige
from support.kernel_traces import write_kernel_trace
from vestige import ctf
from vestige.analysis.kernel import kernel_use

RECORDS = [
    # CPU, time, name, fields
    (0, 100, "sched_switch", {"prev_tid": 0, "next_tid": 5, "next_comm": "five"}),
    (1, 105, "sched_switch", {"prev_tid": 0, "next_tid": 6, "next_comm": "six"}),
    (0, 110, "syscall_entry_read", {"fd": 3}),
    (0, 120, "irq_handler_entry", {"irq": 19, "name": "ahci"}),
    (0, 124, "softirq_raise", {"vec": 3}),
    (0, 125, "irq_handler_exit", {"irq": 19}),
    (0, 126, "softirq_entry", {"vec": 3}),
    (0, 129, "softirq_exit", {"vec": 3}),
    (0, 130, "sched_switch", {"prev_tid": 5, "next_tid": 0, "next_comm": "swapper/0"}),
    (1, 140, "sched_waking", {"comm": "five", "tid": 5}),
    (1, 150, "sched_switch", {"prev_tid": 6, "next_tid": 5, "next_comm": "five"}),
    (1, 160, "syscall_exit_read", {"ret": 1}),
    (1, 161, "syscall_entry_read", {"fd": 3}),
    (1, 163, "syscall_exit_read", {"ret": 1}),
    (0, 170, "sched_waking", {"comm": "six", "tid": 6}),
    (0, 171, "sched_waking", {"comm": "six", "tid": 6}),  # woken again
    (0, 190, "sched_switch", {"prev_tid": 0, "next_tid": 6, "next_comm": "new"}),
    (1, 200, "sched_switch", {"prev_tid": 5, "next_tid": 0, "next_comm": "swapper/1"}),
    (0, 210, "sched_switch", {"prev_tid": 6, "next_tid": 0, "next_comm": "swapper/0"}),
]


def read(tmp_path, records=RECORDS):
    """Return what a trace of some records tells."""
    path = write_kernel_trace(tmp_path / "kernel", records)
    trace = vestige.open(path, debug_info=False)
    [found] = kernel_use(trace.streams)
    return found


def test_threads_run_between_switches(tmp_path):
    """On any CPU; what runs when nothing does is idle time."""
    found = read(tmp_path)

    assert [(one.cpu, one.running, one.idle, one.switches) for one in found.cpus] == [
        (0, 30 + 20, 60, 3),
        (1, 45 + 50, 0, 2),
    ]
    assert [
        (one.thread, one.name, one.running, one.turns) for one in found.threads
    ] == [
        (5, "five", 30 + 50, 2),
        (6, "new", 45 + 20, 2),
    ]


def test_woken_threads_wait(tmp_path):
    """From the last time that they were woken."""
    latencies = {one.thread: one.latencies for one in read(tmp_path).threads}

    assert (latencies[5].count, latencies[5].quantile(1)) == (1, 10)
    assert (latencies[6].count, latencies[6].quantile(1)) == (1, 19)


def test_new_threads_wait_from_their_first_wakeup(tmp_path):
    """Nobody wakes them before that, whether wakings are recorded or not."""
    new = [
        (0, 175, "sched_wakeup_new", {"comm": "new", "tid": 7}),
        (0, 220, "sched_switch", {"prev_tid": 6, "next_tid": 7, "next_comm": "new"}),
    ]
    found = read(tmp_path / "both", sorted([*RECORDS, *new], key=lambda one: one[1]))
    woken = [
        (0, 170, "sched_wakeup", {"comm": "six", "tid": 6}),
        *(one for one in RECORDS if one[2] != "sched_waking"),
    ]
    older = read(tmp_path / "older", sorted([*woken, *new], key=lambda one: one[1]))

    for one, others in ((found, 19), (older, 20)):
        latencies = {thread.thread: thread.latencies for thread in one.threads}
        assert latencies[7].quantile(1) == 45
        assert latencies[6].quantile(1) == others


def test_system_calls_and_interrupts(tmp_path):
    """A call goes with its thread to another CPU."""
    found = read(tmp_path)

    [call] = found.system_calls
    assert (call.rule.name, call.origin.thread) == ("syscall read", 5)
    assert (call.durations.count, call.total, call.incomplete) == (2, 50 + 2, 0)
    assert [one.total for one in found.calls_by_name()] == [52]
    [irq] = found.interrupts
    assert (irq.name, irq.total) == ("irq 19 ahci", 5)
    assert [(one.name, one.total) for one in found.soft_interrupts] == [
        ("softirq 3 NET_RX", 3)
    ]
    assert [one.total for one in found.raised] == [2]


def test_soft_interrupts_have_a_prefix_in_newer_traces(tmp_path):
    """They are the same ones."""
    records = [
        (cpu, time, f"irq_{name}" if name.startswith("softirq_") else name, fields)
        for cpu, time, name, fields in RECORDS
    ]
    found = read(tmp_path, records)

    assert [(one.name, one.total) for one in found.soft_interrupts] == [
        ("softirq 3 NET_RX", 3)
    ]
    assert [one.total for one in found.raised] == [2]


def test_traces_of_programs_are_none(tmp_path):
    """They are left alone."""
    path = write_kernel_trace(tmp_path / "t", [(0, 1, "app:event", {"n": 1})])

    assert kernel_use(vestige.open(path, debug_info=False).streams) == []


def test_a_thread_that_executes_a_program_has_its_name(tmp_path):
    """It has been that program since, though nobody has switched to it."""
    fields = ("prev_tid", "prev_comm", "next_tid", "next_comm")
    records = [
        (0, 1, "sched_switch", dict(zip(fields, (0, "idle", 5, "sh"), strict=True))),
        (0, 9, "sched_switch", dict(zip(fields, (5, "ls", 0, "idle"), strict=True))),
    ]
    [thread] = read(tmp_path, records).threads

    assert (thread.thread, thread.name, thread.running) == (5, "ls", 8)


def test_system_calls_are_shown_without_switches(tmp_path):
    """Nobody knows then who ran; the state dump has names."""
    kernel = {"domain": "kernel"}
    with ctf.Writer(
        tmp_path, environment=kernel, event_context={"tid": "s32"}
    ) as writer:
        cpu = writer.stream("channel0_0")
        fields = {"tid": "s32", "name": str}
        state = writer.event_class("lttng_statedump_process_state", fields)
        entry = writer.event_class("syscall_entry_read", {"fd": "s32"})
        leaving = writer.event_class("syscall_exit_read", {"ret": "s32"})
        cpu.write(state, 1, {"tid": 1}, tid=5, name="cat")
        cpu.write(entry, 2, {"tid": 5}, fd=3)
        cpu.write(leaving, 6, {"tid": 5}, ret=1)
    [found] = kernel_use(vestige.open(tmp_path, debug_info=False).streams)

    assert found.cpus == []
    assert [(one.thread, one.name) for one in found.threads] == [(5, "cat")]
    assert [(one.name, one.total) for one in found.calls_by_name()] == [
        ("syscall read", 4)
    ]
