"""The source of CTF traces in the file system."""

from __future__ import annotations

import pytest

import vestige
from support.ctf_writer import Packet, Trace, numbered
from support.recordings import DATA, copy_trace
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.errors import NotATraceError
from vestige.graph import mux

FIRST = 1_795_245_627_871_895_064


def first_event(source):
    """Return the first event of a source."""
    return next(iter(mux(source.streams))).event(0)


def test_traces_are_numbered_in_the_order_in_which_they_are_found():
    """Streams of one trace share it."""
    source = CtfFsSource([DATA / "threads-pid", DATA / "hello"])

    assert [(stream.trace.index, stream.trace.name) for stream in source.streams] == [
        (0, "demo/ust/pid/threads-68-20261121-072029"),
        (0, "demo/ust/pid/threads-68-20261121-072029"),
        (1, "demo/ust/pid/threads-69-20261121-072029"),
        (1, "demo/ust/pid/threads-69-20261121-072029"),
        (2, "demo/ust/uid/0/64-bit"),
        (2, "demo/ust/uid/0/64-bit"),
    ]
    assert source.streams[0].trace is source.streams[1].trace
    assert source.damage == []


def test_streams_have_the_ids_of_their_packets():
    """LTTng's are those of the processors."""
    source = CtfFsSource([DATA / "hello"])

    assert [stream.id for stream in source.streams] == [0, 1]


def test_streams_without_ids_get_them_in_the_order_of_their_names(tmp_path):
    """From 0 on."""
    packets = [Packet(numbered(1))]
    trace = Trace(streams={"c": packets, "a": packets, "b": packets}).write(tmp_path)

    assert [
        (stream.name[-1], stream.id) for stream in CtfFsSource([trace]).streams
    ] == [
        ("a", 0),
        ("b", 1),
        ("c", 2),
    ]


@pytest.mark.parametrize(
    ("seconds", "nanoseconds", "moved"),
    [
        (0, 0, 0),
        (1, 0, 10**9),
        (-3600, 0, -3600 * 10**9),
        (0, 1, 1),
        (0, -1, -1),
        (0, 2_500_000_000, 2_500_000_000),
        (2, -500_000_000, 1_500_000_000),
        (-1_795_245_627, -871_895_064, -FIRST),
    ],
)
def test_clocks_can_be_moved(seconds, nanoseconds, moved):
    """Both offsets add up."""
    source = CtfFsSource(
        [DATA / "hello"],
        clock_offset_seconds=seconds,
        clock_offset_nanoseconds=nanoseconds,
    )

    assert first_event(source).timestamp == FIRST + moved
    assert first_event(source).cycles == 1_900_661_820_738


def test_files_of_which_nothing_can_be_read_are_damage(tmp_path):
    """They have no stream."""
    directory = copy_trace("hello", tmp_path / "trace")
    for name in ("one", "two"):
        (directory / name).write_bytes(b"no packet" * 9)
    source = CtfFsSource([directory])

    assert [error.path for error in source.damage] == [
        str(directory / "one"),
        str(directory / "two"),
    ]
    assert len(source.streams) == 2


@pytest.mark.parametrize("paths", [[], ["/nonexistent/trace"]])
def test_no_trace_is_an_error(paths):
    """Neither a path that is none nor no path at all."""
    with pytest.raises(NotATraceError):
        CtfFsSource(paths)


def test_a_trace_without_data_is_a_trace(tmp_path):
    """It has no streams."""
    source = CtfFsSource([Trace().write(tmp_path)])

    assert (source.streams, source.damage) == ([], [])


def test_a_trace_can_be_given_a_name():
    """Behind the host name that its environment tells."""
    source = CtfFsSource([DATA / "hello"], trace_name="before")

    assert {stream.trace.name for stream in source.streams} == {"demo/before"}


def test_sources_can_number_their_traces_on():
    """So that traces of two sources are not taken for one."""
    first = CtfFsSource([DATA / "hello"])
    second = CtfFsSource([DATA / "fields"], first_index=first.trace_count)

    assert {stream.trace.index for stream in second.streams} == {1}


def test_the_parameters_are_there_from_python():
    """By the names that they have here."""
    trace = vestige.open(
        DATA / "hello",
        clock_offset_seconds=1,
        clock_offset_nanoseconds=-1,
        force_epoch_origin=True,
        trace_name="before",
    )

    assert next(iter(trace)).timestamp == FIRST + 10**9 - 1
    assert {stream.trace.epoch_origin for stream in trace.streams} == {True}
    assert {stream.trace.name for stream in trace.streams} == {"demo/before"}
