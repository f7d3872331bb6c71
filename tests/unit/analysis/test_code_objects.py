"""Calls of functions that the trace describes itself, once for each code object."""

from __future__ import annotations

import vestige
from support.call_traces import code, enter, leave, packet, state, write_calls
from support.ctf_writer import Packet
from vestige import core
from vestige.analysis import call_tree
from vestige.graph import mux

A, B, C = (1 << 47) + 0x1000, (1 << 47) + 0x2000, (1 << 47) + 0x3000
OBJECT = 0x5000


def read(path):
    """Rebuild the calls of a trace."""
    return call_tree(vestige.open(path, debug_info=False))


def one_thread(tmp_path, events):
    """Write and read a trace of one thread and one packet."""
    return read(write_calls(tmp_path / "trace", {"s": [packet(events)]}))


def called(tree):
    """Return the number of calls by name and place."""
    return {
        (one.function.name, one.function.source): one.calls for one in tree.functions()
    }


def test_equal_functions_at_different_addresses_are_one(tmp_path):
    """A program may make the same function again and again."""
    events = []
    for number in range(50):
        base = A + number * 0x1000
        start = 100 + number * 10
        events += [code(start, base, "f"), enter(start + 1, base), leave(start + 4)]
    tree = one_thread(tmp_path, events)
    (found,) = tree.functions()

    assert called(tree) == {("f", "/srv/app.py:1"): 50}
    assert (found.total, found.shortest, found.longest) == (150, 3, 3)
    assert found.function.address == A
    assert (tree.events, tree.other_events) == (100, 50)
    assert len(tree.threads[0].root.callees) == 1


def test_python_sees_each_function_once(tmp_path):
    """Without a stop at any event, so that code objects cost little."""
    events = []
    for number in range(50):
        base = A + number * 0x1000
        events += [code(100, base, "f"), enter(100, base), leave(100)]
    path = write_calls(tmp_path / "trace", {"s": [packet(events)]})
    entry, told = "lttng_ust_cyg_profile_fast:func_entry", "vestige_python:code"
    fold = core.CallFold([entry], [], [], code_events=[told])
    for merge in mux(vestige.open(path, debug_info=False).streams):
        fold.begin(merge)
        assert fold.advance() is None

    assert fold.take_functions() == [(0, 77, A, (A, 0x1000, "/srv/app.py", "f", 1))]


def test_a_fold_goes_as_far_as_it_is_asked(tmp_path):
    """What is told later is not known yet; going back does nothing."""
    events = [code(100, A, "one"), code(101, A, "two"), code(102, B, "three")]
    path = write_calls(tmp_path / "trace", {"s": [packet(events)]})
    fold = core.CallFold([], [], [], code_events=["vestige_python:code"])
    (merge,) = mux(vestige.open(path, debug_info=False).streams)
    fold.begin(merge)
    found = []
    for end in (0, 1, 2, 1, 1000):
        fold.advance(end)
        code_at = fold.find_code(0, 77, A + 5)
        found.append((code_at and code_at[3], fold.find_code(0, 77, B) is not None))

    assert found == [
        (None, False),
        ("one", False),
        ("two", False),
        ("two", False),
        ("two", True),
    ]
    assert fold.forget_codes(0, 77)
    assert not fold.forget_codes(0, 77)
    assert fold.find_code(0, 77, A) is None


def test_functions_differ_by_name_line_or_file(tmp_path):
    """Nothing else tells them apart, and nothing less does."""
    codes = [
        code(100, A, "f"),
        code(101, B, "f", 2),
        code(102, C, "f", path="/srv/b.py"),
        code(103, C + 0x1000, "g", path="/srv/b.py"),
    ]
    calls = [
        event
        for number in range(4)
        for event in (enter(110 + number, A + number * 0x1000), leave(110 + number))
    ]
    assert called(one_thread(tmp_path, codes + calls)) == {
        ("f", "/srv/app.py:1"): 1,
        ("f", "/srv/app.py:2"): 1,
        ("f", "/srv/b.py:1"): 1,
        ("g", "/srv/b.py:1"): 1,
    }


