"""Writes a trace like that of a kernel: hundreds of classes, large metadata, many CPUs.

Kernels cannot be traced everywhere, and a comparison needs a trace of a certain size. The
shapes are those of LTTng's kernel tracer: headers with short times, integers of all
sizes, enumerations of flags, text arrays, sequences, nested structures; one data
stream for each CPU. Records of a class differ, so that no reader profits from sameness.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

UUID = bytes(range(0x40, 0x50))
MAGIC = 0xC1FC1FC1
TIME_BITS = 32
"""Bits of the short time in a header."""
FIRST_TIME = 1 << 40
VARIANTS = 6
"""How many different records of each class there are."""

HEAD = """\
/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;

trace {
	major = 1;
	minor = 8;
	uuid = "40414243-4445-4647-4849-4a4b4c4d4e4f";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
	};
};

env {
	hostname = "machine";
	domain = "kernel";
	sysname = "Linux";
};

clock {
	name = "monotonic";
	freq = 1000000000;
	offset = 1500000000000000000;
};

typealias integer {
	size = 32; align = 8; signed = false; map = clock.monotonic.value;
} := time32_t;
typealias integer {
	size = 64; align = 8; signed = false; map = clock.monotonic.value;
} := time64_t;

struct header {
	enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;
	variant <id> {
		struct { time32_t timestamp; } compact;
		struct { uint32_t id; time64_t timestamp; } extended;
	} v;
} align(8);

