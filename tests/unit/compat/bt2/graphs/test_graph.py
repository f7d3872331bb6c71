"""Graphs that a script puts together."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.ctf_writer import Event, Packet, Trace, numbered, write_trace
from vestige.compat import bt2


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Two data streams of a packet with three events each."""
    data = {
        "one": Packet(numbered(3)).encode(),
        "two": Packet(numbered(3, start=2)).encode(),
    }
    return write_trace(tmp_path / "trace", Trace().metadata(), data)


class _Sink(bt2._UserSinkComponent):
    """Keeps the types of messages in a list."""

    def __init__(self, _config, _params, obj) -> None:
        self._kinds = obj
        self._add_input_port("in")

    def _user_graph_is_configured(self) -> None:
        self._messages = self._create_message_iterator(self._input_ports["in"])

    def _user_consume(self) -> None:
        self._kinds.append(type(next(self._messages)))


def classes(plugin: str, kind: str):
    """Return the component classes of a kind in a plugin."""
    return getattr(bt2.find_plugin(plugin), f"{kind}_component_classes")


def connected(graph, trace: Path, sink) -> None:
    """Connect all data streams of a trace with a sink, through a muxer."""
    source = graph.add_component(
        classes("ctf", "source")["fs"], "source", {"inputs": [str(trace)]}
    )
    muxer = graph.add_component(classes("utils", "filter")["muxer"], "muxer")
    for port in source.output_ports.values():
        free = [one for one in muxer.input_ports.values() if not one.is_connected]
        graph.connect_ports(port, free[0])
    graph.connect_ports(muxer.output_ports["out"], sink.input_ports["in"])


def test_a_port_is_connected_once(trace: Path) -> None:
    """Else what came in first would be lost."""
    graph = bt2.Graph()
    sink = graph.add_component(_Sink, "sink", obj=[])
    connected(graph, trace, sink)
    muxer = graph.add_component(classes("utils", "filter")["muxer"], "other")

    with pytest.raises(ValueError, match="port 'in' of component 'sink' is connected"):
        graph.connect_ports(muxer.output_ports["out"], sink.input_ports["in"])


class _SeekingSink(_Sink):
    """Keeps times of events, and goes to the time 1,002,500 ns when it has three."""

    def _user_consume(self) -> None:
        message = next(self._messages)
        if type(message) is bt2._EventMessageConst:
            self._kinds.append(message.default_clock_snapshot.ns_from_origin)
            if len(self._kinds) == 3:
                assert self._messages.can_seek_ns_from_origin(1_002_500)
                self._messages.seek_ns_from_origin(self._kinds[0] + 1_500)


def test_a_sink_goes_to_a_time(trace: Path) -> None:
    """Backwards as well: all that is not before it comes again."""
    graph = bt2.Graph()
    times: list[int] = []
    connected(graph, trace, graph.add_component(_SeekingSink, "sink", obj=times))
    graph.run()

    all_times = [
        message.default_clock_snapshot.ns_from_origin
        for message in bt2.TraceCollectionMessageIterator(str(trace))
        if type(message) is bt2._EventMessageConst
    ]
    begin = times[0] + 1_500
    assert times[:3] == all_times[:3]
    assert times[3:] == [one for one in all_times if one >= begin]
    assert 0 < len(times[3:]) < len(all_times)


def test_names_of_types(trace: Path) -> None:
    """Scripts look at them, too."""
    names = {
        type(message).__name__
        for message in bt2.TraceCollectionMessageIterator(str(trace))
    }
    assert {"_EventMessageConst", "_StreamBeginningMessageConst"} <= names


def test_ready_components(trace: Path, tmp_path: Path) -> None:
    """Run as in a plan."""
    graph = bt2.Graph()
    output = tmp_path / "text"
    sink = graph.add_component(
        classes("text", "sink")["pretty"], "sink", {"path": str(output)}
    )
    connected(graph, trace, sink)

    graph.run()

    assert len(output.read_text(encoding="utf-8").splitlines()) == 6


