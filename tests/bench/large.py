"""Time what is made of a trace of a thousand million event records.

Nobody waits for a program that makes so many. A short program is recorded, and of each
of its threads the calls of one packet are written over and over, each time some
milliseconds later: all bytes are those that the recorder wrote, but for the times of
packets, their sizes and their numbers. What is printed is Markdown; it is also written to
``bench-out/table-large.md``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.traces import OUTPUT

HERE = Path(__file__).resolve().parent
VESTIGE = (sys.executable, "-m", "vestige")
HEAD = 104
"""Bytes of the header and the context of a packet of the recorder."""
TIMES = 32
"""Where its context begins: begin, end, bits of content, bits of all, number."""
ENTRY, EXIT = (0, 10), (1, 4)
"""Class and bytes of entries and exits with compact headers."""
STEP = 1 << 24
"""A compact header has the lower 24 bits of the clock."""
CACHE = "VESTIGE_CACHE_DIR"
INDEX = "import sys, vestige; vestige.open(sys.argv[1]).intervals()"
PICTURE = """import sys, vestige
intervals = vestige.open(sys.argv[1]).intervals()
span = intervals.end - intervals.begin
levels = [width for width, _ in intervals.levels]
level = next((one for one, width in enumerate(levels) if span / width < 2000), -1)
print(len(intervals.blocks(level % len(levels), 0, span)))
"""


@dataclass(frozen=True)
class Body:
    """Calls of a packet, each whole."""

    head: bytes
    """Header and context of the packet."""
    records: bytes
    """The event records."""
    count: int
    """How many these are."""


def packets(data: bytes) -> Iterator[bytes]:
    """Iterate over the packets of a data stream."""
    at = 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at + TIMES + 24)[0] // 8
        yield data[at : at + size]
        at += size


def whole_calls(packet: bytes) -> Body | None:
    """Return what is between the first and the last place with the fewest open calls.

    Args:
        packet: A packet.

    Returns:
        The calls; ``None`` if it has anything but entries and exits.
    """
    end = struct.unpack_from("<Q", packet, TIMES + 16)[0] // 8
    at, depth, places = HEAD, 0, [(0, HEAD, 0)]
    while at < end:
        number, size = EXIT if packet[at] == EXIT[0] else ENTRY
        if packet[at] != number:
            return None
        at += size
        depth += 1 if number == ENTRY[0] else -1
        places.append((depth, at, len(places)))
    least = min(places)[0]
    lowest = [place for place in places if place[0] == least]
    (_, begin, first), (_, end, last) = lowest[0], lowest[-1]
    return Body(packet[:HEAD], packet[begin:end], last - first)


def repeat(body: Body, copies: int, into: Path) -> None:
    """Write a data stream of some calls, again and again."""
    size = HEAD + len(body.records)
    packet = bytearray(body.head + body.records)
    begin, end = struct.unpack_from("<2Q", packet, TIMES)
    with into.open("wb", buffering=1 << 20) as file:
        for number in range(copies):
            shift = number * STEP
            facts = (begin + shift, end + shift, 8 * size, 8 * size, number, 0)
            struct.pack_into("<6Q", packet, TIMES, *facts)
            file.write(packet)


def make(directory: Path, events: int) -> tuple[Path, int]:
    """Record a short program, and write a large trace of its calls.

    Args:
        directory: Where.
        events: How many event records there are at least.

    Returns:
        The trace, and how many event records there are.
    """
    program, short, trace = (directory / one for one in ("hooks", "short", "trace"))
    options = ["-O2", "-g", "-finstrument-functions", "-pthread"]
    subprocess.run(["gcc", *options, HERE / "viewers.c", "-o", program], check=True)
    words = [*VESTIGE, "record", "-c", "none", "-o", str(short), "--", str(program)]
    subprocess.run([*words, "5000"], check=True, capture_output=True)
    trace.mkdir()
    bodies: dict[str, Body] = {}
    for file in sorted(short.iterdir()):
        if file.is_file() and not file.name.startswith((".", "metadata")):
            calls = map(whole_calls, packets(file.read_bytes()))
            most = max((one for one in calls if one), key=_count, default=None)
            if most is not None and most.count > 1000:
                bodies[file.name] = most
                continue
        if file.is_file():
            shutil.copy(file, trace / file.name)
    copies = -(-events // sum(body.count for body in bodies.values()))
    for name, body in bodies.items():
        repeat(body, copies, trace / name)
    return trace, copies * sum(body.count for body in bodies.values())


def _count(body: Body) -> int:
    return body.count


def run(command: Sequence[str | Path], cache: Path) -> list[str]:
    """Run a command; return processor time, time and memory as cells."""
    environment = os.environ | {CACHE: str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    with subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, env=environment
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"bench: exit status {process.returncode} of {command}")
    used = usage.ru_utime + usage.ru_stime
    return [f"{used:.2f} s", f"{took:.2f} s", f"{usage.ru_maxrss / 1024:.0f} MiB"]


def table(directory: Path, events: int) -> list[str]:
    """Measure; return the lines of the table."""
    trace, count = make(directory, events)
    cache = directory / "cache"
    size = sum(file.stat().st_size for file in trace.iterdir())
    python = [sys.executable, "-c"]
    # A short run before writes what Python compiles.
    run([*VESTIGE, "report", directory / "short"], cache)
    rows = [
        ("table of functions", [*VESTIGE, "report", trace]),
        ("index", [*python, INDEX, trace]),
        ("the first picture, with the index", [*python, PICTURE, trace]),
        ("page, with the index", [*VESTIGE, "report", "--to", "html", "-o", "/dev/null", trace]),
    ]  # fmt: skip
    lines = [
        f"{count:,} event records, {size / 1e9:.2f} GB.",
        "",
        "| | processor time | time | memory |",
        "| --- | --: | --: | --: |",
    ]
    for name, command in rows:
        lines.append(f"| {' | '.join([name, *run(command, cache)])} |")
    kept = sum(one.stat().st_size for one in cache.rglob("*.index"))
    return [*lines, "", f"The index takes {kept / 1e6:.1f} MB."]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=10**9, help="at least so many")
    parser.add_argument("--quick", action="store_true", help="a hundredth")
    options = parser.parse_args()
    directory = OUTPUT / "large"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    lines = table(directory, options.events // (100 if options.quick else 1))
    shutil.rmtree(directory)
    text = "\n".join(lines)
    (OUTPUT / "table-large.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
