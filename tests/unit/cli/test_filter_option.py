"""`--filter`: events and calls of which an expression is true."""

from __future__ import annotations

import json

import pytest

import vestige
from support.call_traces import enter, leave, packet, state, write_calls
from support.ctf_writer import Event
from support.recordings import DEMO
from vestige import ctf
from vestige.components.filters.debug_info import DebugInfoOptions

READERS = ["view", "export", "report", "debuginfo", "check"]
WITHOUT_PLACES = "$ctx.debug_info.func == 'main*'"
OUTER, MIDDLE, INNER = 0x1000, 0x1100, 0x1200


@pytest.fixture
def orders(tmp_path):
    """A trace of ten orders in packets of two."""
    with ctf.Writer(
        tmp_path / "orders", packet_context={"cpu_id": "u32"}, packet_size=1024
    ) as writer:
        order = writer.event_class("shop:order", {"price": "u32", "item": str})
        stream = writer.stream("one", cpu_id=0)
        for n in range(10):
            if n % 2 == 0:
                stream.flush()
                stream.set_packet_context(cpu_id=n // 2)
            stream.write(order, n, price=10 * n, item=f"item {n % 3}")
    return tmp_path / "orders"


def exported(run, *words):
    """Return the prices that `vestige export` writes."""
    status, text, errors = run("export", "--to", "jsonl", *words)
    assert (status, errors) == (0, "")
    return [json.loads(line)["price"] for line in text.splitlines()]


def test_only_events_that_pass_are_shown(run, orders):
    """Of several expressions all must be true; packets have contexts of their own."""
    text = run("view", "--filter", "price >= 50 && item == '*1'", orders)[1]
    assert (len(text.splitlines()), text.count("70")) == (1, 1)
    assert exported(run, "--filter", "price > 70", orders) == [80, 90]
    both = ["--filter", "price > 20", "--filter", "item == '*0'", orders]
    assert exported(run, *both) == [30, 60, 90]
    assert exported(run, "--filter", "$ctx.cpu_id == 3", orders) == [60, 70]
    assert exported(run, "-e", "*:order", "--filter", "price < 5", orders) == [0]


def test_places_can_be_named_where_they_are_shown(run):
    """By the structure that the debug-info filter adds."""
    words = ["--debug-info-target-prefix", DEMO / "root", DEMO / "trace"]
    words = ["view", "--debug-info-dir", DEMO / "debug", *words]
    text = run(*words, "--filter", "$ctx.debug_info.func == 'discount+*'")[1]
    lines = text.splitlines()

    assert lines
    assert all(" discount at discount.c:" in line for line in lines)
    status, _, errors = run(*words, "--no-debug-info", "--filter", WITHOUT_PLACES)
    assert status == 2
    assert "no selected event has the context 'debug_info'" in errors


def test_places_can_be_named_in_columns_and_from_python(run):
    """As in what is shown; without debug information there are none."""
    expression = "$ctx.debug_info.func == 'discount+*'"
    words = ["--debug-info-target-prefix", DEMO / "root", DEMO / "trace"]
    words = ["--to", "jsonl", "--filter", expression, *words]
    places = ["--debug-info", "--debug-info-dir", DEMO / "debug"]
    status, text, errors = run("export", *places, *words)
    rows = [json.loads(line) for line in text.splitlines()]
    assert (status, errors) == (0, "")
    assert rows
    assert all(one["debug_info"]["func"].startswith("discount+") for one in rows)
    status, _, errors = run("export", *words)
    assert status == 2
    assert "no selected event has the context 'debug_info'" in errors

    options = DebugInfoOptions(
        debug_directories=(DEMO / "debug",), target_prefixes=(("/", DEMO / "root"),)
    )
    trace = vestige.open(DEMO / "trace", debug_info=options)
    chosen = trace.events(where=expression)
    assert expression in repr(chosen)
    assert {one.debug_info.function for one in chosen} == {"discount"}
    assert sum(chosen.counts().values()) == len(rows)


@pytest.mark.parametrize("verb", READERS)
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("adr > 3", "no selected event has a field 'adr'; there are addr"),
        (
            "vtid > 3",
            "no selected event has a field 'vtid'; the context is '$ctx.vtid'",
        ),
        ("addr >", "filter 'addr >', column 7: expected a field"),
    ],
)
def test_a_filter_that_makes_no_sense_is_wrong_usage(
    run, verb, expression, expected, calls
):
    """In every verb, with what is wrong."""
    words = ["--to", "csv"] if verb == "export" else []
    status, _, errors = run(verb, *words, "--filter", expression, calls)

    assert status == 2
    assert expected in errors


@pytest.fixture
def calls(tmp_path):
    """Two threads with three functions that call each other."""
    dump = [state(100, "start"), state(200, "bin_info", 0x1000, "/opt/app")]
    nested = [
        enter(1000, OUTER),
        enter(1100, MIDDLE),
        enter(1300, INNER),
        leave(1400),
        enter(1500, INNER),
        leave(1800),
        leave(2000),
        leave(3000),
    ]
    later = [Event(one.timestamp + 5000, one.payload, one.id) for one in nested]
    streams = {
        "a": [packet([*dump, *nested], vtid=5)],
        "b": [packet(later, vtid=6)],
    }
    return write_calls(tmp_path / "calls", streams)


def report(run, trace, *filters):
    """Return calls, total and own time of each function, by its address."""
    words = [word for one in filters for word in ("--filter", one)]
    status, text, errors = run("report", "--json", *words, trace)
    assert (status, errors) == (0, "")
    found = json.loads(text)
    functions = {
        int(one["address"], 0) if isinstance(one["address"], str) else one["address"]: (
            one["calls"],
            one["complete"],
            one["total_ns"],
            one["self_ns"],
        )
        for one in found["functions"]
    }
    return functions, [one["vtid"] for one in found["threads"]]


def test_calls_are_chosen_by_their_entries(run, calls):
    """The time of others is that of their callers, as if they were not recorded."""
    whole = {OUTER: (2, 2, 4000, 2200), MIDDLE: (2, 2, 1800, 1000)}
    inner = {INNER: (4, 4, 800, 800)}

    assert report(run, calls) == ({**whole, **inner}, [5, 6])
    without = {OUTER: (2, 2, 4000, 3200), INNER: (4, 4, 800, 800)}
    assert report(run, calls, f"addr != {MIDDLE}") == (without, [5, 6])
    assert report(run, calls, f"addr == {INNER}") == (inner, [5, 6])
    outside = {OUTER: (2, 2, 4000, 2200), MIDDLE: (2, 2, 1800, 1800)}
    assert report(run, calls, f"addr < {INNER}") == (outside, [5, 6])


def test_calls_of_a_thread(run, calls):
    """Its packets tell which it is; other threads are not in the report."""
    functions, threads = report(run, calls, "$ctx.vtid == 6", f"addr == {INNER}")

    assert (functions, threads) == ({INNER: (2, 2, 400, 400)}, [6])
