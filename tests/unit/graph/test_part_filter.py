"""Filters before a muxer, which see a part of what is merged."""

from __future__ import annotations

import re
from contextlib import ExitStack
from itertools import pairwise
from uuid import UUID

import pytest

from support.recordings import DATA, DEMO
from vestige.components.registry import Registry
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.errors import SelectionError
from vestige.graph import run_graphs
from vestige.graph.lowering import lower
from vestige.graph.plan import ComponentSpec, Connection, Plan

SHOP = str(DEMO / "trace")
CALLS = str(DATA / "recording-1")
DEBUG_INFO, EVENTS, LONG = (
    "filter.lttng-utils.debug-info",
    "filter.vestige.events",
    "filter.vestige.calls",
)
SHOP_FILES = {
    "debug-info-dir": str(DEMO / "debug"),
    "target-prefix": str(DEMO / "root"),
}


class Seen:
    """A sink that keeps what it sees of each trace."""

    looks_at_records = True

    def __init__(self):
        self.events = []

    def consume(self, merge):
        """Keep the trace, the place in the file, and the fields that were added."""
        for event in merge.events():
            added = {name: event[name] for name in ("a", "b") if name in event}
            self.events.append((event.stream.trace.index, event.file_offset, added))

    def finish(self):
        """Nothing is left to do."""


def part(name, class_name="filter.utils.muxer", **params):
    """Return a component."""
    return ComponentSpec(name, class_name, params)


def run(*rows, path=SHOP):
    """Read a trace for each row of filters, and return what comes out of a muxer."""
    parts = [part("mux"), part("out", "sink.utils.dummy")]
    connections = ["mux:out"]
    for number, row in enumerate(rows):
        names = [f"in{number}", *(one.name for one in row), "mux"]
        if row:
            parts.append(part(f"x{number}"))
            names.insert(1, f"x{number}")
        parts.append(part(names[0], "source.ctf.fs", inputs=[path]))
        parts += row
        connections += [":".join(two) for two in pairwise(names)]
    sink = Seen()
    plan = Plan(parts, [Connection.parse(one) for one in connections])
    with ExitStack() as resources:
        makers = {"out": lambda *_: sink}
        assert run_graphs(lower(plan, Registry(), resources, makers=makers)) == []
    return sink.events


def of_trace(events, number):
    """Return what was seen of a trace, without its number."""
    return [rest for trace, *rest in events if trace == number]


def test_fields_are_added_to_a_part():
    """Two filters that give their fields one name, or several behind each other."""
    full = {"debug-info-field-name": "a", "full-path": True, **SHOP_FILES}
    short = {"debug-info-field-name": "a", **SHOP_FILES}
    other = {"debug-info-field-name": "b", **SHOP_FILES}
    rows = [
        [part("full", DEBUG_INFO, **full)],
        [part("short", DEBUG_INFO, **short), part("other", DEBUG_INFO, **other)],
        [],
    ]
    together = run(*rows)
    alone = [run(row) for row in rows]

    assert len(together) == sum(map(len, alone))
    for number, expected in enumerate(alone):
        assert of_trace(together, number) == of_trace(expected, 0)
    bins = {
        number: {added["a"]["bin"] for _, added in of_trace(together, number) if added}
        for number in (0, 1)
    }
    assert all(one.startswith("/") for one in bins[0] - {""})
    assert not any(one.startswith("/") for one in bins[1])
    assert {"a", "b"} == set().union(*(added for _, added in of_trace(together, 1)))
    assert not any(added for _, added in of_trace(together, 2))


def test_short_calls_are_hidden_in_a_part():
    """In the other they stay."""
    rows = [[part("long", LONG, **{"least-ns": 1_000_000})], []]
    together = run(*rows, path=CALLS)
    alone = [run(row, path=CALLS) for row in rows]

    for number, expected in enumerate(alone):
        assert of_trace(together, number) == of_trace(expected, 0)
    assert 0 < len(alone[0]) < len(alone[1])


def test_each_part_has_its_own_expressions():
    """While it is read."""
    rows = [
        [part("dear", EVENTS, expressions=["before > 1000"])],
        [part("cheap", EVENTS, expressions=["before <= 1000"])],
        [],
    ]
    together = run(*rows)
    alone = [run(row) for row in rows]

    for number, expected in enumerate(alone):
        assert of_trace(together, number) == of_trace(expected, 0)
        assert expected
    assert len({len(one) for one in alone}) == len(rows)


def test_expressions_may_be_on_what_filters_added():
    """One of several; the others are known while the trace is read."""
    named = part("named", DEBUG_INFO, **{"debug-info-field-name": "a"}, **SHOP_FILES)
    late, early = '$ctx.a.func == "discount+*"', "before > 1000"
    found = run([named, part("some", EVENTS, expressions=[late, early])])
    dear = run([named, part("some", EVENTS, expressions=[early])])

    assert found == [one for one in dear if one[2]["a"]["func"][:9] == "discount+"]
    assert found != run([named, part("some", EVENTS, expressions=[late])]) != []
    assert found


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("$ctx.a.func == 3", "'$ctx.a' has the strings bin, func, src"),
        ('$ctx.b.func == "x"', "no selected event has the context 'b'"),
    ],
)
def test_what_no_filter_adds_is_refused(expression, message):
    """With what there is."""
    named = part("named", DEBUG_INFO, **{"debug-info-field-name": "a"}, **SHOP_FILES)
    with pytest.raises(SelectionError) as caught:
        run([named, part("some", EVENTS, expressions=[expression])])

    assert message in str(caught.value)


def test_details_tell_of_places_only_where_the_filter_stands(capfd):
    """A trace with added fields is another one, without a UUID; the others keep theirs."""
    traces = [SHOP, str(DATA / "fields")]
    parts = [
        part(f"in{number}", "source.ctf.fs", inputs=[path])
        for number, path in enumerate(traces)
    ]
    parts += [part("mux"), part("places", DEBUG_INFO, **SHOP_FILES), part("all")]
    parts.append(part("out", "sink.text.details", color="never"))
    connections = ["in0:mux", "mux:places", "places:all", "in1:all", "all:out"]
    plan = Plan(parts, [Connection.parse(one) for one in connections])
    with ExitStack() as resources:
        assert run_graphs(lower(plan, Registry(), resources)) == []
    # Of a trace, in front of its environment; those of clocks are indented further.
    shown = re.findall(r"^    UUID: (\S+)$", capfd.readouterr().out, re.MULTILINE)
    first, second = (
        {
            str(UUID(bytes=stream.trace.parsed.uuid))
            for stream in CtfFsSource([path]).streams
        }
        for path in traces
    )
    assert first.isdisjoint(shown)
    assert second <= {*shown}
