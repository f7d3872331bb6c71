"""Calls that are left out: the tree is that of a program that never recorded them."""

from __future__ import annotations

import random

import pytest

import vestige
from support.call_traces import enter, leave, packet, write_calls
from vestige.analysis import CallNode, CallTree, Function, FunctionKind, call_tree
from vestige.analysis.calls import ThreadCalls
from vestige.analysis.functions import (
    AFTER_LOSS_FUNCTION,
    MERGED_FUNCTION,
    ROOT_FUNCTION,
)
from vestige.errors import SelectionError
from vestige.units import Nanoseconds

A, B, C, D = 0x1000, 0x2000, 0x3000, 0x4000


def tree_of(path, events):
    """Write a trace of one thread, and read it."""
    write_calls(path, {"s": [packet(events)]})
    return call_tree(vestige.open(path, debug_info=False))


def facts(node):
    """Return all counts of a tree, by path, whatever the order of callees."""
    return {
        callee.function.name: (
            callee.calls,
            callee.complete,
            callee.total,
            callee.self_time,
            callee.shortest,
            callee.longest,
            facts(callee),
        )
        for callee in node.callees.values()
    }


def rows(tree):
    """Return total and own time of each function."""
    return {
        one.function.address: (one.calls, one.total, one.self_time)
        for one in tree.functions()
    }


NESTED = [
    enter(100, A),
    enter(110, B),
    enter(120, C),
    leave(125),
    leave(140),
    enter(150, C),
    leave(153),
    leave(200),
]


def test_time_goes_to_the_caller(tmp_path):
    """And what was called goes there, too."""
    tree = tree_of(tmp_path / "trace", NESTED)
    before = rows(tree)
    chosen = tree.choose(exclude=["0x2000"])

    assert rows(chosen) == {A: (1, 100, 92), C: (2, 8, 8)}
    assert chosen.left_out_calls == 1
    [outer] = chosen.root().callees.values()
    assert [one.calls for one in outer.callees.values()] == [2]
    # The tree itself stays.
    assert rows(tree) == before
    assert tree.left_out_calls == 0


def test_what_has_no_caller_is_gone(tmp_path):
    """Its time is nobody's."""
    tree = tree_of(tmp_path / "trace", NESTED)
    chosen = tree.choose(include=["0x2000", "0x3000"])

    assert rows(chosen) == {B: (1, 30, 25), C: (2, 8, 8)}
    assert chosen.root().duration == 33


def test_choices_add_up(tmp_path):
    """A chosen tree may be chosen from."""
    tree = tree_of(tmp_path / "trace", NESTED)
    chosen = tree.choose(exclude=["0x2000"]).choose(exclude=["0x3000"])

    assert rows(chosen) == {A: (1, 100, 100)}
    assert chosen.left_out_calls == 3


def test_depth(tmp_path):
    """Deeper calls are left out; what is left out already does not count."""
    tree = tree_of(tmp_path / "trace", NESTED)

    assert rows(tree.choose(max_depth=1)) == {A: (1, 100, 100)}
    assert rows(tree.choose(max_depth=2)) == {
        A: (1, 100, 67),
        B: (1, 30, 30),
        C: (1, 3, 3),
    }
    assert rows(tree.choose(max_depth=3)) == rows(tree)
    assert rows(tree.choose(max_depth=1, exclude=["0x1000"])) == {
        B: (1, 30, 30),
        C: (1, 3, 3),
    }


def test_a_thread_without_calls_is_left_out(tmp_path):
    """As if it had recorded nothing."""
    streams = {
        "a": [packet(NESTED, vtid=5)],
        "b": [packet([enter(1, D), leave(2)], vtid=6)],
    }
    path = write_calls(tmp_path / "trace", streams)
    tree = call_tree(vestige.open(path, debug_info=False))

    assert [one.vtid for one in tree.choose(exclude=["0x4000"]).threads] == [5]
    assert tree.choose(include=["nothing"]).threads == []