stream {
	id = 0;
	event.header := struct header;
	packet.context := struct {
		time64_t timestamp_begin;
		time64_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t packet_seq_num;
		uint64_t events_discarded;
		uint32_t cpu_id;
	};
};
"""

_CONTEXT = struct.Struct("<QQQQQQI")
_HEADER = struct.Struct("<I16sI")


@dataclass(frozen=True)
class EventClass:
    """An event record class and the bodies of some records of it."""

    id: int
    metadata: str
    bodies: tuple[bytes, ...]


def _integer(size: int, *, signed: bool, base: int) -> str:
    sign = "true" if signed else "false"
    return (
        f"integer {{ size = {size}; align = 8; signed = {sign}; "
        f"encoding = none; base = {base}; }}"
    )


class _ClassWriter:
    """Declares the fields of one class and encodes records of it at the same time."""

    def __init__(self, number: int, chance: random.Random) -> None:
        self._chance = chance
        self.lines: list[str] = []
        self.bodies = [bytearray() for _ in range(VARIANTS)]
        self._name = f"event_{number}"

    def integer(self, index: int) -> None:
        size = self._chance.choice((8, 16, 32, 32, 64, 64))
        signed = self._chance.random() < 0.5
        base = 10 if self._chance.random() < 0.7 else 16
        kind = _integer(size, signed=signed, base=base)
        self.lines.append(f"{kind} _argument_{index};")
        for body in self.bodies:
            body.extend(self._chance.randbytes(size // 8))

    def enumeration(self, index: int) -> None:
        container = _integer(32, signed=False, base=10)
        labels = ",\n\t\t\t".join(
            f'"{self._name.upper()}_FLAG_{label}" = {label}' for label in range(24)
        )
        self.lines.append(
            f"enum : {container} {{\n\t\t\t{labels},\n\t\t}} _flag_{index};"
        )
        for body in self.bodies:
            body.extend(struct.pack("<I", self._chance.randrange(24)))

    def text_array(self, index: int) -> None:
        kind = "integer { size = 8; align = 8; encoding = UTF8; }"
        self.lines.append(f"{kind} _comm_{index}[16];")
        for body in self.bodies:
            word = f"worker/{self._chance.randrange(1000)}".encode()
            body.extend(word.ljust(16, b"\0"))

    def string(self, index: int) -> None:
        self.lines.append(f"string {{ encoding = UTF8; }} _filename_{index};")
        for body in self.bodies:
            depth = self._chance.randrange(1, 5)
            parts = (f"dir{self._chance.randrange(100)}" for _ in range(depth))
            body.extend("/".join(("", *parts)).encode() + b"\0")

    def sequence(self, index: int) -> None:
        length = _integer(16, signed=False, base=10)
        element = _integer(32, signed=True, base=10)
        self.lines.append(f"{length} __list_{index}_length;")
        self.lines.append(f"{element} _list_{index}[ __list_{index}_length ];")
        for body in self.bodies:
            count = self._chance.randrange(5)
            body.extend(struct.pack("<H", count) + self._chance.randbytes(4 * count))

    def structure(self, index: int) -> None:
        kind = _integer(64, signed=False, base=16)
        self.lines.append(
            f"struct {{\n\t\t\t{kind} _low;\n\t\t\t{kind} _high;\n\t\t}} _range_{index};"
        )
        for body in self.bodies:
            body.extend(self._chance.randbytes(16))


def event_classes(count: int) -> list[EventClass]:
    """Return as many event record classes, always the same for a number."""
    chance = random.Random(count)  # noqa: S311 - the same trace each time, no secret
    return [_event_class(number, chance) for number in range(count)]


def _event_class(number: int, chance: random.Random) -> EventClass:
    writer = _ClassWriter(number, chance)
    kinds = [
        writer.integer,
        writer.integer,
        writer.integer,
        writer.enumeration,
        writer.text_array,
        writer.string,
        writer.sequence,
        writer.structure,
    ]
    for index in range(chance.randrange(3, 12)):
        chance.choice(kinds)(index)
    fields = "".join(f"\n\t\t{line}" for line in writer.lines)
    metadata = (
        f'\nevent {{\n\tname = "subsystem_event_{number}";\n\tid = {number};\n'
        f"\tstream_id = 0;\n\tfields := struct {{{fields}\n\t}};\n}};\n"
    )
    return EventClass(number, metadata, tuple(map(bytes, writer.bodies)))


def write_kernel_like(
    directory: Path,
    *,
    classes: int = 400,
    records: int = 20_000,
    cpus: int = 4,
    packet_size: int = 1 << 20,
    rounds: int = 1,
) -> None:
    """Write a trace directory.

    Args:
        directory: It is made.
        classes: The number of event record classes.
        records: The number of event records of a round, over all CPUs.
        cpus: The number of data streams.
        packet_size: Most bytes of a packet.
        rounds: How often the packets are written, each time later.
    """
    directory.mkdir(parents=True)
    known = event_classes(classes)
    metadata = HEAD + "".join(one.metadata for one in known)
    (directory / "metadata").write_text(metadata, encoding="ascii")
    for cpu in range(cpus):
        packets = list(_packets(known, cpu, records // cpus, packet_size))
        with (directory / f"channel0_{cpu}").open("wb") as file:
            number = 0
            for turn in range(rounds):
                for packet in packets:
                    file.write(packet.encode(cpu, number, turn * _ROUND))
                    number += 1


_ROUND = 1 << 42
"""Cycles between rounds: the short times in the headers stay as they are."""


@dataclass(frozen=True)
class _Packet:
    begin: int
    end: int
    content: bytes

    def encode(self, cpu: int, number: int, later: int) -> bytes:
        head = _HEADER.size + _CONTEXT.size
        content = head + len(self.content)
        whole = -(-content // 4096) * 4096
        context = _CONTEXT.pack(
            self.begin + later, self.end + later, content * 8, whole * 8, number, 0, cpu
        )
        raw = _HEADER.pack(MAGIC, UUID, 0) + context + self.content
        return raw.ljust(whole, b"\0")


def _packets(
    known: list[EventClass], cpu: int, records: int, packet_size: int
) -> Iterator[_Packet]:
    chance = random.Random(1000 + cpu)  # noqa: S311 - as above
    time = FIRST_TIME + cpu
    content = bytearray()
    begin = last = time
    for _ in range(records):
        time += chance.randrange(200, 6000)
        # Some classes are frequent, most are rare.
        event = known[min(int(chance.expovariate(12 / len(known))), len(known) - 1)]
        record = _record(event, time, chance.randrange(VARIANTS))
        if len(content) + len(record) > packet_size - 4096:
            yield _Packet(begin, last, bytes(content))
            content.clear()
            begin = time
        content += record
        last = time
    yield _Packet(begin, last, bytes(content))


def _record(event: EventClass, time: int, variant: int) -> bytes:
    low = time & ((1 << TIME_BITS) - 1)
    return struct.pack("<HI", event.id, low) + event.bodies[variant]
