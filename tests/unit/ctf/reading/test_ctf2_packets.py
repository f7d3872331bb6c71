"""Packets, event records and metadata of CTF 2 traces as a whole."""

from __future__ import annotations

import io
import struct
import tempfile

import pytest

import vestige
from support.ctf2_writer import (
    CLOCK,
    CONTEXT,
    EVENT_HEADER,
    HEADER,
    PREAMBLE,
    UUID,
    Trace2,
    bits,
    kind,
    leb128,
    location,
    metadata,
    signed,
    structure,
    unsigned,
)
from support.ctf_writer import MAGIC, BitWriter, packetised_metadata, write_trace
from vestige import TraceDamageWarning, TraceFormatError
from vestige.components.sinks.text_pretty import TextPrettySink
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.core import DataFile, TraceClass
from vestige.ctf.reading.metadata import trace_class_model
from vestige.graph import Graph

ONE = structure({"x": unsigned(8)})


def stream_class(number=0, **more):
    """Return a data stream class with the clock of the tests."""
    return {
        "type": "data-stream-class",
        "id": number,
        "default-clock-class-id": "the clock",
        **more,
    }


def event_class(number=0, stream=0, **more):
    """Return an event record class with one byte of payload."""
    return {
        "type": "event-record-class",
        "id": number,
        "data-stream-class-id": stream,
        "name": f"event {stream}.{number}",
        "payload-field-class": ONE,
        **more,
    }


def events_of(directory):
    """Return time and payload of all event records."""
    return [
        (event.name, event.timestamp, event.payload.to_dict()["x"])
        for event in vestige.open(directory)
    ]


