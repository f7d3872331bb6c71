"""Messages that a component gives in an order that there is not."""

from __future__ import annotations

import re

import pytest

from vestige.compat import bt2


class _Iterator(bt2._UserMessageIterator):
    """Gives messages by their names."""

    def __init__(self, _config, port) -> None:
        self._class, names = port.user_data
        stream_class = self._class.stream_class
        self._stream = stream_class.trace_class().create_stream(stream_class)
        self._names = iter(names)

    def __next__(self):
        make = getattr(self, f"_{next(self._names)}")
        return make()

    def _beginning(self):
        return self._create_stream_beginning_message(self._stream)

    def _end(self):
        return self._create_stream_end_message(self._stream)

    def _event(self):
        return self._create_event_message(self._class, self._stream)

    def _loss(self):
        return self._create_discarded_events_message(self._stream, 2)


class _Source(bt2._UserSourceComponent, message_iterator_class=_Iterator):
    """Gives the messages whose names it is given."""

    def __init__(self, _config, _params, obj) -> None:
        made = self._create_trace_class()
        streams = made.create_stream_class(supports_discarded_events=True)
        self._add_output_port("out", (streams.create_event_class(name="made"), obj))


class _Passing(bt2._UserMessageIterator):
    """Leaves out the messages of some types."""

    def __init__(self, _config, port) -> None:
        self._left_out = port.user_data
        ports = self._component._input_ports
        self._upstream = self._create_message_iterator(ports["in"])

    def __next__(self):
        while isinstance(message := next(self._upstream), self._left_out):
            pass
        return message


class _Filter(bt2._UserFilterComponent, message_iterator_class=_Passing):
    """Leaves out the messages of the types that it is given."""

    def __init__(self, _config, _params, obj) -> None:
        self._add_input_port("in")
        self._add_output_port("out", obj)


def run(names: str, left_out: tuple[type, ...] | None = None) -> None:
    """Run a source, and maybe a filter behind it."""
    graph = bt2.Graph()
    last = graph.add_component(_Source, "maker", obj=names.split())
    if left_out is not None:
        passing = graph.add_component(_Filter, "passing", obj=left_out)
        graph.connect_ports(last.output_ports["out"], passing.input_ports["in"])
        last = passing
    sink = bt2.find_plugin("utils").sink_component_classes["dummy"]
    end = graph.add_component(sink, "end")
    graph.connect_ports(last.output_ports["out"], end.input_ports["in"])
    graph.run()


def test_messages_between_the_beginning_and_the_end_are_taken() -> None:
    """A stream whose end nobody tells has none."""
    run("beginning event loss event end")
    run("beginning event")
    run("beginning event end", left_out=(bt2._EventMessageConst,))


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ("event beginning end", "has an event before its beginning"),
        ("loss beginning end", "has a loss before its beginning"),
        ("end", "has its end before its beginning"),
        ("beginning end event", "has an event after its end"),
        ("beginning end loss", "has a loss after its end"),
        ("beginning beginning", "begins a second time"),
        ("beginning end beginning", "begins a second time"),
    ],
)
def test_other_messages_are_refused(names: str, error: str) -> None:
    """With the component, the port and the stream."""
    expected = re.escape(f"component 'maker': output port 'out': stream 0 {error}")
    with pytest.raises(bt2._Error, match=expected):
        run(names)


def test_what_a_filter_passes_is_looked_at_too() -> None:
    """It is the filter that has left out the beginning."""
    expected = "component 'passing': output port 'out': stream 0 has an event before"
    with pytest.raises(bt2._Error, match=expected):
        run("beginning event end", left_out=(bt2._StreamBeginningMessageConst,))


def test_a_port_without_a_connection_is_told_before_anything_is_read() -> None:
    """As soon as the iterator wants what comes in there."""
    made = []

    class Counted(_Iterator):
        def __next__(self):
            made.append("message")
            return super().__next__()

    class Source(_Source, message_iterator_class=Counted):
        pass

    class TwoPorts(_Passing):
        def __init__(self, config, port) -> None:
            super().__init__(config, port)
            self._create_message_iterator(self._component._input_ports["other"])

    class Filter(_Filter, message_iterator_class=TwoPorts):
        def __init__(self, config, params, obj) -> None:
            super().__init__(config, params, obj)
            self._add_input_port("other")

    graph = bt2.Graph()
    source = graph.add_component(Source, "maker", obj=["beginning"])
    passing = graph.add_component(Filter, "passing", obj=())
    sink = bt2.find_plugin("utils").sink_component_classes["dummy"]
    end = graph.add_component(sink, "end")
    graph.connect_ports(source.output_ports["out"], passing.input_ports["in"])
    graph.connect_ports(passing.output_ports["out"], end.input_ports["in"])
    expected = "component 'passing': its input port 'other' is connected to nothing"
    with pytest.raises(bt2._Error, match=expected):
        graph.run()
    assert not made


class _PacketIterator(bt2._UserMessageIterator):
    """Gives two packets, and keeps them."""

    def __init__(self, _config, port) -> None:
        stream_class, kept = port.user_data
        stream = stream_class.trace_class().create_stream(stream_class)
        kept += [stream.create_packet(), stream.create_packet()]
        self._messages = [self._create_stream_beginning_message(stream)]
        for one in kept:
            self._messages.append(self._create_packet_beginning_message(one))
            self._messages.append(self._create_packet_end_message(one))

    def __next__(self):
        if not self._messages:
            raise StopIteration
        return self._messages.pop(0)


class _PacketSource(bt2._UserSourceComponent, message_iterator_class=_PacketIterator):
    """Has a stream with packets."""

    def __init__(self, _config, _params, obj) -> None:
        streams = self._create_trace_class().create_stream_class(supports_packets=True)
        self._add_output_port("out", (streams, obj))


class _KeepingSink(bt2._UserSinkComponent):
    """Keeps what comes in."""

    def __init__(self, _config, _params, obj) -> None:
        self._kept = obj
        self._add_input_port("in")

    def _user_graph_is_configured(self) -> None:
        self._messages = self._create_message_iterator(self._input_ports["in"])

    def _user_consume(self) -> None:
        self._kept.append(next(self._messages))


def test_a_packet_that_comes_in_is_the_one_that_was_made() -> None:
    """Scripts compare their addresses."""
    packets: list = []
    messages: list = []
    graph = bt2.Graph()
    source = graph.add_component(_PacketSource, "maker", obj=packets)
    sink = graph.add_component(_KeepingSink, "end", obj=messages)
    graph.connect_ports(source.output_ports["out"], sink.input_ports["in"])
    graph.run()

    expected = [packets[0].addr] * 2 + [packets[1].addr] * 2
    assert [one.packet.addr for one in messages[1:]] == expected
    assert messages[1].packet != messages[3].packet
