"""Components in Python: sources, a filter and sinks, for tests and for comparisons."""

import bt2


class EventsIterator(bt2._UserMessageIterator):
    """Gives a stream with a packet and some events of it."""

    def __init__(self, config, port):
        """Make the messages."""
        event_class, params = port.user_data
        stream_class = event_class.stream_class
        trace = stream_class.trace_class(
            name="sample", environment={"hostname": "host", "number": 7}
        )
        stream = trace.create_stream(stream_class, name="stream")
        packet = stream.create_packet()
        packet.context_field["cpu_id"] = 3
        first, step = int(params["first"]), int(params["step"])
        self._raises_at = params.get("raises-at")
        self._waits_at = params.get("waits-at")
        self._messages = [
            self._create_stream_beginning_message(stream),
            self._create_packet_beginning_message(packet, first),
        ]
        last = first
        for number in range(int(params["count"])):
            last = first + number * step
            message = self._create_event_message(event_class, packet, last)
            self._fill(message.event, number)
            self._messages.append(message)
        self._messages += [
            self._create_packet_end_message(packet, last),
            self._create_discarded_events_message(stream, 2, last, last + 1),
            self._create_stream_end_message(stream),
        ]
        self._at = 0

    @staticmethod
    def _fill(event, number):
        event.common_context_field["tid"] = 100 + number
        payload = event.payload_field
        payload["flag"] = number % 2 == 0
        payload["small"] = -number
        payload["hex"] = 255
        payload["state"] = number
        payload["real"] = 1.5 * number
        payload["text"] = f"text {number}"
        payload["inner"]["list"] = [*range(number)]
        payload["inner"]["maybe"] = "there"
        payload["pair"] = [number, number + 1]
        payload["length"] = 1
        payload["counted"] = [0.25]
        payload["one"].selected_option_index = number % 2
        payload["one"] = 9 if number % 2 == 0 else "other"

    def __next__(self):
        """Return the next message."""
        if self._at == self._raises_at:
            raise ValueError("the seventh seal")
        if self._at == self._waits_at:
            self._waits_at = None
            raise bt2.TryAgain
        if self._at == len(self._messages):
            raise StopIteration
        self._at += 1
        return self._messages[self._at - 1]


@bt2.plugin_component_class
class Events(bt2._UserSourceComponent, message_iterator_class=EventsIterator):
    """Give some events."""

    def __init__(self, config, params, obj):
        """Make the classes."""
        made = self._create_trace_class()
        clock = self._create_clock_class(
            frequency=1000, name="clock", offset=bt2.ClockClassOffset(10)
        )
        packet = made.create_structure_field_class()
        packet += [("cpu_id", made.create_unsigned_integer_field_class(8))]
        common = made.create_structure_field_class()
        common += [("tid", made.create_signed_integer_field_class(32))]
        stream_class = made.create_stream_class(
            default_clock_class=clock,
            supports_packets=True,
            packets_have_beginning_default_clock_snapshot=True,
            packets_have_end_default_clock_snapshot=True,
            supports_discarded_events=True,
            discarded_events_have_default_clock_snapshots=True,
            packet_context_field_class=packet,
            event_common_context_field_class=common,
        )
        event_class = stream_class.create_event_class(
            name=str(params.get("name", "sampled")),
            log_level=bt2.EventClassLogLevel.INFO,
            payload_field_class=self._payload(made),
        )
        self._add_output_port("out", (event_class, params))

    @staticmethod
    def _payload(made):
        state = made.create_unsigned_enumeration_field_class(8)
        state.add_mapping("few", bt2.UnsignedIntegerRangeSet([(0, 1)]))
        state.add_mapping("many", bt2.UnsignedIntegerRangeSet([(2, 200)]))
        inner = made.create_structure_field_class()
        inner += [
            (
                "list",
                made.create_dynamic_array_field_class(
                    made.create_unsigned_integer_field_class(16)
                ),
            ),
            (
                "maybe",
                made.create_option_without_selector_field_class(
                    made.create_string_field_class()
                ),
            ),
        ]
        length = made.create_unsigned_integer_field_class(8)
        one = made.create_variant_field_class()
        one.append_option("number", made.create_signed_integer_field_class(32))
        one.append_option("text", made.create_string_field_class())
        payload = made.create_structure_field_class()
        payload += [
            ("flag", made.create_bool_field_class()),
            ("small", made.create_signed_integer_field_class(3)),
            (
                "hex",
                made.create_unsigned_integer_field_class(
                    8, preferred_display_base=bt2.IntegerDisplayBase.HEXADECIMAL
                ),
            ),
            ("state", state),
            ("real", made.create_double_precision_real_field_class()),
            ("text", made.create_string_field_class()),
            ("inner", inner),
            (
                "pair",
                made.create_static_array_field_class(
                    made.create_unsigned_integer_field_class(32), 2
                ),
            ),
            ("length", length),
            (
                "counted",
                made.create_dynamic_array_field_class(
                    made.create_single_precision_real_field_class(), length_fc=length
                ),
            ),
            ("one", one),
        ]
        return payload

    @classmethod
    def _user_query(cls, executor, question, params, method_obj):
        """Tell the files that it would read."""
        if question != "babeltrace.support-info":
            raise bt2.UnknownObject
        is_sample = str(params["input"]).endswith(".sample")
        return {"weight": 0.75 if is_sample else 0, "group": "samples"}


class PassingIterator(bt2._UserMessageIterator):
    """Gives what it gets, but for events whose names it leaves out."""

    def __init__(self, config, port):
        """Begin to get messages."""
        self._above = self._create_message_iterator(self._component._input_ports["in"])
        self._left_out = port.user_data

    def __next__(self):
        """Return the next message that is not left out."""
        while True:
            message = next(self._above)
            is_event = type(message) is bt2._EventMessageConst
            if not is_event or message.event.name != self._left_out:
                return message


@bt2.plugin_component_class
class Passing(bt2._UserFilterComponent, message_iterator_class=PassingIterator):
    """Pass all that comes but events of a name."""

    def __init__(self, config, params, obj):
        """Make the ports."""
        self._add_input_port("in")
        self._add_output_port("out", params.get("leave-out"))


@bt2.plugin_component_class
class Telling(bt2._UserSinkComponent):
    """Print what comes, message by message."""

    def __init__(self, config, params, obj):
        """Make the port."""
        self._port = self._add_input_port("in")

    def _user_graph_is_configured(self):
        self._messages = self._create_message_iterator(self._port)

    def _user_consume(self):
        message = next(self._messages)
        if type(message) is not bt2._EventMessageConst:
            print(type(message).__name__)
            return
        event = message.event
        print(
            event.name,
            event.packet.context_field["cpu_id"],
            event["tid"],
            event.payload_field["inner"]["list"],
            message.default_clock_snapshot.ns_from_origin,
        )


bt2.register_plugin(
    __name__, "sample", description="Samples", version=(1, 2, 3, "beta")
)