class TestRoles:
    """What fields mean by their roles, whatever their names."""

    def test_several_data_stream_classes(self, tmp_path):
        """The packet header has the ID of the class, here in LEB128."""
        header = structure(
            {
                "?": kind(
                    "variable-length-unsigned-integer", roles=["data-stream-class-id"]
                )
            }
        )
        number = structure({"n": unsigned(8, roles=["event-record-class-id"])})
        fragments = [
            {"type": "preamble", "version": 2},
            {"type": "trace-class", "packet-header-field-class": header},
            CLOCK,
            stream_class(3, **{"event-record-header-field-class": number}),
            stream_class(500, **{"event-record-header-field-class": number}),
            event_class(7, 3),
            event_class(7, 500),
            event_class(9, 500),
        ]
        files = {
            "one": leb128(3) + bytes([7, 1, 7, 2]),
            "two": leb128(500) + bytes([7, 3, 9, 4]),
        }
        write_trace(tmp_path, metadata(*fragments), files)

        found = {(name, x) for name, _, x in events_of(tmp_path)}

        assert found == {
            ("event 3.7", 1),
            ("event 3.7", 2),
            ("event 500.7", 3),
            ("event 500.9", 4),
        }

    @pytest.mark.parametrize(
        ("member", "encode", "bits_of"),
        [
            (unsigned(16), lambda v: struct.pack("<H", v & 0xFFFF), 16),
            (bits("unsigned-integer", 27, alignment=8), None, 27),
            (kind("variable-length-unsigned-integer"), None, 14),
            (unsigned(16, bit_order="last-to-first"), None, 16),
        ],
    )
    def test_a_partial_timestamp_moves_the_clock(
        self, tmp_path, member, encode, bits_of
    ):
        """A value below the last one means one wrap of its bits (section 6.3)."""
        del encode
        begin = (1 << 40) - 3
        times = [begin, begin + 2, begin + 5, begin + (1 << bits_of) - 1]
        header = structure({"t": {**member, "roles": ["default-clock-timestamp"]}})
        context = structure({"t": unsigned(64, roles=["default-clock-timestamp"])})
        fragments = [
            {"type": "preamble", "version": 2},
            CLOCK,
            stream_class(
                **{
                    "packet-context-field-class": context,
                    "event-record-header-field-class": header,
                }
            ),
            event_class(),
        ]
        writer = BitWriter().integer(begin, 64)
        for number, time in enumerate(times):
            low = time & ((1 << bits_of) - 1)
            if "bit-order" in member:
                writer.integer(int(f"{low:016b}"[::-1], 2), 16)
            elif member["type"].startswith("variable"):
                writer.raw(bytes([low & 0x7F | 0x80, low >> 7]))
            else:
                writer.integer(low, bits_of)
            writer.integer(number, 8)
        write_trace(tmp_path, metadata(*fragments), {"stream": writer.getvalue()})

        assert [time for _, time, _ in events_of(tmp_path)] == times

    def test_a_packet_begins_with_a_clock_of_0(self, tmp_path):
        """Packets do not depend on those before them (section 6.1)."""
        context = structure(
            {
                "total": unsigned(16, roles=["packet-total-length"]),
                "t": unsigned(16, roles=["default-clock-timestamp"]),
            }
        )
        header = structure({"t": unsigned(8, roles=["default-clock-timestamp"])})
        fragments = [
            {"type": "preamble", "version": 2},
            CLOCK,
            stream_class(
                **{
                    "packet-context-field-class": context,
                    "event-record-header-field-class": header,
                }
            ),
            event_class(),
        ]
        first = struct.pack("<HHBBBB", 64, 1000, 0, 1, 200, 2)
        second = struct.pack("<HHBB", 48, 2000, 0xFF, 3)
        write_trace(tmp_path, metadata(*fragments), {"stream": first + second})

        assert [time for _, time, _ in events_of(tmp_path)] == [1024, 1224, 2047]

    def test_one_field_may_have_several_roles(self, tmp_path):
        """As the ID of the data stream and of its class."""
        roles = ["data-stream-class-id", "data-stream-id"]
        header = structure({"both": unsigned(16, roles=roles)})
        fragments = [
            {"type": "preamble", "version": 2},
            {"type": "trace-class", "packet-header-field-class": header},
            CLOCK,
            stream_class(2),
            event_class(0, 2),
        ]
        write_trace(tmp_path, metadata(*fragments), {"stream": b"\2\0\x55"})

        parsed = TraceClass.parse((tmp_path / "metadata").read_bytes())
        file = DataFile.open(parsed, str(tmp_path / "stream"))

        assert (file.stream_class, file.stream_instance) == (0, 2)
        assert events_of(tmp_path) == [("event 2.0", 0, 0x55)]

    def test_roles_mean_nothing_in_fields_of_the_user(self, tmp_path):
        """An alias with a role may be used anywhere; there it is an integer."""
        members = {"x": unsigned(8, roles=["packet-total-length"])}

        found = list(
            vestige.open(Trace2(structure(members), [b"\x05"]).write(tmp_path))
        )

        assert found[0].payload.to_dict() == {"x": 5}

    def test_discarded_events_and_lost_packets(self, tmp_path):
        """Counted by the roles of the packet context."""
        context = structure(
            {
                "a": unsigned(16, roles=["packet-total-length"]),
                "b": unsigned(16, roles=["default-clock-timestamp"]),
                "c": unsigned(16, roles=["packet-end-default-clock-timestamp"]),
                "d": kind(
                    "variable-length-unsigned-integer",
                    roles=["discarded-event-record-counter-snapshot"],
                ),
                "e": unsigned(8, roles=["packet-sequence-number"]),
            }
        )
        fragments = [
            {"type": "preamble", "version": 2},
            CLOCK,
            stream_class(**{"packet-context-field-class": context}),
            event_class(),
        ]
        packets = [
            struct.pack("<HHHBBB", 72, begin, begin + 10, discarded, sequence, 1)
            for begin, discarded, sequence in [(10, 0, 0), (30, 5, 1), (60, 5, 4)]
        ]
        write_trace(tmp_path, metadata(*fragments), {"stream": b"".join(packets)})

        _, warnings = render(tmp_path)

        assert "discarded 5 events" in warnings
        assert "discarded 2 packets" in warnings