def kept_events(calls, keeps):
    """Return entries and exits of those calls that are kept."""
    stack, events = [], []
    for time, function in calls:
        if function is not None:
            depth = sum(stack)
            stack.append(keeps(function, depth))
            if stack[-1]:
                events.append(enter(time, function))
        elif stack.pop():
            events.append(leave(time))
    return events


def random_calls(seed):
    """Return times with functions that are entered, or None for an exit."""
    chance = random.Random(seed)  # noqa: S311 - the same calls each time
    time, depth, calls = 100, 0, []
    for _ in range(400):
        time += chance.randrange(1, 30)
        if depth and chance.random() < 0.5:
            calls.append((time, None))
            depth -= 1
        else:
            calls.append((time, chance.choice([A, B, C, D])))
            depth += 1
    for _ in range(depth):
        time += 1
        calls.append((time, None))
    return calls


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("most", [None, 1, 3])
@pytest.mark.parametrize("left_out", [(), (B,), (A, C)])
def test_the_same_as_if_not_recorded(tmp_path, seed, most, left_out):
    """Recursion, repeated paths and calls without caller included."""
    calls = random_calls(seed)

    def keeps(function, depth):
        return function not in left_out and (most is None or depth < most)

    whole = tree_of(tmp_path / "whole", kept_events(calls, lambda *_: True))
    part = tree_of(tmp_path / "part", kept_events(calls, keeps))
    chosen = whole.choose(exclude=[f"0x{one:x}" for one in left_out], max_depth=most)

    assert facts(chosen.root()) == facts(part.root())
    assert rows(chosen) == rows(part)
    assert chosen.left_out_calls == (whole.events - part.events) // 2


def made_up(*callees, is_merged=False):
    """Return a tree of one thread with some calls."""
    root = CallNode(function=ROOT_FUNCTION)
    root.callees = {one.function: one for one in callees}
    thread = ThreadCalls(
        trace="",
        vpid=None,
        vtid=1,
        name=None,
        begin=Nanoseconds(0),
        end=Nanoseconds(9),
        root=root,
        unknown_exits=0,
        losses=0,
        exits_are_named=True,
    )
    return CallTree(threads=[thread], is_merged=is_merged)


def node(function, *callees, calls=1):
    """Return a node with calls of 5 ns each, of their own."""
    made = CallNode(function=function, calls=calls, complete=calls, self_time=5 * calls)
    made.shortest = made.longest = 5
    made.total = made.self_time + sum(one.duration for one in callees)
    made.callees = {one.function: one for one in callees}
    return made


def test_what_is_no_function_stays_while_it_has_calls():
    """No pattern chooses it, and it is no level."""
    f, g = Function("f"), Function("g")
    lost = CallNode(function=AFTER_LOSS_FUNCTION)
    lost.callees = {f: node(f, node(g))}
    tree = made_up(lost)

    [kept] = tree.choose(exclude=["f"], max_depth=1).root().callees.values()
    assert kept.function.kind is FunctionKind.AFTER_LOSS
    assert [one.name for one in kept.callees] == ["g"]
    assert kept.self_time == 0
    assert tree.choose(exclude=["f", "g"]).threads == []


def test_depth_is_refused_where_it_is_not_known():
    """Of calls on paths that have no nodes of their own."""
    f, g = Function("f"), Function("g")
    others = CallNode(function=MERGED_FUNCTION)
    others.callees = {f: node(f), g: node(g)}
    tree = made_up(others, is_merged=True)

    with pytest.raises(SelectionError, match="how deep their calls are"):
        tree.choose(max_depth=3)
    assert [one.function.name for one in tree.choose(exclude=["f"]).functions()] == [
        "g"
    ]


@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_that_is_none(depth):
    """It is refused."""
    with pytest.raises(SelectionError, match="at least 1"):
        made_up(node(Function("f"))).choose(max_depth=depth)


def test_deep_trees():
    """Nothing here calls itself."""
    inner = node(Function("f0"))
    for level in range(1, 20_000):
        inner = node(Function(f"f{level % 2}"), inner)
    chosen = made_up(inner).choose(exclude=["f1"])

    assert sum(one.calls for one in chosen.functions()) == 10_000