def test_an_address_that_is_told_again_is_another_function_from_then_on(tmp_path):
    """Before it is told, it is unknown; and what is open keeps its name."""
    events = [
        enter(90, A),
        leave(95),
        code(100, A, "first"),
        enter(110, A),
        code(120, A, "second"),
        enter(130, A),
        leave(140),
        leave(150),
        enter(160, A),
        leave(170),
        code(180, A - 0x800, "third"),
        enter(190, A),
        leave(200),
    ]
    tree = one_thread(tmp_path, events)
    by_name = {one.function.name: one for one in tree.functions()}

    assert {name: one.calls for name, one in by_name.items()} == {
        f"0x{A:x}": 1,
        "first": 1,
        "second": 2,
        "third+0x800": 1,
    }
    assert (by_name["first"].total, by_name["second"].total) == (40, 20)


def test_processes_have_addresses_of_their_own(tmp_path):
    """The same function in two is one, whatever is there in the other."""
    first = [code(100, A, "f"), code(101, B, "g"), enter(110, A), leave(120)]
    second = [code(105, B, "f"), enter(130, B), leave(135), enter(140, A), leave(141)]
    streams = {"a": [packet(first)], "b": [packet(second, vpid=78, vtid=2)]}
    tree = read(write_calls(tmp_path / "trace", streams))

    assert called(tree) == {("f", "/srv/app.py:1"): 2, (f"0x{A:x}", None): 1}


def test_a_state_dump_forgets_code_and_ends_calls(tmp_path):
    """As after exec: another program tells of the same addresses."""
    events = [
        state(100, "start", vtid=1),
        code(101, A, "one", vtid=1),
        enter(110, A, vtid=1),
        state(200, "start", vtid=1),
        enter(205, A, vtid=1),
        leave(206, A, vtid=1),
        code(210, A, "two", vtid=1),
        enter(220, A, vtid=1),
        leave(225, A, vtid=1),
    ]
    facts = {"contexts": True, "per_thread": False}
    whole = Packet(events, context=bytes(4))
    tree = read(write_calls(tmp_path / "trace", {"s": [whole]}, **facts))
    found = {one.function.name: one for one in tree.functions()}

    assert set(found) == {"one", "two", f"0x{A:x}"}
    assert (found["one"].no_exit, found["two"].complete) == (1, 1)
    assert len(tree.root().callees) == 3


def test_objects_and_code_share_a_process(tmp_path):
    """An object that is mapped over code takes its addresses."""
    events = [
        state(100, "start"),
        state(100, "bin_info", OBJECT, "/bin/app"),
        code(101, A, "f"),
        enter(110, OBJECT + 1),
        enter(111, A),
        leave(112),
        leave(113),
        state(120, "load", A, "/lib/one.so"),
        enter(130, A),
        leave(131),
    ]
    assert called(one_thread(tmp_path, events)) == {
        ("app+0x1", None): 1,
        ("f", "/srv/app.py:1"): 1,
        ("one.so+0x0", None): 1,
    }


def test_what_is_ill_formed_or_odd_is_no_reason_to_fail(tmp_path):
    """No name, no line, bytes that are no UTF-8, and addresses up to the last."""
    last = (1 << 64) - 1
    events = [
        code(100, A, ""),
        code(101, B, "built-in", 0, path="math"),
        code(102, C, "f\udcff", path="/srv/\udcfe.py"),
        code(103, last, "end"),
    ]
    for number, address in enumerate((A, B, C, last)):
        events += [enter(110 + number, address), leave(110 + number)]
    assert called(one_thread(tmp_path, events)) == {
        (f"0x{A:x}", None): 1,
        ("built-in", None): 1,
        ("f\udcff", "/srv/\udcfe.py:1"): 1,
        ("end", "/srv/app.py:1"): 1,
    }