class TestDamage:
    """Packets that do not belong to the trace."""

    def test_another_metadata_uuid(self, tmp_path):
        """The packet belongs to another trace."""
        trace = Trace2(ONE, [b"\1"])
        directory = trace.write(tmp_path)
        data = (directory / "stream").read_bytes()
        (directory / "stream").write_bytes(data.replace(UUID, bytes(16)))

        with pytest.raises(TraceFormatError, match="another UUID than the metadata"):
            list(vestige.open(directory, strict=True))

    def test_another_magic_number(self, tmp_path):
        """It is no packet."""
        directory = Trace2(ONE, [b"\1"]).write(tmp_path)
        data = (directory / "stream").read_bytes()
        (directory / "stream").write_bytes(b"\0" + data[1:])

        with pytest.raises(TraceFormatError, match=f"magic number {MAGIC:#x}"):
            list(vestige.open(directory, strict=True))

    def test_an_unknown_event_record_class(self, tmp_path):
        """What comes before it is kept."""
        trace = Trace2(ONE, [b"\1"])
        directory = trace.write(tmp_path)
        writer = BitWriter().raw((directory / "stream").read_bytes())
        writer.integer(99, 8)
        writer.patch(160, writer.position, 64).patch(224, writer.position, 64)
        (directory / "stream").write_bytes(writer.getvalue())

        with pytest.warns(TraceDamageWarning, match="runs past the end|of class 99"):
            assert len(list(vestige.open(directory))) == 1

    def test_an_endless_variable_length_integer(self, tmp_path):
        """It is refused after more bytes than any tracer writes."""
        member = kind("variable-length-unsigned-integer")
        trace = Trace2(structure({"n": member}), [b"\xff" * 5000])

        with pytest.warns(TraceDamageWarning, match="more than 512 bytes"):
            assert list(vestige.open(trace.write(tmp_path))) == []


def test_the_compact_header_of_lttng(tmp_path):
    """A small ID with a short time, or an escape with both in full."""
    short = structure(
        {"timestamp": bits("unsigned-integer", 27, roles=["default-clock-timestamp"])}
    )
    full = structure(
        {
            "id": unsigned(32, roles=["event-record-class-id"]),
            "timestamp": unsigned(64, roles=["default-clock-timestamp"]),
        },
        minimum_alignment=8,
    )
    mappings = {"compact": [[0, 30]], "extended": [[31, 31]]}
    roles = ["event-record-class-id"]
    options = [
        {"name": "compact", "field-class": short, "selector-field-ranges": [[0, 30]]},
        {"name": "extended", "field-class": full, "selector-field-ranges": [[31, 31]]},
    ]
    place = location("id", origin="event-record-header")
    header = structure(
        {
            "id": bits("unsigned-integer", 5, mappings=mappings, roles=roles),
            "v": kind("variant", options=options, selector_field_location=place),
        },
        minimum_alignment=8,
    )
    fragments = [
        {"type": "preamble", "version": 2},
        CLOCK,
        stream_class(**{"event-record-header-field-class": header}),
        event_class(4),
        event_class(1000),
    ]
    writer = BitWriter().integer(4, 5).integer(77, 27, align=1).integer(1, 8)
    writer.align(8).integer(31, 5, align=1).integer(1000).integer(1 << 40, 64).integer(
        2, 8
    )
    write_trace(tmp_path, metadata(*fragments), {"stream": writer.getvalue()})

    assert events_of(tmp_path) == [("event 0.4", 77, 1), ("event 0.1000", 1 << 40, 2)]


def render(directory):
    """Return the text of the event records without their times, and the warnings."""
    warnings = io.StringIO()
    with tempfile.TemporaryFile() as file:
        sink = TextPrettySink(descriptor=file.fileno(), warnings=warnings)
        Graph([CtfFsSource([directory])], sink).run()
        file.seek(0)
        text = file.read().decode()
    lines = [line.split(": ", 1)[1] for line in text.splitlines()]
    return lines, warnings.getvalue()