def test_a_sink_in_python(trace: Path) -> None:
    """Gets all messages, one each time; at the end it is told so."""
    graph = bt2.Graph()
    kinds: list[type] = []
    connected(graph, trace, graph.add_component(_Sink, "sink", obj=kinds))

    graph.run_once()
    assert kinds == [bt2._StreamBeginningMessageConst]
    graph.run()

    assert len(kinds) == 14
    assert kinds.count(bt2._EventMessageConst) == 6
    with pytest.raises(bt2.Stop):
        graph.run_once()


def test_ports_tell_their_connections(trace: Path) -> None:
    """And listeners are told of ports that come."""
    graph = bt2.Graph()
    added: list[tuple[str, str]] = []
    graph.add_port_added_listener(
        lambda component, port: added.append((component.name, port.name))
    )
    sink = graph.add_component(_Sink, "sink", obj=[])
    connected(graph, trace, sink)

    port = sink.input_ports["in"]
    assert port.connection.upstream_port.component.name == "muxer"
    assert added[0] == ("sink", "in")
    assert [name for of, name in added if of == "muxer"] == ["in0", "out", "in1", "in2"]
    with pytest.raises(TypeError):
        graph.connect_ports(port, port)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "the parameter 'inputs' is missing"),
        ({"inputs": ["/none"], "bla": 3}, "has no parameter 'bla'"),
    ],
)
def test_parameters_are_looked_at_when_a_component_is_added(params, message) -> None:
    """Before anything is opened."""
    source = bt2.find_plugin("ctf").source_component_classes["fs"]
    with pytest.raises(bt2._Error, match="cannot add component") as error:
        bt2.Graph().add_component(source, "in", params)
    assert "component 'in' (source.ctf.fs)" in error.value[0].message
    assert message in error.value[0].message


def test_what_fails_has_causes() -> None:
    """Those of the component; what has failed once fails again."""

    class Broken(bt2._UserSinkComponent):
        def __init__(self, *_) -> None:
            raise ValueError("no luck")

        def _user_consume(self) -> None: ...

    with pytest.raises(bt2._Error) as error:
        bt2.Graph().add_component(Broken, "it")
    assert "no luck" in error.value[0].message
    assert error.value[0].component_class_name == "Broken"
    assert error.value[0].component_name == "it"


def test_a_sink_without_input_is_told_in_the_words_of_scripts() -> None:
    """They look for the name of its port."""
    graph = bt2.Graph()
    text = bt2.find_plugin("text")
    graph.add_component(text.sink_component_classes["pretty"], "snk")

    with pytest.raises(bt2._Error, match='port is not connected: port-name="in"'):
        graph.run()


def test_interrupters(trace: Path) -> None:
    """Stop it, until they are taken back."""
    graph = bt2.Graph()
    connected(graph, trace, graph.add_component(_Sink, "sink", obj=[]))
    interrupter = bt2.Interrupter()
    graph.add_interrupter(interrupter)

    interrupter.set()
    with pytest.raises(bt2.TryAgain):
        graph.run()
    interrupter.reset()
    graph.run()


def test_a_damaged_trace_ends_a_graph(tmp_path: Path) -> None:
    """With a sink of its own and with one that is ready."""
    packet = Packet([*numbered(2), Event(9_000_000, b"", id=99)])
    trace = Trace(streams={"one": [packet]}).write(tmp_path / "trace")
    kinds: list[type] = []
    graph = bt2.Graph()
    connected(graph, trace, graph.add_component(_Sink, "sink", obj=kinds))
    with pytest.raises(bt2._Error, match="event record of class 99"):
        graph.run()
    assert kinds.count(bt2._EventMessageConst) == 2

    output = tmp_path / "text"
    pretty = classes("text", "sink")["pretty"]
    graph = bt2.Graph()
    sink = graph.add_component(pretty, "sink", {"path": str(output)})
    connected(graph, trace, sink)
    with pytest.raises(bt2._Error, match="event record of class 99"):
        graph.run()
    del graph
    assert output.read_text().count("\n") == 2
