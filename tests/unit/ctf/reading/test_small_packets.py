"""Small packets: many of them are read at once, and each keeps what is its own."""

from __future__ import annotations

import pytest

import vestige
from support.small_packets import FIRST_TIME, Losses, write_small_packets
from vestige.cli.main import main

PACKETS, RECORDS = 700, 3
ORIGIN = 1_500_000_000_000_000_000


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Return a trace of one data stream."""
    path = tmp_path_factory.mktemp("small") / "trace"
    write_small_packets(path, packets=PACKETS, records=RECORDS)
    return path


def begin_of(packet):
    """Return when a packet begins, nanoseconds."""
    return ORIGIN + FIRST_TIME + packet * 1000


def test_each_event_has_the_context_of_its_packet(trace):
    """One by one."""
    seen = [
        (event.packet_context["packet_seq_num"], event.timestamp)
        for event in vestige.open(trace).events()
    ]
    assert seen == [
        (packet, begin_of(packet) + 10 * index + 1)
        for packet in range(PACKETS)
        for index in range(RECORDS)
    ]


def test_columns_have_the_context_of_each_packet(trace):
    """All at once."""
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(vestige.open(trace).events().to_arrow())
    numbers = table["node"].to_pylist()
    assert numbers == [at for at in range(PACKETS) for _ in range(RECORDS)]


@pytest.mark.parametrize(("first", "last"), [(0, 0), (13, 400), (699, 699), (5, 698)])
def test_a_time_range_takes_its_packets_only(trace, first, last):
    """From the first event of a packet to the last event of another."""
    events = vestige.open(trace).events(
        begin=begin_of(first) + 1, end=begin_of(last) + 10 * (RECORDS - 1) + 1
    )
    numbers = [event.packet_context["packet_seq_num"] for event in events]
    assert numbers == [n for n in range(first, last + 1) for _ in range(RECORDS)]


def test_a_class_of_few_records_is_found_in_all_packets(trace):
    """Every fifth record is of another class."""
    events = list(vestige.open(trace).events("message"))
    whole = range(PACKETS * RECORDS)
    texts = [f"event {number}" for number in whole if number % 5 == 4]
    assert [event["text"] for event in events] == texts


def test_losses_between_packets_are_counted(tmp_path, capfd):
    """Every seventh packet tells of events, every eleventh of packets."""
    path = tmp_path / "trace"
    write_small_packets(path, packets=100, records=2, losses=Losses(7, 11), streams=3)

    main(["check", str(path)])
    output = "".join(capfd.readouterr())

    lost_events = sum(packet % 7 + 1 for packet in range(7, 100, 7))
    lost_packets = len(range(11, 100, 11))
    assert f"{3 * lost_events} events" in output
    assert f"{3 * lost_packets} packets" in output
    assert "600 events" in output