def test_the_text_of_every_kind_of_field(tmp_path):
    """As Babeltrace 2 prints them, as far as it does."""
    number = signed(96, preferred_display_base=10)
    members = {
        "bits": bits("bit-array", 12, alignment=8),
        "wide": bits("bit-array", 72, alignment=8),
        "flags": bits("bit-map", 8, flags={"A": [[0, 0]], "B": [[1, 7]]}),
        "no_flags": bits("bit-map", 8, flags={"A": [[7, 7]]}),
        "yes": bits("boolean", 8),
        "number": number,
        "hex": {**number, "preferred-display-base": 16},
        "octal": {**number, "preferred-display-base": 8},
        "binary": unsigned(65, preferred_display_base=2),
        "leb": kind("variable-length-signed-integer", preferred_display_base=16),
        "named": kind("variable-length-unsigned-integer", mappings={"z": [[3, 4]]}),
        "unnamed": kind("variable-length-unsigned-integer", mappings={"z": [[3, 4]]}),
        "text": kind("null-terminated-string", encoding="utf-16be"),
        "lone": kind("static-length-string", length=2, encoding="utf-16be"),
        "blob": kind("static-length-blob", length=3),
        "some": kind(
            "optional", field_class=unsigned(8), selector_field_location=location("yes")
        ),
        "half": bits("floating-point-number", 16, alignment=8),
    }

    def write(writer):
        writer.integer(0xABC, 12).integer(0x1F_0000_0000_0000_0001, 72)
        writer.integer(5, 8).integer(5, 8).integer(1, 8)
        for _ in range(3):
            writer.integer(-(10**20), 96)
        writer.integer(1 << 64, 65).raw(b"\x7f\x03\x05").raw('a"é\0'.encode("utf-16be"))
        writer.raw(b"\xdc\x00").raw(b"\x00\xff\x10").integer(9, 8).raw(b"\x00\x3e")

    [line], _ = render(Trace2(structure(members), [write]).write(tmp_path))

    expected = [
        "bits = 0xABC",
        "wide = 0x1F0000000000000001",
        'flags = ( "A" | "B" : container = 0x5 )',
        "no_flags = ( <none> : container = 0x5 )",
        "yes = true",
        "number = -100000000000000000000",
        f"hex = 0x{(1 << 96) - 10**20:X}",
        f"octal = 0{(1 << 96) - 10**20:o}",
        f"binary = 0b{1 << 64:b}",
        "leb = 0xFFFFFFFFFFFFFFFF",
        'named = ( "z" : container = 3 )',
        "unnamed = ( <unknown> : container = 5 )",
        'text = "a\\"é"',
        'lone = "\ufffd"',
        "blob = 0x00ff10",
        "some = { 9 }",
        "half = 1.5",
    ]
    assert line == "{ " + ", ".join(expected) + " }"


def test_only_fields_of_the_user_are_shown_of_a_packet_context(tmp_path):
    """Those with a role serve the reader, but for a length that is shown."""
    blob = kind(
        "dynamic-length-blob",
        length_field_location=location("n", origin="packet-context"),
    )
    trace = Trace2(
        ONE,
        [b"\1"],
        context={"n": unsigned(8), "blob": blob},
        context_bytes=b"\x01\xaa",
    )

    [line], _ = render(trace.write(tmp_path))

    assert line == "{ n = 1, blob = 0xaa }, { x = 1 }"


