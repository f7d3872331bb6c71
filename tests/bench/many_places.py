"""A trace whose events come from 100,000 places in 50 shared objects."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

from support.compilers import Toolchain
from support.ctf_writer import MAGIC, UUID, metadata_head, write_trace

OBJECTS = 50
FUNCTIONS = 1000
PLACES = 100_000
VPID = 4242
BASE = 0x7F00_0000_0000
SPACING = 0x1000_0000

CONTEXT = "uint64_t ip; int32_t vpid;"
EVENTS = """\
event { id = 0; stream_id = 0; name = "bench:visit";
	fields := struct { uint32_t value; }; };
event { id = 1; stream_id = 0; name = "lttng_ust_statedump:start";
	fields := struct { }; };
event { id = 2; stream_id = 0; name = "lttng_ust_statedump:bin_info";
	fields := struct { uint64_t baddr; uint64_t memsz; string path; uint8_t is_pic; };
};
event { id = 3; stream_id = 0; name = "lttng_ust_statedump:end";
	fields := struct { }; };
"""

FUNCTION = """
static int step_{n}(int x) {{ volatile int y = x; return y * {n}; }}
int function_{n}(int a, int b) {{
    int sum = step_{n}(a);
    for (int i = 0; i < b; i++)
        sum += step_{n}(sum ^ i);
    return sum;
}}
"""


def build_objects(directory: Path) -> list[Path]:
    """Build the shared objects, which differ in name and build ID alone."""
    directory.mkdir(parents=True, exist_ok=True)
    source, unit = directory / "unit.c", directory / "unit.o"
    source.write_text("".join(FUNCTION.format(n=number) for number in range(FUNCTIONS)))
    compiler = Toolchain().c_compiler
    subprocess.run(
        [compiler, "-g", "-O2", "-fPIC", "-c", "-o", unit, source], check=True
    )
    paths = [directory / f"libplaces{number}.so" for number in range(OBJECTS)]
    for number, path in enumerate(paths):
        build_id = f"-Wl,--build-id=0x{number:040x}"
        subprocess.run([compiler, "-shared", build_id, "-o", path, unit], check=True)
    return paths


def text_of(path: Path) -> tuple[int, int]:
    """Return where the section ``.text`` of an object starts and ends."""
    listing = subprocess.run(
        ["readelf", "-SW", path], check=True, capture_output=True, text=True
    ).stdout
    fields = next(line for line in listing.splitlines() if " .text " in line)
    start, _, size = fields.split("PROGBITS")[1].split()[:3]
    return int(start, 16), int(start, 16) + int(size, 16)


def write_many_places(trace: Path, events: int) -> None:
    """Write the trace, and its objects beside it, unless these are there."""
    directory = trace.parent.resolve() / "places-objects"
    objects = sorted(directory.glob("*.so")) or build_objects(directory)
    start, end = text_of(objects[0])
    chance = random.Random(1)  # noqa: S311 - no secret
    share = PLACES // OBJECTS
    places = [
        BASE + number * SPACING + offset
        for number in range(OBJECTS)
        for offset in chance.sample(range(start, end), share)
    ]
    chance.shuffle(places)
    dump = [_record(1, 0, b"")]
    for number, path in enumerate(objects):
        base, size = BASE + number * SPACING, path.stat().st_size
        dump.append(
            _record(2, 0, struct.pack("<QQ", base, size) + bytes(path) + b"\0\1")
        )
    packets = [_packet([*dump, _record(3, 0, b"")], 0, 0)]
    size = 20_000
    visits = struct.Struct("<HQQiI")
    for first in range(0, events, size):
        ips = [places[number % PLACES] for number in range(first, first + size)]
        records = [
            visits.pack(0, first + number, ip, VPID, number)
            for number, ip in enumerate(ips, 1)
        ]
        packets.append(_packet(records, first + 1, first + size))
    metadata = metadata_head(context=CONTEXT) + EVENTS
    write_trace(trace, metadata, {"places_0": b"".join(packets)})


def _record(class_id: int, time: int, payload: bytes) -> bytes:
    return struct.pack("<HQQi", class_id, time, 0, VPID) + payload


def _packet(records: list[bytes], begin: int, end: int) -> bytes:
    content = b"".join(records)
    bits = (72 + len(content)) * 8
    head = struct.pack("<I16sI", MAGIC, UUID, 0)
    return head + struct.pack("<6Q", bits, bits, begin, end, 0, 0) + content
