"""Writes CTF 1.8 traces for tests: metadata as text, data streams bit by bit.

The writer checks nothing, on purpose: most of what it is for are traces that lie. The
bit order is that of CTF 1.8.3, section 4.1.2: a little-endian field fills each byte
from its least significant bit on, a big-endian one from its most significant bit on.

What most tests need is :class:`Trace`, a trace of one stream class whose packets have
the header and the context that LTTng writes; tests with needs of their own write their
metadata themselves and use :class:`BitWriter`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

ByteOrder = Literal["le", "be"]

MAGIC = 0xC1FC1FC1
METADATA_MAGIC = 0x75D11D57
UUID = bytes.fromhex("2a6422d06cee11e08c08cb07d7b3a564")
UUID_TEXT = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564"

TYPES = """\
typealias integer { size = 8; align = 8; } := uint8_t;
typealias integer { size = 16; align = 8; } := uint16_t;
typealias integer { size = 32; align = 8; } := uint32_t;
typealias integer { size = 64; align = 8; } := uint64_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
"""
"""Integer types for the fields of events."""

_HEAD = """\
/* CTF 1.8 */
{types}
trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = {order};
	packet.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }};
}};
clock {{ name = "monotonic"; freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.monotonic.value; }} := time_t;
stream {{
	id = 0;
	packet.context := struct {{
		uint64_t packet_size;
		uint64_t content_size;
		time_t timestamp_begin;
		time_t timestamp_end;
		uint64_t events_discarded;
		uint64_t packet_seq_num; {packet}
	}};
	event.header := struct {{ uint16_t id; time_t timestamp; }};{context}
}};
{environment}"""

PACKET_HEAD_BYTES = 24 + 48
"""Size of the packet header and context above: where the first event record begins."""
EVENT_HEADER_BYTES = 10
"""Size of the event record header above."""


def metadata_head(
    order: ByteOrder = "le", *, packet: str = "", context: str = "", env: str = ""
) -> str:
    """Return metadata up to the event classes, with the header that all tests share.

    Args:
        order: The byte order of the trace.
        packet: TSDL members of the packet context, behind those that all have.
        context: TSDL members of the common context of event records.
        env: Entries of the environment.
    """
    scope = f"\n\tevent.context := struct {{ {context} }};" if context else ""
    environment = f"env {{ {env} }};\n" if env else ""
    return _HEAD.format(
        types=TYPES,
        uuid=UUID_TEXT,
        order=order,
        packet=packet,
        context=scope,
        environment=environment,
    )


class BitWriter:
    """Writes fields at any bit offset.

    Args:
        order: Byte order of fields that state none.
    """

    def __init__(self, order: ByteOrder = "le") -> None:
        self.order: ByteOrder = order
        self.position = 0
        """Bit offset of the next field."""
        self._data = bytearray()

    def align(self, alignment: int) -> Self:
        """Skip to a multiple of ``alignment`` bits; the bits in between are 0."""
        self.position += -self.position % alignment
        self._data.extend(bytes(-(-self.position // 8) - len(self._data)))
        return self

    def integer(
        self,
        value: int,
        size: int = 32,
        *,
        align: int = 8,
        order: ByteOrder | None = None,
    ) -> Self:
        """Write an integer of ``size`` bits; negative ones as two's complement."""
        self.align(align)
        order = order or self.order
        start, self.position = self.position, self.position + size
        self.align(1)
        return self.patch(start, value, size, order=order)

    def patch(
        self, start: int, value: int, size: int, *, order: ByteOrder | None = None
    ) -> Self:
        """Write an integer at bit ``start``, over what is there."""
        first, last = start // 8, -(-(start + size) // 8)
        mask = (1 << size) - 1
        little = (order or self.order) == "le"
        shift = start % 8 if little else last * 8 - start - size
        name: Literal["little", "big"] = "little" if little else "big"
        old = int.from_bytes(self._data[first:last], name)
        new = (old & ~(mask << shift)) | ((value & mask) << shift)
        self._data[first:last] = new.to_bytes(last - first, name)
        return self

    def float(
        self, value: float, size: Literal[32, 64] = 64, *, align: int = 8
    ) -> Self:
        """Write a floating point number."""
        code = "f" if size == 32 else "d"
        bits = int.from_bytes(struct.pack(f">{code}", value), "big")
        return self.integer(bits, size, align=align)

    def string(self, text: str | bytes) -> Self:
        """Write a string and its NUL."""
        return self.raw((text.encode() if isinstance(text, str) else text) + b"\0")

    def raw(self, data: bytes) -> Self:
        """Write whole bytes, on the next byte boundary."""
        self.align(8)
        self._data.extend(data)
        self.position += 8 * len(data)
        return self

    def getvalue(self) -> bytes:
        """Return the bytes so far; unused bits of the last byte are 0."""
        return bytes(self._data)


