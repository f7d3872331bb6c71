"""States by rules: each lasts from the event that sets it to the one that changes it."""

from __future__ import annotations

import vestige
from support.call_traces import enter, leave, packet, write_calls
from vestige.analysis.intervals import State, StateTimeline

A, B = 0x1000, 0x2000


def state(of, name, begin, end, *, is_complete=True):
    """Return a state."""
    return State(of=of, state=name, begin=begin, end=end, is_complete=is_complete)


def test_states_follow_a_rule(tmp_path):
    """One event may change several; the same state again is none."""
    events = [
        enter(10, A),
        leave(20),
        enter(30, B),
        enter(40, B),
        leave(50),
        enter(60, A),
    ]
    trace = vestige.open(write_calls(tmp_path / "trace", {"s": [packet(events)]}))

    def rule(event):
        if event.name.endswith("exit"):
            return [("cpu", None), ("lock", "free")]
        if event["addr"] == B:
            return [("cpu", "busy"), ("lock", "held")]
        return "cpu", "awake"

    assert list(trace.states(lambda _: None)) == []
    assert list(trace.states(rule)) == [
        state("cpu", "awake", 10, 20),
        state("lock", "free", 20, 30),
        state("cpu", "busy", 30, 50),
        state("lock", "held", 30, 50),
        state("lock", "free", 50, 60, is_complete=False),
        state("cpu", "awake", 60, 60, is_complete=False),
    ]
    part = list(trace.states(rule_of_entries, begin=25, end=45))
    assert part == [state("cpu", B, 30, 40, is_complete=False)]


def rule_of_entries(event):
    """Say that the CPU is in the function that was entered last."""
    return ("cpu", event["addr"]) if event.name.endswith("entry") else None


def test_states_on_a_timeline():
    """Each level has all of their time, however many share a block."""
    found = [
        state(
            "cpu 0", ("idle", "busy")[number % 2], 5000 * number, 5000 * number + 5000
        )
        for number in range(1000)
    ]
    found.append(state("cpu 1", "idle", 100, 5_000_100, is_complete=False))
    timeline = StateTimeline(found)
    counts = [count for _, count in timeline.levels]

    assert (timeline.rows, timeline.names) == (["cpu 0", "cpu 1"], ["idle", "busy"])
    assert (timeline.begin, timeline.end) == (0, 5_000_100)
    assert counts == sorted(counts, reverse=True)
    assert counts[0] <= 5_000_000 // 16_000 + 2
    for level, count in enumerate(counts):
        data = timeline.blocks(level, 0, timeline.end)
        assert len(data) == 39 * count
        busy = memoryview(data)[31 * count :].cast("Q")
        assert sum(busy) == 10_000_000
