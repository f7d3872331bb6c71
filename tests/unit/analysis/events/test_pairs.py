"""Pairs: what begins and ends, matched by thread, CPU or ID."""

from __future__ import annotations

import pytest

import vestige
from vestige import ctf
from vestige.analysis.events import event_table

CONTEXTS = {"vpid": "s32", "vtid": "s32"}


def pairs_of(path):
    """Return the pairs of a trace by name."""
    table = event_table(vestige.open(path, debug_info=False))
    return {one.name: one for one in table.pairs}


def facts(one):
    """Return what is compared."""
    return one.durations.count, one.total, one.no_end, one.no_begin, one.across_loss


@pytest.fixture
def writer(tmp_path):
    """Return a writer of a trace whose records name their threads."""
    with ctf.Writer(
        tmp_path / "trace",
        packet_context={"cpu_id": "u32"},
        event_context=CONTEXTS,
    ) as writer:
        yield writer


def test_pairs_are_matched_by_thread(writer, tmp_path):
    """Also if the thread moves; what is open or unknown is counted apart."""
    names = (
        "app:work_begin",
        "app:work_end",
        "app:x_entry",
        "app:x_exit",
        "app:lone_begin",
    )
    begin, end, entry, leave, lone = (writer.event_class(name) for name in names)
    one, two = ({"vpid": 7, "vtid": vtid} for vtid in (7, 8))
    streams = [writer.stream(f"cpu{cpu}", cpu_id=cpu) for cpu in range(2)]
    streams[0].write(begin, 10, one)
    streams[0].write(begin, 11, two)
    streams[0].write(begin, 12, two)  # within the first
    streams[1].write(end, 15, two)
    streams[0].write(end, 20, two)
    streams[1].write(end, 30, one)
    streams[0].write(end, 40, one)
    streams[0].write(entry, 50, one)
    streams[1].write(leave, 51, two)
    streams[0].write(lone, 60, one)
    writer.close()

    pairs = pairs_of(tmp_path / "trace")

    assert list(pairs) == ["app:work", "app:x"]
    assert facts(pairs["app:work"]) == (3, 20 + 9 + 3, 0, 1, 0)
    assert facts(pairs["app:x"]) == (0, 0, 1, 1, 0)
    [long, middle, _] = pairs["app:work"].durations.longest
    assert (long.begin, long.end, long.thread.tid) == (10, 30, 7)
    assert (middle.begin, middle.duration, middle.origin.thread) == (11, 9, 8)
    assert pairs["app:work"].durations.quantile(0.5) == 9


def test_system_calls_go_by_the_thread_that_runs(tmp_path):
    """As switches say; a call that ends on another CPU is of the same thread."""
    with ctf.Writer(
        tmp_path / "trace",
        packet_context={"cpu_id": "u32"},
        environment={"domain": "kernel"},
    ) as writer:
        switch = writer.event_class(
            "sched_switch", {"prev_tid": "s32", "next_tid": "s32", "next_comm": str}
        )
        enter = writer.event_class("syscall_entry_read", {"fd": "u32"})
        leave = writer.event_class("syscall_exit_read", {"ret": "s64"})
        irq = writer.event_class("irq_handler_entry", {"irq": "s32"})
        handled = writer.event_class("irq_handler_exit", {"irq": "s32"})
        first, second = (writer.stream(f"c_{cpu}", cpu_id=cpu) for cpu in range(2))
        first.write(switch, 10, prev_tid=0, next_tid=5, next_comm="five")
        first.write(enter, 11, fd=1)
        first.write(switch, 12, prev_tid=5, next_tid=6, next_comm="six")
        first.write(enter, 13, fd=1)
        first.write(irq, 14, irq=3)
        first.write(handled, 16, irq=3)
        second.write(switch, 20, prev_tid=0, next_tid=5, next_comm="five")
        second.write(leave, 31, ret=0)
        first.write(leave, 33, ret=0)

    pairs = pairs_of(tmp_path / "trace")

    read = pairs["syscall read"]
    assert facts(read) == (2, 20 + 20, 0, 0, 0)
    assert {long.origin.thread for long in read.durations.longest} == {5, 6}
    assert facts(pairs["irq_handler"]) == (1, 2, 0, 0, 0)


def test_a_loss_makes_what_is_open_uncertain(writer, tmp_path):
    """Its end may be that of another one."""
    begin, end = (writer.event_class(f"app:work_{name}") for name in ("begin", "end"))
    stream = writer.stream("cpu0", cpu_id=0)
    me = {"vpid": 7, "vtid": 7}
    stream.write(begin, 1, me)
    stream.write(end, 4, me)
    stream.write(begin, 5, me)
    stream.flush()
    stream.discard(2)
    stream.write(end, 9, me)
    writer.close()

    assert facts(pairs_of(tmp_path / "trace")["app:work"]) == (1, 3, 0, 0, 1)


def test_spans_go_by_their_id(writer, tmp_path):
    """Two of the same name at once, the second ended by another thread."""
    entry = writer.event_class(
        "app:fetch_entry", {"span_id": "u64", "parent_id": "u64", "task": "u64"}
    )
    leave = writer.event_class(
        "app:fetch_exit", {"span_id": "u64", "error": str, "waited": "u64"}
    )
    stream = writer.stream("cpu0", cpu_id=0)
    one, two = ({"vpid": 7, "vtid": vtid} for vtid in (7, 8))
    stream.write(entry, 1, one, span_id=1, parent_id=0, task=0)
    stream.write(entry, 2, one, span_id=2, parent_id=0, task=0)
    stream.write(leave, 11, one, span_id=1, error="", waited=0)
    stream.write(leave, 22, two, span_id=2, error="", waited=0)
    writer.close()

    found = pairs_of(tmp_path / "trace")["app:fetch"]

    assert facts(found) == (2, 10 + 20, 0, 0, 0)
    assert [one.duration for one in found.durations.longest] == [20, 10]
