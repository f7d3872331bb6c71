"""Decoding all of some data streams when nobody looks at their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.ctf_writer import Packet, Trace, numbered
from support.kernel_like import write_kernel_like
from support.recordings import DATA, NAMES, copy_trace
from vestige import core
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import mux

CONTEXT_AT = 24
"""Byte offset of the packet context in a kernel-like packet."""


def verified(trace: Path) -> int | None:
    """Decode a trace to its end and return the number of records."""
    verifier = core.Verifier([stream.handle for stream in CtfFsSource([trace]).streams])
    while verifier.step():
        pass
    return verifier.records


@pytest.mark.parametrize("name", NAMES)
def test_it_counts_as_many_records_as_reading_in_order(name):
    """Whatever the number of packets and of data streams is."""
    streams = CtfFsSource([DATA / name]).streams

    assert verified(DATA / name) == sum(len(merge) for merge in mux(streams))


def test_packets_of_a_data_stream_are_decoded_without_those_before(tmp_path):
    """Each sets the clock to its own beginning."""
    trace = tmp_path / "trace"
    write_kernel_like(trace, classes=50, records=2000, packet_size=1 << 14, rounds=2)

    assert verified(trace) == 4000


def test_nothing_is_counted_before_all_is_decoded():
    """Half an answer would be taken for a whole one."""
    streams = CtfFsSource([DATA / "hello"]).streams

    assert core.Verifier([stream.handle for stream in streams]).records is None


@pytest.mark.parametrize("damage", ["cut", "zeros", "time"])
def test_anything_wrong_gives_no_number(tmp_path, damage):
    """Damage that is seen at once, in a record, or between two packets."""
    trace = tmp_path / "trace"
    write_kernel_like(trace, classes=20, records=800, cpus=1, packet_size=1 << 13)
    file = trace / "channel0_0"
    raw = bytearray(file.read_bytes())
    if damage == "cut":
        del raw[-5000:]
    elif damage == "zeros":
        raw[200:1200] = bytes(1000)
    else:
        second = int.from_bytes(raw[CONTEXT_AT + 24 :][:8], "little") // 8
        begin = second + CONTEXT_AT
        raw[begin : begin + 8] = (1 << 39).to_bytes(8, "little")
    file.write_bytes(raw)

    assert verified(trace) is None


def test_damage_that_ends_one_data_stream_is_damage_of_all(tmp_path):
    """The caller then reads everything in order and tells what is wrong."""
    trace = Trace(streams={"a": [Packet(numbered(5))], "b": [Packet(numbered(5))]})
    directory = trace.write(tmp_path)
    assert verified(directory) == 10

    (directory / "b").write_bytes((directory / "b").read_bytes()[:-3])
    assert verified(directory) is None


def test_a_trace_of_several_files_is_decoded_whole(tmp_path):
    """As after a rotation of its files."""
    directory = copy_trace("lost", tmp_path / "copy")

    assert verified(directory) == verified(DATA / "lost")
