"""Writes traces of very many small packets, like those of barectf on small machines.

A microcontroller has little memory, so its packets hold a few event records each. What a
reader does once a packet then matters more than what it does once a record.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

UUID = bytes(range(0x60, 0x70))
MAGIC = 0xC1FC1FC1
FIRST_TIME = 1 << 40

METADATA = """\
/* CTF 1.8 */

typealias integer { size = 8; align = 8; } := uint8_t;
typealias integer { size = 16; align = 8; } := uint16_t;
typealias integer { size = 32; align = 8; } := uint32_t;
typealias integer { size = 64; align = 8; } := uint64_t;

trace {
	major = 1;
	minor = 8;
	uuid = "60616263-6465-6667-6869-6a6b6c6d6e6f";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t uuid[16];
		uint64_t stream_id;
	};
};

clock {
	name = "ticks";
	freq = 1000000000;
	offset = 1500000000000000000;
};

typealias integer { size = 64; align = 8; map = clock.ticks.value; } := time_t;

stream {
	id = 0;
	packet.context := struct {
		uint64_t packet_size;
		uint64_t content_size;
		time_t timestamp_begin;
		time_t timestamp_end;
		uint64_t events_discarded;
		uint64_t packet_seq_num;
		uint32_t node;
	};
	event.header := struct {
		uint16_t id;
		time_t timestamp;
	};
};

event {
	name = "sample";
	id = 0;
	stream_id = 0;
	fields := struct {
		uint32_t sensor;
		integer { size = 32; align = 8; signed = true; } value;
	};
};

event {
	name = "reading";
	id = 2;
	stream_id = 0;
	fields := struct {
		uint32_t sensor;
		enum : uint8_t { idle = 0, busy = 1, failed = 2 } state;
		integer { size = 16; align = 8; signed = true; } axes[6];
		floating_point { exp_dig = 8; mant_dig = 24; align = 8; byte_order = le; } celsius;
		uint64_t counter;
		string unit;
	};
};

event {
	name = "message";
	id = 1;
	stream_id = 0;
	fields := struct {
		uint8_t level;
		string text;
	};
};
"""

_HEADER = struct.Struct("<I16sQ")
_CONTEXT = struct.Struct("<QQQQQQI")
NODES = 1000
"""The packet context names one of so many nodes, another for each packet."""
_SAMPLE = struct.Struct("<HQIi")
_MESSAGE = struct.Struct("<HQB")
_READING = struct.Struct("<HQIB6hfQ")
_WIDE = 48
"""From so many bytes a record on, packets have records that fill them."""
_HEAD_SIZE = _HEADER.size + _CONTEXT.size


@dataclass
class Losses:
    """After how many packets something is lost, 0 for never."""

    events: int = 0
    """Event records are discarded before each packet that this divides."""
    packets: int = 0
    """A packet is missing before each packet that this divides."""


def write_small_packets(
    directory: Path,
    *,
    packets: int,
    records: int,
    size: int = 0,
    streams: int = 1,
    losses: Losses | None = None,
) -> None:
    """Write a trace to a directory.

    Args:
        directory: Where; it is made.
        packets: How many packets each data stream has.
        records: How many event records a packet has.
        size: Bytes of a packet, or 0 for as many as its records need. With much room for each
            record, the records are long.
        streams: How many data streams there are.
        losses: What its tracer lost.
    """
    directory.mkdir(parents=True)
    (directory / "metadata").write_text(METADATA, encoding="utf-8")
    for stream in range(streams):
        with (directory / f"stream_{stream}").open("wb") as file:
            counters = _Counters(losses or Losses())
            for packet in range(packets):
                begin = FIRST_TIME + (packet * streams + stream) * 1000
                file.write(_packet(begin, packet, records, size, counters))


class _Counters:
    """What a tracer counts of what it loses."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self.discarded = 0
        self.sequence = -1

    def advance(self, packet: int) -> None:
        """Go on to a packet."""
        self.sequence += 1
        if self._losses.events and packet and packet % self._losses.events == 0:
            self.discarded += packet % 7 + 1
        if self._losses.packets and packet and packet % self._losses.packets == 0:
            self.sequence += 1


def _packet(
    begin: int, packet: int, records: int, size: int, counters: _Counters
) -> bytes:
    counters.advance(packet)
    body = bytearray()
    is_wide = size - _HEAD_SIZE >= _WIDE * records
    for index in range(records):
        time = begin + 10 * index + 1
        number = packet * records + index
        if is_wide:
            axes = (
                (number * step) % 4001 - 2000 for step in (3, 7, 31, 127, 511, 1023)
            )
            celsius = number % 700 / 8
            facts = (number % 12, number % 3, *axes, celsius, number * 7919)
            body += _READING.pack(2, time, *facts) + b"m/s2\0"
        elif number % 5 == 4:
            text = f"event {number}".encode()
            body += _MESSAGE.pack(1, time, number % 8) + text + b"\0"
        else:
            body += _SAMPLE.pack(0, time, number % 12, (number * 7919) % 4001 - 2000)
    content = _HEAD_SIZE + len(body)
    total = max(size, content)
    if size and content > size:
        message = f"{records} event records do not fit {size} bytes"
        raise ValueError(message)
    end = begin + 10 * records + 1
    times = (begin, end, counters.discarded, counters.sequence, packet % NODES)
    head = _HEADER.pack(MAGIC, UUID, 0) + _CONTEXT.pack(total * 8, content * 8, *times)
    return head + bytes(body) + bytes(total - content)
