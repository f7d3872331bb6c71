"""Write event records with Babeltrace 2's own Python module and its CTF sink."""

from __future__ import annotations

import sys
import time

import bt2


class Records(bt2._UserMessageIterator):
    """Makes the messages of one data stream."""

    def __init__(self, config, output):  # noqa: ARG002 - as bt2 calls it
        """Prepare the stream."""
        event_class, self._count = output.user_data
        stream = event_class.stream_class.trace_class().create_stream
        self._event_class = event_class
        self._stream = stream(event_class.stream_class)
        self._next = -1

    def __next__(self):
        """Return the next message."""
        number = self._next
        self._next += 1
        if number == -1:
            return self._create_stream_beginning_message(self._stream)
        if number > self._count:
            raise StopIteration
        if number == self._count:
            return self._create_stream_end_message(self._stream)
        message = self._create_event_message(
            self._event_class, self._stream, default_clock_snapshot=number
        )
        payload = message.event.payload_field
        payload["path"] = "/path/to/it"
        payload["status"] = 200
        payload["size"] = number
        return message


class Source(bt2._UserSourceComponent, message_iterator_class=Records):
    """Declares the class of the records."""

    def __init__(self, config, params, obj):  # noqa: ARG002 - as above
        """Declare all classes."""
        trace_class = self._create_trace_class()
        clock = self._create_clock_class(frequency=1_000_000_000)
        stream_class = trace_class.create_stream_class(default_clock_class=clock)
        payload = trace_class.create_structure_field_class()
        status = trace_class.create_unsigned_integer_field_class(16)
        payload += [
            ("path", trace_class.create_string_field_class()),
            ("status", status),
            ("size", trace_class.create_unsigned_integer_field_class(64)),
        ]
        event_class = stream_class.create_event_class(
            name="app:request", payload_field_class=payload
        )
        self._add_output_port("out", (event_class, obj))


def main() -> None:
    """Write as many records as are asked for; print seconds."""
    directory, count = sys.argv[1], int(sys.argv[2])
    graph = bt2.Graph()
    source = graph.add_component(Source, "source", obj=count)
    fs = bt2.find_plugin("ctf").sink_component_classes["fs"]
    sink = graph.add_component(fs, "sink", {"path": directory, "quiet": True})
    graph.connect_ports(source.output_ports["out"], sink.input_ports["in"])
    start = time.perf_counter()
    graph.run()
    del graph
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
