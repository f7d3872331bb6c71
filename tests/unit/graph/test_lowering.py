"""Plans that become graphs, and plans that cannot yet."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from functools import partial
from itertools import pairwise
from random import Random

import pytest

from support.recordings import DATA
from vestige.components.registry import Registry
from vestige.errors import GraphError
from vestige.graph import run_graphs
from vestige.graph.lowering import lower
from vestige.graph.plan import ComponentSpec, Connection, Plan

HELLO, FIELDS, LOST = (
    str(DATA / name / "ust" / "uid" / "0" / "64-bit")
    for name in ("hello", "fields", "lost")
)
FIRST, SECOND = "1795245627.871895064", "1795245627.871897527"
DEBUG_INFO = "filter.lttng-utils.debug-info"


def source(name, path, **params):
    """Return a source."""
    return ComponentSpec(name, "source.ctf.fs", {"inputs": [path], **params})


def part(name, class_name="filter.utils.muxer", **params):
    """Return another component."""
    return ComponentSpec(name, class_name, params)


class Texts:
    """A sink that keeps the names of events, and the names of their columns."""

    looks_at_records = True

    def __init__(self):
        self.events = []
        self.is_finished = False

    def consume(self, merge):
        """Keep names, numbers and the fields that filters have added."""
        self.events += [
            (event.name, event.payload.to_dict().get("text"))
            for event in merge.events()
        ]

    def finish(self):
        """Note it."""
        self.is_finished = True


def _given(sink, _resources, _streams):
    """Return a sink that is there already."""
    return sink


def run(components, connections, **sinks):
    """Run a plan with sinks of ours; return what they saw."""
    found = {name: Texts() for name in sinks or {"out": None}}
    parts = [*components, *(part(name, "sink.utils.dummy") for name in found)]
    plan = Plan(parts, [Connection.parse(one) for one in connections])
    with ExitStack() as resources:
        makers = {name: partial(_given, sink) for name, sink in found.items()}
        damage = run_graphs(lower(plan, Registry(), resources, makers=makers))
    assert damage == []
    assert all(sink.is_finished for sink in found.values())
    return {name: sink.events for name, sink in found.items()}


def texts(events):
    """Return the greetings."""
    return [text for name, text in events if name == "greeting:said"]


ALL = ["good morning", "hello", "wide world", "good night"]


def test_a_pipe_is_read_in_order():
    """A source, a muxer, a sink."""
    seen = run([source("in", HELLO), part("mux")], ["in:mux", "mux:out"])

    assert texts(seen["out"]) == ALL


def trimmer(name, **params):
    """Return a range of time."""
    return part(name, "filter.utils.trimmer", **params)


def test_each_source_has_its_own_range_of_time():
    """That of one does not touch the other, which is the same trace."""
    components = [
        source("a", HELLO),
        source("b", HELLO),
        part("x"),
        part("y"),
        trimmer("late", begin=SECOND),
        trimmer("early", end=FIRST),
        part("mux"),
    ]
    connections = ["a:x", "x:late", "b:y", "y:early", "late:mux", "early:mux"]
    connections.append("mux:out")

    assert texts(run(components, connections)["out"]) == ALL


def test_ranges_one_behind_the_other_are_narrowed_both():
    """Before the muxer and after it."""
    components = [
        source("in", HELLO),
        part("first"),
        trimmer("late", begin=SECOND),
        part("mux"),
        trimmer("early", end=SECOND),
    ]
    connections = ["in:first", "first:late", "late:mux", "mux:early", "early:out"]

    assert texts(run(components, connections)["out"]) == ["hello"]


def test_a_muxer_behind_a_muxer_changes_nothing():
    """Also with another source in the second one."""
    components = [source("a", HELLO), source("b", FIELDS), part("one"), part("two")]
    nested = run(components, ["a:one", "one:two", "b:two", "two:out"])["out"]
    flat = run(
        [source("a", HELLO), source("b", FIELDS), part("mux")],
        ["a:mux", "b:mux", "mux:out"],
    )["out"]

    assert nested == flat
    assert set(texts(nested)) >= set(ALL)


def test_several_sinks_run_in_one_plan():
    """Each with its own sources."""
    seen = run(
        [source("a", HELLO), source("b", FIELDS), part("x"), part("y")],
        ["a:x", "x:one", "b:y", "y:two"],
        one=None,
        two=None,
    )

    assert texts(seen["one"]) == ALL
    assert seen["two"]
    assert texts(seen["two"]) == []


def test_ports_of_a_source_go_where_their_names_say():
    """The first connection that fits counts."""
    whole = run([source("in", LOST), part("mux")], ["in:mux", "mux:out"])["out"]
    seen = run(
        [source("in", LOST), part("x"), part("y")],
        ["in.* | 1 | *:x", "in:y", "x:one", "y:two"],
        one=None,
        two=None,
    )

    assert sorted(seen["one"] + seen["two"], key=str) == sorted(whole, key=str)
    assert seen["one"]
    assert seen["two"]


@pytest.mark.parametrize(
    ("components", "connections", "message"),
    [
        (
            [source("in", HELLO)],
            ["in:out", "in.x:out"],
            "'in:out': the output port",
        ),
        (
            [source("in", HELLO), part("mux")],
            ["in.nothing:mux", "mux:out"],
            "no connection takes its output port",
        ),
        (
            [source("in", HELLO), part("mux")],
            ["in:mux.in7", "mux:out"],
            "finds no free input port of 'mux'",
        ),
    ],
)
def test_what_cannot_run_is_refused(components, connections, message):
    """With the component and the port that are the reason."""
    with pytest.raises(GraphError) as caught:
        run(components, connections)

    assert message in str(caught.value)


@pytest.mark.parametrize("order", [("short", "long"), ("long", "short")])
def test_filters_of_one_class_act_both(order):
    """In any order: what one of them hides stays hidden."""
    first, second = order
    calls = "filter.vestige.calls"
    limits = [
        part("short", calls, **{"least-ns": 1_000}),
        part("long", calls, **{"least-ns": 1_000_000}),
    ]
    traces = [source("in", str(DATA / "recording-1")), part("mux")]
    ends = ["in:mux", f"mux:{first}", f"{first}:{second}", f"{second}:out"]
    both = run([*traces, *limits], ends)["out"]
    alone = [
        run([*traces, one], ["in:mux", f"mux:{one.name}", f"{one.name}:out"])["out"]
        for one in limits
    ]

    assert both == alone[1]
    assert len(alone[0]) > len(alone[1]) > 0


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_long_row_of_filters_is_no_deep_one(place):
    """As many as somebody wants, before a muxer and after it."""
    names = [f"t{number}" for number in range(1_500)]
    row = [trimmer(name, begin=SECOND) for name in names]
    parts = [source("in", HELLO), source("other", FIELDS), part("one"), part("two")]
    first, last = ("one", "two") if place == "before" else ("two", "out")
    chain = [first, *names, last]
    connections = [f"{one}:{other}" for one, other in pairwise(chain)]
    rest = ["two:out"] if place == "before" else ["one:two"]
    seen = run([*parts, *row], ["in:one", "other:two", *connections, *rest])["out"]

    assert texts(seen) == ALL[1:]


@pytest.mark.parametrize("seed", range(200))
def test_any_plan_is_run_or_refused(seed):
    """Whatever is connected with whatever."""
    chance = Random(seed)  # noqa: S311 - not for secrets
    parts = [
        source("in", HELLO),
        source("more", FIELDS),
        part("mux"),
        part("mux-2"),
        trimmer("late", begin=SECOND),
        part("names", DEBUG_INFO),
        part("out", "sink.utils.dummy"),
        part("count", "sink.utils.counter"),
    ]
    names = [one.name for one in parts]
    ports = ["", ".*", ".in0", ".out", ".* | 0 | 0"]

    def end():
        return chance.choice(names) + chance.choice(ports)

    likely = ["in:mux", "mux:late", "late:out", "more:mux-2", "mux-2:count"]
    connections = chance.sample(likely, chance.randrange(2, 6))
    connections += [f"{end()}:{end()}" for _ in range(chance.randrange(4))]
    used = {
        name
        for one in map(Connection.parse, connections)
        for name in (one.upstream, one.downstream)
    }
    plan = Plan(
        [one for one in parts if one.name in used or not chance.randrange(9)],
        [Connection.parse(one) for one in connections],
    )
    with ExitStack() as resources, suppress(GraphError):
        assert run_graphs(lower(plan, Registry(), resources)) == []
