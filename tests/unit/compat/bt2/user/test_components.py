"""Components in Python: what they give, what they get, and what becomes of their errors."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import pairwise

import pytest

from support.recordings import DATA
from vestige.compat.bt2.plugins.files import Failure, load_plugins
from vestige.compat.bt2.plugins.user_plugins import UserPlugins
from vestige.components.registry import Registry
from vestige.errors import ComponentError
from vestige.graph import run_graphs
from vestige.graph.interruption import GraphInterruption, Interruption
from vestige.graph.lowering import lower
from vestige.graph.plan import ComponentSpec, Connection, Plan

SOURCE, PASSING, TELLING = (
    "source.sample.Events",
    "filter.sample.Passing",
    "sink.sample.Telling",
)
HELLO = str(DATA / "hello" / "ust" / "uid" / "0" / "64-bit")
TWO_EVENTS = """\
[00:00:10.005000000] (+?.?????????) host sampled: { cpu_id = 3 }, { tid = 100 }, \
{ flag = true, small = 0, hex = 0xFF, state = ( "few" : container = 0 ), real = 0, \
text = "text 0", inner = { list = [ ], maybe = { "there" } }, \
pair = [ [0] = 0, [1] = 1 ], length = 1, counted = [ [0] = 0.25 ], one = { 9 } }
[00:00:10.015000000] (+0.010000000) host sampled: { cpu_id = 3 }, { tid = 101 }, \
{ flag = false, small = -1, hex = 0xFF, state = ( "few" : container = 1 ), real = 1.5, \
text = "text 1", inner = { list = [ [0] = 0 ], maybe = { "there" } }, \
pair = [ [0] = 1, [1] = 2 ], length = 1, counted = [ [0] = 0.25 ], one = { "other" } }
"""
"""What Babeltrace 2.0.4 prints of the first two events of the source."""


@pytest.fixture(scope="module")
def registry() -> Registry:
    """The classes that are built in, and those of the plugin of samples."""
    return Registry(plugins=UserPlugins(load_plugins([str(DATA / "plugins")])))


def events(component="in", **params):
    """Return a source in Python."""
    return ComponentSpec(
        component, SOURCE, {"first": 5, "step": 10, "count": 2, **params}
    )


def run(registry, *components, interruption=None):
    """Run components, each connected to the next; sources go to what is behind them."""
    sources = [one for one in components if one.class_name.startswith("source.")]
    chain = [one for one in components if one not in sources]
    connections = [Connection(one.name, chain[0].name) for one in sources]
    connections += [Connection(one.name, other.name) for one, other in pairwise(chain)]
    with ExitStack() as resources:
        graphs = lower(
            Plan([*components], connections),
            registry,
            resources,
            interruption=interruption,
        )
        return run_graphs(graphs)


def text(path, name="out"):
    """Return a sink that writes text into a file."""
    params = {"path": str(path), "clock-gmt": True, "color": "never"}
    return ComponentSpec(name, "sink.text.pretty", params)


def test_fields_of_all_classes_are_printed_as_by_babeltrace(
    registry, tmp_path, capfd
) -> None:
    """What was lost is told, too."""
    run(registry, events(), text(tmp_path / "text"))

    assert (tmp_path / "text").read_text() == TWO_EVENTS
    assert capfd.readouterr().err == (
        "WARNING: Tracer discarded 2 events between [00:00:10.015000000] and "
        '[00:00:10.016000000] in trace "sample" (no UUID) within stream "stream" '
        "(stream class ID: 0, stream ID: 0).\n"
    )


def test_a_sink_gets_all_messages_in_their_order(registry, capsys) -> None:
    """Behind a muxer and a filter, which pass them."""
    run(
        registry,
        events(),
        ComponentSpec("mux", "filter.utils.muxer"),
        ComponentSpec("pass", PASSING),
        ComponentSpec("out", TELLING),
    )

    assert capsys.readouterr().out.splitlines() == [
        "_StreamBeginningMessageConst",
        "_PacketBeginningMessageConst",
        "sampled 3 100 [] 10005000000",
        "sampled 3 101 [0] 10015000000",
        "_PacketEndMessageConst",
        "_DiscardedEventsMessageConst",
        "_StreamEndMessageConst",
    ]


def test_events_of_sources_in_python_are_merged_by_time(registry, tmp_path) -> None:
    """A filter leaves out those of one name."""
    run(
        registry,
        events("one"),
        events("two", first=7, name="other"),
        ComponentSpec("mux", "filter.utils.muxer"),
        text(tmp_path / "all"),
    )
    run(
        registry,
        events("one"),
        events("two", first=7, name="other"),
        ComponentSpec("mux", "filter.utils.muxer"),
        ComponentSpec("pass", PASSING, {"leave-out": "sampled"}),
        text(tmp_path / "some"),
    )

    found = [
        line.split()[3].rstrip(":")
        for line in (tmp_path / "all").read_text().splitlines()
    ]
    assert found == ["sampled", "other"] * 2
    assert len((tmp_path / "some").read_text().splitlines()) == 2


def test_a_recording_goes_through_a_filter_in_python_as_it_is(
    registry, tmp_path
) -> None:
    """Nothing is encoded anew: the text is the same."""
    source = ComponentSpec("in", "source.ctf.fs", {"inputs": [HELLO]})
    mux = ComponentSpec("mux", "filter.utils.muxer")
    run(registry, source, mux, text(tmp_path / "direct"))
    run(
        registry, source, mux, ComponentSpec("pass", PASSING), text(tmp_path / "passed")
    )

    direct = (tmp_path / "direct").read_text()
    assert direct
    assert (tmp_path / "passed").read_text() == direct


def test_a_recording_and_a_source_in_python_are_merged(registry, tmp_path) -> None:
    """What is made comes first: its clock began long before."""
    source = ComponentSpec("in", "source.ctf.fs", {"inputs": [HELLO]})
    mux = ComponentSpec("mux", "filter.utils.muxer")
    run(registry, source, mux, text(tmp_path / "alone"))
    run(registry, source, events("made"), mux, text(tmp_path / "both"))

    alone, both = (
        (tmp_path / name).read_text().splitlines() for name in ("alone", "both")
    )
    assert [" sampled: " in line for line in both[:2]] == [True, True]
    # The first event of the recording is the first no more: its delta differs.
    assert both[3:] == alone[1:]


def test_what_came_before_an_exception_is_printed(registry, tmp_path) -> None:
    """The exception is the cause of an error that names the component."""
    with pytest.raises(ComponentError, match="component 'in': failed") as caught:
        run(registry, events(**{"raises-at": 3}), text(tmp_path / "text"))

    assert isinstance(caught.value.__cause__, ValueError)
    assert (tmp_path / "text").read_text() == TWO_EVENTS.splitlines(True)[0]


def test_a_component_that_cannot_be_made_is_named(registry, tmp_path) -> None:
    """Nothing is run then."""
    spec = ComponentSpec("in", SOURCE, {"name": 5, "count": None})
    with pytest.raises(ComponentError, match="component 'in'"):
        run(registry, spec, text(tmp_path / "text"))

    assert not (tmp_path / "text").exists() or not (tmp_path / "text").read_text()


def test_who_has_nothing_yet_is_asked_again(registry, tmp_path) -> None:
    """What it gave before is there, and what it gives then."""
    run(registry, events(**{"waits-at": 3}), text(tmp_path / "text"))

    assert (tmp_path / "text").read_text() == TWO_EVENTS


def test_an_interrupted_graph_ends(registry, tmp_path) -> None:
    """Between two parts of what it does."""
    interruption = Interruption()
    interruption.is_set = True
    with pytest.raises(GraphInterruption):
        run(registry, events(), text(tmp_path / "text"), interruption=interruption)


def test_events_are_chosen_behind_a_component_in_python(registry, tmp_path) -> None:
    """By their names and by what is in them."""
    mux = ComponentSpec("mux", "filter.utils.muxer")
    sources = (events("one", count=4), events("two", name="other"))
    names = {"names": ["sam*"], "expressions": ["small < -1"]}
    chosen = ComponentSpec("chosen", "filter.vestige.events", names)
    run(registry, *sources, mux, chosen, text(tmp_path / "text"))

    lines = (tmp_path / "text").read_text().splitlines()
    assert [line.split()[3] for line in lines] == ["sampled:"] * 2
    assert ["small = -2" in lines[0], "small = -3" in lines[1]] == [True, True]


def test_a_value_that_does_not_fit_names_its_field(registry, tmp_path) -> None:
    """A field of 3 bits has no -5."""
    with pytest.raises(ComponentError, match="in") as caught:
        run(registry, events(count=6), text(tmp_path / "text"))

    assert "-5" in str(caught.value.__cause__)


def test_plugins_that_cannot_be_loaded_are_told(tmp_path) -> None:
    """The others are there; the first of a name counts."""
    good = "import bt2\nbt2.register_plugin(__name__, 'good', description='{}')\n"
    for folder, name, content in (
        ("a", "bt_plugin_bad.py", "1 / 0"),
        ("a", "bt_plugin_ending.py", "raise SystemExit(0)"),
        ("a", "bt_plugin_good.py", good.format("first")),
        ("b", "bt_plugin_good.py", good.format("second")),
        ("b", "no_plugin.py", "1 / 0"),
        ("b", "bt_plugin_silent.py", ""),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(content)
    failures: list[Failure] = []
    found = load_plugins([f"{tmp_path}/a", f"{tmp_path}/b", f"{tmp_path}/c"], failures)

    assert [(one.name, one.description) for one in found] == [("good", "first")]
    (path, traceback), (_, ending) = failures
    assert "SystemExit: 0" in ending
    assert path == f"{tmp_path}/a/bt_plugin_bad.py"
    assert "ZeroDivisionError" in traceback
