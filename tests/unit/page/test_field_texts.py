"""Fields of events as people read them."""

from __future__ import annotations

import struct

import vestige
from support.ctf_writer import Event, Packet, Trace, metadata_head, write_trace
from vestige.page.field_texts import FieldTexts

FIELDS = (
    "integer { size = 64; align = 8; base = 16; } _pointer;"
    "integer { size = 8; align = 8; signed = true; base = 16; } _small;"
    "integer { size = 8; align = 8; base = 8; } _mode;"
    "integer { size = 8; align = 8; base = 16; } _bytes[2];"
    "struct { int32_t _depth; string _name; } _inner; string _text;"
)
PAYLOAD = struct.pack("<QbB2BI", 0xABC, -2, 0o17, 10, 11, 5) + b"n\0" + b"a\n\0"
SHOWN = (
    r"pointer=0xABC small=0xFE mode=017 bytes=[0xA, 0xB] "
    r'inner={depth=5, name="n"} text="a\n"'
)


def events(tmp_path, packet):
    """Write a trace of one event, and read it."""
    trace = Trace((FIELDS,), streams={"s": [packet]})
    return list(vestige.open(trace.write(tmp_path / "trace"), debug_info=False))


def test_numbers_have_the_base_that_the_trace_wants(tmp_path):
    """As ``vestige view`` writes them; what would move a cursor is written out."""
    [event] = events(tmp_path, Packet([Event(10, PAYLOAD, 0)]))

    assert FieldTexts(200).of(event) == SHOWN
    assert FieldTexts(7).of(event) == "pointer …"


def test_who_recorded_it_is_left_out(tmp_path):
    """The row says it; a context of another kind is shown."""
    head = metadata_head(
        packet="int32_t vpid;", context="int32_t _vtid; uint64_t _ip; int32_t _prio;"
    )
    head += (
        'event { id = 0; stream_id = 0; name = "e";\n'
        "\tfields := struct { int32_t _vpid; };\n};\n"
    )
    # Common context, then payload.
    packet = Packet(
        [Event(10, struct.pack("<iQii", 9, 0x1000, 20, 3), 0)],
        context=struct.pack("<i", 7),
    )
    write_trace(tmp_path / "trace", head, {"s": packet.encode()})

    [event] = vestige.open(tmp_path / "trace", debug_info=False)
    assert FieldTexts(200).of(event) == "vpid=3 prio=20"
