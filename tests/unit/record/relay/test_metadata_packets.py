"""Metadata in packets: what readers of either form find in them."""

from __future__ import annotations

import pytest

from support.ctf_writer import Trace
from vestige import core
from vestige.record.relay.metadata_packets import MOST_TEXT, is_plain, packetised

MORE = b'\nevent {\n\tname = "more";\n\tid = %d;\n\tfields := struct { };\n};\n'


def test_only_whole_declarations_are_sent():
    """What is behind them is sent with the next part."""
    raw = Trace().metadata().encode()
    assert is_plain(raw)
    whole = raw[: raw.rindex(b"\n};\n") + 4]
    first, at = packetised(whole + MORE[:20], 0)
    assert at == len(whole)
    assert packetised(whole + MORE[:20], at) == ([], at)
    second, end = packetised(whole + MORE % 77, at)
    assert end == len(whole + MORE % 77)
    packets = b"".join([*first, *second])
    found, _ = core.TraceClass.parse_partial(packets)
    expected, _ = core.TraceClass.parse_partial(whole + MORE % 77)
    assert found.describe() == expected.describe()


@pytest.mark.parametrize("order", ["le", "be"])
def test_packets_are_what_their_heads_say(order):
    """In the byte order and with the UUID of the trace, none too large for a message."""
    raw = Trace(order=order).metadata().encode() + b"\n"
    raw += b"".join(MORE % number for number in range(20_000))
    packets, end = packetised(raw, 0)
    assert end == len(raw)
    assert len(packets) > 1
    for one in packets:
        assert len(one) <= MOST_TEXT + 37
        bits = int.from_bytes(one[24:28], "little" if order == "le" else "big")
        assert (bits, one[4:20]) == (len(one) * 8, packets[0][4:20])
        assert any(one[4:20])
    assert b"".join(one[37:] for one in packets) == raw


def test_metadata_in_packets_are_left_alone():
    """Whoever begins with no signature has some, or is none."""
    assert not is_plain(packetised(Trace().metadata().encode(), 0)[0][0])
