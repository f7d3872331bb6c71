"""Traces with everything that viewers must stand."""

from __future__ import annotations

import struct
from pathlib import Path

from .call_traces import HOSTILE_NAME, code, enter, leave, packet, write_calls
from .ctf_writer import Event, Packet, Trace

__all__ = ["write_hostile_calls", "write_spans"]

A, B, C = 0x1000, 0x2000, 0x3000


def write_hostile_calls(directory: Path) -> Path:
    """A trace of three threads: names of others, recursion, a loss, calls without end."""
    first = [
        code(90, A, "main"),
        code(90, B, HOSTILE_NAME),
        code(90, C, "template<" + "x" * 100_000 + ">"),
        enter(100, A),
        enter(110, B),
        enter(120, B),
        enter(120, C),
        leave(120),
        leave(150),
        leave(1_000_000_150),
        leave(1_000_000_160),
        enter(1_000_000_170, C),
    ]
    lossy = [packet([enter(200, A), enter(210, B)], vtid=2, discarded=0)]
    lossy.append(packet([leave(400), leave(410), leave(420)], vtid=2, discarded=5))
    other = [enter(300, A), leave(350), enter(350, B), leave(350)]
    streams = {
        "a": [packet(first)],
        "b": lossy,
        "c": [packet(other, vtid=3)],
    }
    return write_calls(directory, streams)


def write_spans(directory: Path) -> Path:
    """A trace of two spans, one in the other, without calls."""
    fields = (
        "uint64_t _span_id; uint64_t _parent_id; string _task; int32_t _item;",
        "uint64_t _span_id; string _error; uint64_t _waited;",
    )
    events = [
        Event(1000, struct.pack("<QQ", 1, 0) + b"t\0" + struct.pack("<i", -3), 0),
        Event(1010, struct.pack("<QQ", 2, 1) + b"\0" + struct.pack("<i", 4), 0),
        Event(1020, struct.pack("<Q", 2) + b"KeyError\0" + struct.pack("<Q", 0), 1),
        Event(1030, struct.pack("<Q", 1) + b"\0" + struct.pack("<Q", 0), 1),
    ]
    made = Trace(fields, streams={"s": [Packet(events)]})
    return made.write(directory)
