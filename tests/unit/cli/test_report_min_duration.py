"""`vestige report --min-duration`: calls that are shorter are left out."""

from __future__ import annotations

import json

import pytest

import vestige
from support.call_traces import enter, leave, packet, write_calls
from support.recordings import DATA

A, B, C = 0x1000, 0x2000, 0x3000
EVENTS = [
    enter(100, A),
    enter(110, B),
    enter(112, C),
    leave(114),
    leave(115),
    enter(120, B),
    leave(140),
    enter(150, C),
    enter(151, B),
    leave(152),
    leave(160),
    leave(200),
]


@pytest.fixture
def trace(tmp_path):
    """Return a trace of two threads; calls of the second take 5 ns at most."""
    second = [enter(300, C), enter(301, A), leave(303), leave(305)]
    streams = {"a": [packet(EVENTS, vtid=5)], "b": [packet(second, vtid=6)]}
    return write_calls(tmp_path / "trace", streams)


def report(run, *words):
    """Return the report as JSON, and calls, total and own time by address."""
    status, text, errors = run("report", "--json", *words)
    assert (status, errors) == (0, "")
    facts = json.loads(text)
    return facts, {
        one["address"]: (one["calls"], one["total_ns"], one["self_ns"])
        for one in facts["functions"]
    }


@pytest.mark.parametrize(
    ("least", "expected", "left_out"),
    [
        ("0ns", {A: (2, 102, 67), B: (3, 26, 24), C: (3, 17, 14)}, 0),
        ("5ns", {A: (1, 100, 65), B: (2, 25, 25), C: (2, 15, 15)}, 3),
        ("6ns", {A: (1, 100, 70), B: (1, 20, 20), C: (1, 10, 10)}, 5),
        ("20ns", {A: (1, 100, 80), B: (1, 20, 20)}, 6),
        ("0.1us", {A: (1, 100, 100)}, 7),
    ],
)
def test_time_of_short_calls_is_that_of_their_callers(
    run, trace, least, expected, left_out
):
    """And their number is told; threads without any other call are left out."""
    facts, functions = report(run, f"--min-duration={least}", trace)

    assert functions == expected
    assert facts["left_out_calls"] == left_out
    assert facts["events"] == 16
    threads = [one["vtid"] for one in facts["threads"]]
    assert threads == ([5, 6] if left_out < 5 else [5])


def test_people_are_told_how_many_calls_are_left_out(run, trace):
    """And whose time theirs is."""
    status, text, errors = run("report", "--min-duration=20ns", trace)

    assert (status, errors) == (0, "")
    assert text.startswith("2 calls in 1 thread, over 100 ns\n")
    assert "6 calls left out as asked: their time is that of their callers" in text


def test_what_is_called_by_a_short_call_has_its_caller(run, tmp_path):
    """A call may be longer than its caller where that has no exit."""
    events = [enter(0, A), enter(10, B), enter(11, C), leave(41), leave(42), leave(99)]
    path = write_calls(tmp_path / "trace", {"s": [packet(events)]})
    facts, _ = report(run, "--tree", "--min-duration=31ns", path)
    assert [(one["address"], one["caller"]) for one in facts["tree"]] == [
        (A, None),
        (B, 0),
    ]


def test_calls_that_lack_an_end_count_when_they_lasted_long_enough(run, tmp_path):
    """As far as that is known."""
    events = [enter(100, C), leave(105), leave(150), enter(160, A), enter(190, B)]
    path = write_calls(tmp_path / "trace", {"s": [packet(events)]})
    facts, functions = report(run, "--min-duration=30ns", path)

    assert functions == {A: (1, 30, 30)}
    assert (facts["left_out_calls"], facts["threads"][0]["unknown_exits"]) == (2, 1)


def test_together_with_an_expression_both_must_hold(run, trace):
    """Calls that the expression leaves out are not among those that are too short."""
    words = ["--min-duration=5ns", "--filter", f"addr != {B}", trace]
    facts, functions = report(run, *words)

    assert functions == {A: (1, 100, 90), C: (2, 15, 15)}
    assert facts["left_out_calls"] == 2


def test_together_with_functions_the_rest_is_left_out_too(run, trace):
    """Both are counted."""
    facts, functions = report(run, "--min-duration=5ns", "--max-depth=1", trace)

    assert functions == {A: (1, 100, 100), C: (1, 5, 5)}
    assert facts["left_out_calls"] == 6


def test_in_a_range_of_time_how_long_a_call_lasts_is_known(run, trace, tmp_path):
    """Its time is that in the range, as without the option.

    Calls that the range cuts are chosen by how long they last as a whole.
    """
    packets = [packet(EVENTS[:6]), packet(EVENTS[6:], sequence=1)]
    path = write_calls(tmp_path / "other", {"s": packets})
    words = ["--begin=0.000000115", "--end=0.000000155"]
    for one in (path, trace):
        whole, all_functions = report(run, *words, one)
        facts, functions = report(run, "--min-duration=10ns", *words, one)

        # One of B ends where the range begins: nothing of it is in there.
        assert all_functions == {A: (1, 40, 15), B: (2, 21, 21), C: (1, 5, 4)}
        assert functions == {A: (1, 40, 15), B: (1, 20, 20), C: (1, 5, 5)}
        assert facts["events"] == whole["events"] == 6


def test_if_all_calls_are_shorter_that_is_an_error(run, trace):
    """It says how long they had to be."""
    assert run("report", "--min-duration=1s", trace) == (
        3,
        "",
        f"vestige: error: {trace}: none of the calls takes 1.000 s or longer\n",
    )


def test_a_trace_without_calls_is_the_error_that_it_always_is(run):
    """With no word of the option."""
    status, text, errors = run("report", "--min-duration=1s", DATA / "hello")

    assert (status, text) == (3, "")
    assert "no entries or exits of functions: compile the program" in errors
    assert "warning" not in errors


def test_python_leaves_short_calls_out_too(trace):
    """In nanoseconds."""
    tree = vestige.open(trace).call_tree(min_duration=20)

    calls = {one.function.address: one.calls for one in tree.functions()}
    assert (calls, tree.left_out_calls) == ({A: 1, B: 1}, 6)