class TestMetadata:
    """How metadata is found and what it becomes."""

    def test_directories_of_one_trace_have_one_identity(self, tmp_path):
        """Namespace, name and unique ID; without it, every directory is a trace."""
        trace = Trace2(ONE, [b"\1"])
        identities = [
            ("a", "n", "1"),
            ("a", "n", "1"),
            ("b", "n", "1"),
            ("a", "n", None),
        ]
        for number, (namespace, name, uid) in enumerate([*identities, identities[3]]):
            fragments = trace.fragments()
            identity = {"namespace": namespace, "name": name, "uid": uid}
            fragments[1] |= {key: part for key, part in identity.items() if part}
            files = {"stream": trace.data()}
            write_trace(tmp_path / str(number), metadata(*fragments), files)

        traces = {stream.trace.name for stream in CtfFsSource([tmp_path]).streams}
        joined = CtfFsSource([tmp_path / "0", tmp_path / "1"]).streams

        assert len(traces) == 4
        assert len({id(stream.trace) for stream in joined}) == 1

    def test_fragments_may_be_packetised(self, tmp_path):
        """In the packets that CTF 1.8 has, with either version."""
        directory = Trace2(ONE, [b"\1"]).write(tmp_path)
        text = (directory / "metadata").read_bytes().decode()
        (directory / "metadata").write_bytes(packetised_metadata(text))

        assert len(list(vestige.open(directory))) == 1

        packets = packetised_metadata(text).replace(b"\0\0\0\x01\x08", b"\0\0\0\x02\0")
        (directory / "metadata").write_bytes(packets)

        assert len(list(vestige.open(directory))) == 1

    def test_empty_fragments_and_zeros_behind_the_last(self, tmp_path):
        """RFC 7464 allows the first, buffers of tracers leave the second."""
        directory = Trace2(ONE, [b"\1"]).write(tmp_path)
        text = (directory / "metadata").read_bytes()
        text = text.replace(b"\x1e", b"\x1e\n\x1e", 2) + bytes(100)
        (directory / "metadata").write_bytes(text)

        assert len(list(vestige.open(directory))) == 1

    def test_names_and_attributes_are_in_the_model(self):
        """All that a producer says of itself."""
        member = {"name": "x", "field-class": unsigned(8, attributes={"n": {"a": [1]}})}
        member["attributes"] = {"m": "é"}
        fragments = [
            {**PREAMBLE, "attributes": {"t": 1}},
            {
                "type": "trace-class",
                "namespace": "ns",
                "name": "trace",
                "uid": "U",
                "environment": {"a": 1, "b": "two", "c": 1 << 63},
                "packet-header-field-class": HEADER,
                "attributes": {"t": True},
            },
            {
                **CLOCK,
                "namespace": "cns",
                "uid": "CU",
                "origin": {"namespace": "ons", "name": "boot", "uid": "7"},
                "offset-from-origin": {"seconds": -5, "cycles": 7},
                "precision": 100,
                "accuracy": 200,
                "description": "ticks",
            },
            {"type": "clock-class", "id": "other", "frequency": 8},
            stream_class(
                namespace="sns",
                name="stream",
                uid="SU",
                **{
                    "packet-context-field-class": CONTEXT,
                    "event-record-header-field-class": EVENT_HEADER,
                },
            ),
            event_class(
                namespace="ens",
                uid="EU",
                attributes={
                    "lttng.org,2009": {"log-level": "debug:line", "emf-uri": "e:f"}
                },
                **{
                    "payload-field-class": {
                        "type": "structure",
                        "member-classes": [member],
                    }
                },
            ),
        ]

        trace = trace_class_model(TraceClass.parse(metadata(*fragments)))

        assert trace.version == (2, 0)
        assert trace.uuid is not None
        assert trace.uuid.bytes == UUID
        assert (trace.namespace, trace.name, trace.uid) == ("ns", "trace", "U")
        assert trace.attributes == {"t": True}
        assert trace.environment == {"a": 1, "b": "two", "c": str(1 << 63)}
        [clock, other] = trace.clocks
        assert (clock.name, clock.namespace, clock.uid) == ("monotonic", "cns", "CU")
        assert (clock.offset_seconds, clock.offset_cycles) == (-5, 7)
        assert (clock.precision, clock.accuracy, clock.description) == (
            100,
            200,
            "ticks",
        )
        assert clock.origin is not None
        assert (clock.origin.namespace, clock.origin.name, clock.origin.uid) == (
            "ons",
            "boot",
            "7",
        )
        assert (other.name, other.precision, other.accuracy) == ("other", None, None)
        assert (other.origin, clock.absolute) == (None, False)
        [stream] = trace.stream_classes
        assert (stream.namespace, stream.name, stream.uid) == ("sns", "stream", "SU")
        assert stream.clock == clock
        [event] = stream.event_classes
        assert (event.namespace, event.name, event.uid) == ("ens", "event 0.0", "EU")
        assert (event.log_level, event.emf_uri) == (13, "e:f")
        assert event.payload is not None
        [described] = event.payload.members
        assert described.attributes == {"m": "é"}
        assert described.field_class.attributes == {"n": {"a": [1]}}

    def test_the_words_of_release_candidates(self, tmp_path):
        """Tracers that were written before the specification was final."""
        place = ["event-record-payload", "sel"]
        members = {
            "sel": {
                **unsigned(8),
                "type": "fixed-length-unsigned-enumeration",
                "mappings": {"A": [[1, 1]]},
            },
            "blob": kind("dynamic-length-blob", length_field_location=place),
        }
        fragments = [
            PREAMBLE,
            {"type": "trace-class", "packet-header-field-class": HEADER},
            {
                "type": "clock-class",
                "name": "old",
                "uuid": list(range(16)),
                "frequency": 1000,
                "origin-is-unix-epoch": True,
                "offset": {"seconds": 3, "cycles": 2500},
                "user-attributes": {"t": 1},
            },
            {
                "type": "data-stream-class",
                "default-clock-class-name": "old",
                "packet-context-field-class": CONTEXT,
                "event-record-header-field-class": EVENT_HEADER,
            },
            {**event_class(), "payload-field-class": structure(members)},
        ]
        data = Trace2(structure(members), [b"\x01z"]).data()
        write_trace(tmp_path, metadata(*fragments), {"stream": data})

        [event] = vestige.open(tmp_path)

        assert event.payload.to_dict() == {"sel": 1, "blob": b"z"}
        assert event.timestamp == 3 * 10**9 + (2500 + 1000) * 10**6
