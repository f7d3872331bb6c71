"""Writes CTF 2 traces for tests: metadata as JSON fragments, data bit by bit.

Values are encoded here by other means than the reader decodes them: whole integers that
are shifted into place (:class:`~support.ctf_writer.BitWriter`), ``str.encode`` and
``struct``. Nothing is checked, so that traces may lie.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .ctf_writer import MAGIC, BitWriter, ByteOrder, write_trace

Json = dict[str, Any]
BitOrder = Literal["first-to-last", "last-to-first"]

UUID = bytes(range(100, 116))
ORDERS: dict[ByteOrder, str] = {"le": "little-endian", "be": "big-endian"}
USUAL: dict[ByteOrder, BitOrder] = {"le": "first-to-last", "be": "last-to-first"}
"""The bit order that each byte order has by default."""

PREAMBLE: Json = {"type": "preamble", "version": 2, "uuid": list(UUID)}


def metadata(*fragments: Json) -> bytes:
    """Return the metadata stream of some fragments (RFC 7464)."""
    return b"".join(
        b"\x1e" + json.dumps(fragment).encode() + b"\n" for fragment in fragments
    )


def bits(kind: str, length: int, *, order: ByteOrder = "le", **more: object) -> Json:
    """Return a fixed-length field class; ``_`` in the names of properties is ``-``."""
    return {
        "type": f"fixed-length-{kind}",
        "length": length,
        "byte-order": ORDERS[order],
        **properties(more),
    }


def properties(named: Mapping[str, object]) -> Json:
    """Return properties with the names of CTF 2."""
    return {name.replace("_", "-"): value for name, value in named.items()}


def unsigned(length: int, *, order: ByteOrder = "le", **more: object) -> Json:
    """Return an unsigned integer field class, byte-aligned."""
    return bits("unsigned-integer", length, order=order, **{"alignment": 8, **more})


def signed(length: int, *, order: ByteOrder = "le", **more: object) -> Json:
    """Return a signed integer field class, byte-aligned."""
    return bits("signed-integer", length, order=order, **{"alignment": 8, **more})


def kind(name: str, **more: object) -> Json:
    """Return a field class of a type and some properties."""
    return {"type": name, **properties(more)}


def structure(members: Mapping[str, object], **more: object) -> Json:
    """Return a structure field class."""
    classes = [
        {"name": name, "field-class": member} for name, member in members.items()
    ]
    return {"type": "structure", "member-classes": classes, **properties(more)}


def location(*path: str | None, origin: str | None = None) -> Json:
    """Return a field location."""
    place: Json = {"path": list(path)}
    return place if origin is None else {"origin": origin, **place}


def leb128(value: int, *, pad: int = 0) -> bytes:
    """Encode an integer as LEB128, with superfluous groups when ``pad`` asks for them."""
    return _groups(value, max(1, -(-value.bit_length() // 7)) + pad)


def signed_leb128(value: int) -> bytes:
    """Encode a signed integer as LEB128; its sign takes a bit."""
    width = (value if value >= 0 else ~value).bit_length() + 1
    return _groups(value, -(-width // 7))


def _groups(value: int, groups: int) -> bytes:
    raw = value & ((1 << (groups * 7)) - 1)
    octets = [(raw >> (7 * index)) & 0x7F for index in range(groups)]
    return bytes([octet | 0x80 for octet in octets[:-1]] + [octets[-1]])


def reverse(value: int, size: int) -> int:
    """Return the bits of a value, the first one last."""
    return int(f"{value & ((1 << size) - 1):0{size}b}"[::-1], 2)


HEADER = structure(
    {
        "the magic": unsigned(32, roles=["packet-magic-number"]),
        "the UUID": kind(
            "static-length-blob", length=16, roles=["metadata-stream-uuid"]
        ),
    }
)
CONTEXT = structure(
    {
        "total": unsigned(64, roles=["packet-total-length"]),
        "content": unsigned(64, roles=["packet-content-length"]),
        "begin": unsigned(64, roles=["default-clock-timestamp"]),
        "end": unsigned(64, roles=["packet-end-default-clock-timestamp"]),
    }
)
EVENT_HEADER = structure(
    {
        "number": unsigned(8, roles=["event-record-class-id"]),
        "when": unsigned(64, roles=["default-clock-timestamp"]),
    }
)
CLOCK: Json = {
    "type": "clock-class",
    "id": "the clock",
    "name": "monotonic",
    "frequency": 1_000_000_000,
    "origin": "unix-epoch",
}


@dataclass
class Trace2:
    """A trace of one data stream with one packet; event class 0 has the payload."""

    payload: Json
    """Payload field class."""
    records: Sequence[bytes | Callable[[BitWriter], object]] = ()
    """The fields of its event records."""
    specific: Json | None = None
    """Specific context field class; its fields stand before those of the payload."""
    common: Json | None = None
    """Common context field class; its fields stand before those."""
    context: Mapping[str, object] = field(default_factory=dict)
    """More members of the packet context."""
    context_bytes: bytes = b""
    """Their fields."""
    aliases: Mapping[str, object] = field(default_factory=dict)
    """Field class aliases."""

    def fragments(self) -> list[Json]:
        """Return the fragments of the metadata."""
        named = {
            member["name"]: member["field-class"]
            for member in CONTEXT["member-classes"]
        }
        stream: Json = {
            "type": "data-stream-class",
            "default-clock-class-id": "the clock",
            "packet-context-field-class": structure({**named, **self.context}),
            "event-record-header-field-class": EVENT_HEADER,
        }
        if self.common is not None:
            stream["event-record-common-context-field-class"] = self.common
        event: Json = {
            "type": "event-record-class",
            "name": "the event",
            "payload-field-class": self.payload,
        }
        if self.specific is not None:
            event["specific-context-field-class"] = self.specific
        aliases = [
            {"type": "field-class-alias", "name": name, "field-class": aliased}
            for name, aliased in self.aliases.items()
        ]
        trace = {"type": "trace-class", "packet-header-field-class": HEADER}
        return [PREAMBLE, *aliases, trace, CLOCK, stream, event]

    def data(self) -> bytes:
        """Return the data stream."""
        writer = BitWriter("le").integer(MAGIC).raw(UUID)
        sizes = writer.position
        for value in (0, 0, 1000, 1000 + len(self.records)):
            writer.integer(value, 64)
        writer.raw(self.context_bytes)
        for number, record in enumerate(self.records):
            writer.integer(0, 8).integer(1000 + number, 64)
            if callable(record):
                record(writer)
            else:
                writer.raw(record)
        content = writer.position
        writer.align(8)
        writer.patch(sizes, writer.position, 64).patch(sizes + 64, content, 64)
        return writer.getvalue()

    def write(self, directory: Path) -> Path:
        """Write the trace; return its directory."""
        files = {"stream": self.data()}
        return write_trace(directory, metadata(*self.fragments()), files)


def real(value: float, size: int, order: ByteOrder) -> bytes:
    """Encode a floating point number of 16, 32, 64 or 128 bits."""
    if size < 128:
        code = {16: "e", 32: "f", 64: "d"}[size]
        return struct.pack(("<" if order == "le" else ">") + code, value)
    raw = int.from_bytes(struct.pack(">d", value), "big")
    sign, exponent, fraction = raw >> 63, raw >> 52 & 0x7FF, raw & ((1 << 52) - 1)
    if exponent == 0x7FF:
        exponent = 0x7FFF
    elif exponent:
        exponent += 16383 - 1023
    wide = sign << 127 | exponent << 112 | fraction << 60
    return wide.to_bytes(16, "little" if order == "le" else "big")