Payload = bytes | Callable[[BitWriter], object]
"""The fields of an event record: bytes, or who writes them."""


@dataclass(frozen=True)
class Event:
    """An event record."""

    timestamp: int
    """Clock value."""
    payload: Payload = b""
    """What follows the header."""
    id: int = 0
    """ID of its class."""


@dataclass(frozen=True)
class Packet:
    """A packet; everything that is ``None`` is told truly."""

    events: Sequence[Event] = ()
    """Its event records."""
    begin: int | None = None
    """Clock value at its beginning: that of the first record."""
    end: int | None = None
    """Clock value at its end: that of the last record."""
    discarded: int = 0
    """Event records discarded since the stream began."""
    sequence: int = 0
    """Sequence number."""
    padding: int = 0
    """Bytes of padding behind the content."""
    magic: int = MAGIC
    """Magic number."""
    uuid: bytes = UUID
    """UUID of the trace."""
    stream_id: int = 0
    """ID of the stream class."""
    packet_bits: int | None = None
    """Packet size that its context tells."""
    content_bits: int | None = None
    """Content size that its context tells."""
    context: bytes = b""
    """Fields of its context behind those that all have."""

    def encode(self, order: ByteOrder = "le") -> bytes:
        """Return the bytes of the packet."""
        times = [event.timestamp for event in self.events] or [0]
        writer = (
            BitWriter(order).integer(self.magic).raw(self.uuid).integer(self.stream_id)
        )
        sizes = writer.position
        begin = times[0] if self.begin is None else self.begin
        end = times[-1] if self.end is None else self.end
        for value in (0, 0, begin, end, self.discarded, self.sequence):
            writer.integer(value, 64)
        writer.raw(self.context)
        for event in self.events:
            _write_event(writer, event)
        content = writer.position
        writer.raw(bytes(self.padding))
        total = writer.position
        writer.patch(sizes, total if self.packet_bits is None else self.packet_bits, 64)
        stated = content if self.content_bits is None else self.content_bits
        writer.patch(sizes + 64, stated, 64)
        return writer.getvalue()


def _write_event(writer: BitWriter, event: Event) -> None:
    writer.integer(event.id, 16).integer(event.timestamp, 64)
    if callable(event.payload):
        event.payload(writer)
    else:
        writer.raw(event.payload)


@dataclass
class Trace:
    """A trace with one stream class, in the header and context layout of LTTng.

    Event class 0 has one field, ``value``, an ``uint32_t``.
    """

    event_fields: Sequence[str] = ("uint32_t value;",)
    """TSDL members of the payloads of event classes 0, 1, …, named ``event_0``, …."""
    declarations: str = ""
    """TSDL in front of the event classes."""
    order: ByteOrder = "le"
    """Byte order of the trace."""
    streams: Mapping[str, Iterable[Packet]] = field(default_factory=dict)
    """The packets of each data stream file."""

    def metadata(self) -> str:
        """Return the metadata."""
        head = metadata_head(self.order)
        events = "".join(
            f'event {{ id = {index}; stream_id = 0; name = "event_{index}";\n'
            f"\tfields := struct {{ {members} }};\n}};\n"
            for index, members in enumerate(self.event_fields)
        )
        return head + self.declarations + events

    def write(self, directory: Path) -> Path:
        """Write the trace; return its directory."""
        files = {
            name: b"".join(packet.encode(self.order) for packet in packets)
            for name, packets in self.streams.items()
        }
        return write_trace(directory, self.metadata(), files)


def write_trace(
    directory: Path, metadata: str | bytes, files: Mapping[str, bytes]
) -> Path:
    """Write any metadata and any data stream files; return the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    text = metadata.encode() if isinstance(metadata, str) else metadata
    (directory / "metadata").write_bytes(text)
    for name, data in files.items():
        (directory / name).write_bytes(data)
    return directory


def packetised_metadata(
    text: str, order: ByteOrder = "le", *, packet_text: int = 1000, padding: int = 64
) -> bytes:
    """Return metadata text cut into packets, as LTTng writes it."""
    data = text.encode()
    pieces = [
        data[start : start + packet_text] for start in range(0, len(data), packet_text)
    ]
    return b"".join(_metadata_packet(piece, order, padding) for piece in pieces)


def _metadata_packet(text: bytes, order: ByteOrder, padding: int) -> bytes:
    content = 37 + len(text)
    writer = BitWriter(order).integer(METADATA_MAGIC).raw(UUID).integer(0)
    writer.integer(content * 8).integer((content + padding) * 8)
    return writer.raw(bytes([0, 0, 0, 1, 8])).raw(text).raw(bytes(padding)).getvalue()


def numbered(count: int, *, start: int = 0, step: int = 1000) -> list[Event]:
    """Return events of class 0 whose value is their number."""
    return [
        Event(1_000_000 + (start + number) * step, struct.pack("<I", start + number))
        for number in range(count)
    ]
