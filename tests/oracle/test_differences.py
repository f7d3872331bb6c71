"""Where Babeltrace 2.0.4 is wrong on a well-formed trace: both answers are pinned."""

from __future__ import annotations

import re

import pytest

from support.ctf_writer import Event, Packet, Trace, write_trace
from support.peers import babeltrace
from support.vestige_command import comparing_peer_with_itself, convert

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer"),
    pytest.mark.skipif(comparing_peer_with_itself(), reason="the peer differs here"),
]

TEXT = "uint8_t length; integer { size = 8; encoding = UTF8; } text[length];"


def texts(output: bytes) -> list[str]:
    """Return the last field of each line of text."""
    lines = output.decode().splitlines()
    return [line.rpartition("text = ")[2].removesuffix(" }") for line in lines]


def test_an_empty_text_is_empty(tmp_path):
    """The peer prints the text of an earlier event record of the class (row 87)."""
    payloads = [b"hello\0", b"\0", b"ok\0"] * 30
    events = [Event(10 + index, payload) for index, payload in enumerate(payloads)]
    trace = Trace(event_fields=["string text;"], streams={"stream": [Packet(events)]})
    directory = trace.write(tmp_path)

    assert texts(convert(directory).stdout) == ['"hello"', '""', '"ok"'] * 30
    theirs = texts(babeltrace(directory).stdout)
    assert theirs[::3] == ['"hello"'] * 30
    assert set(theirs[1::3]) - {'""'}


def test_an_empty_text_sequence_is_empty(tmp_path):
    """The peer prints the text of an earlier event record of the class (row 33)."""
    # The peer uses an event object again after a batch of messages, so it takes some.
    payloads = [b"\x05hello", b"\x00", b"\x02ok"] * 30
    events = [Event(10 + index, payload) for index, payload in enumerate(payloads)]
    trace = Trace(event_fields=[TEXT], streams={"stream": [Packet(events)]})
    directory = trace.write(tmp_path)

    assert texts(convert(directory).stdout) == ['"hello"', '""', '"ok"'] * 30
    theirs = texts(babeltrace(directory).stdout)
    assert theirs[::3] == ['"hello"'] * 30
    assert set(theirs[1::3]) - {'""'}


@pytest.mark.parametrize("size", [61, 62, 63])
@pytest.mark.parametrize("signed", ["true", "false"])
def test_wide_hexadecimal_integers_have_their_value(size, signed, tmp_path):
    """The peer prints 0 for all of them (row 88)."""
    integer = f"integer {{ size = {size}; base = 16; align = 8; signed = {signed}; }}"
    events = [Event(1, (0x123456789ABCDEF).to_bytes(8, "little"))]
    trace = Trace(event_fields=[f"{integer} n;"], streams={"stream": [Packet(events)]})
    directory = trace.write(tmp_path)

    assert b"{ n = 0x123456789ABCDEF }" in convert(directory).stdout
    assert b"{ n = 0x0 }" in babeltrace(directory).stdout


def test_times_before_the_epoch_keep_their_sign(tmp_path):
    """The peer prints all but the first as a time of day without it (row 89)."""
    seconds = [Event(number * 10**9, bytes(4)) for number in (1, 2, 4)]
    directory = Trace(streams={"stream": [Packet(seconds)]}).write(tmp_path)

    def times(output):
        return [line.partition(b"]")[0][1:] for line in output.stdout.splitlines()]

    theirs = babeltrace(directory, "--clock-offset=-3", "--clock-seconds")
    assert times(theirs) == [b"-2.000000000", b"-1.000000000", b"1.000000000"]
    ours = convert(directory, "--clock-offset=-3", "--clock-gmt")
    assert times(ours) == [b"-2.000000000", b"-1.000000000", b"00:00:01.000000000"]
    theirs = babeltrace(directory, "--clock-offset=-3", "--clock-gmt")
    assert times(theirs)[:2] == [b"-2.000000000", b"00:00:01.000000000"]


def test_counters_that_go_back_tell_no_count(tmp_path):
    """The peer tells of almost 2^64 events and packets (row 109)."""
    counters = [(4, 7), (2, 6), (5, 8)]
    packets = [
        Packet([Event(10 * index, bytes(4))], discarded=discarded, sequence=sequence)
        for index, (discarded, sequence) in enumerate(counters, 1)
    ]
    directory = Trace(streams={"stream": packets}).write(tmp_path)

    def told(output):
        words = r"discarded ((?:[\d,]+ )?(?:events|packets?))[ )]"
        return [one.decode() for one in re.findall(words.encode(), output.stderr)]

    theirs = [str(2**64 - 2) + " events", str(2**64 - 2) + " packets"]
    later = ["3 events", "1 packet"]
    assert told(babeltrace(directory)) == ["events", *theirs, *later]
    assert told(convert(directory)) == ["events", "events", *later]


VARIANT = """enum : integer { size = 8; } { A = 0 } which;
variant <which> { integer { size = 8; } A; } v;"""
LOOSE = """/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; freq = 1000000000; };
stream {
    event.header := struct { integer { size = 64; map = clock.c.value; } timestamp; };
};
event { name = e; CONTEXT fields := struct { integer { size = 8; } a; }; };
"""
"""Packets without header and context."""


@pytest.mark.parametrize(
    ("members", "data", "text"),
    [
        ("uint8_t n; uint8_t s[n];", b"\1\7", b"{ n = 1, s = [ [0] = 7 ] }"),
        (VARIANT, b"\0\7", b'{ which = ( "A" : container = 0 ), v = { 7 } }'),
    ],
    ids=["sequence", "variant"],
)
def test_the_context_of_a_class_may_have_lengths_and_selectors(
    members, data, text, tmp_path
):
    """The peer ends by a signal (row 90)."""
    types = "typealias integer { size = 8; } := uint8_t;\n"
    context = f"context := struct {{ {members} }};"
    metadata = LOOSE.replace("CONTEXT", context).replace("clock {", f"{types}clock {{")
    stream = bytes(8) + data + b"\5"
    directory = write_trace(tmp_path / "trace", metadata, {"stream": stream})

    assert text + b", { a = 5 }" in convert(directory).stdout
    assert babeltrace(directory).aborted


def test_a_range_of_time_needs_no_packet_times(tmp_path):
    """The peer wants them, and ends by a signal with --begin (row 64)."""
    metadata = LOOSE.replace("CONTEXT", "")
    directory = write_trace(tmp_path / "trace", metadata, {"stream": bytes(8) + b"\5"})

    for option in ("--begin=0", "--end=0"):
        assert b"{ a = 5 }" in convert(directory, option).stdout
    assert babeltrace(directory, "--begin=0").aborted
    assert babeltrace(directory, "--end=0").status == 1


def test_streams_may_intersect_before_the_epoch(tmp_path):
    """The peer takes such times for invalid (row 91)."""
    first, second = (0, 2, 4), (3, 4, 6)
    streams = {
        f"stream{index}": [Packet([Event(n * 10**9, bytes(4)) for n in numbers])]
        for index, numbers in enumerate((first, second))
    }
    directory = Trace(streams=streams).write(tmp_path)
    options = ("--stream-intersection", "--clock-offset=-9", "--clock-seconds")

    assert convert(directory, *options).stdout.count(b"event_0") == len([3, 4, 4])
    theirs = babeltrace(directory, *options)
    assert theirs.status == 1
    assert b"Invalid stream range values" in theirs.stderr


def test_there_is_one_sink(tmp_path):
    """Both refuse a second one."""
    directory = Trace(streams={"stream": [Packet([Event(1, bytes(4))])]}).write(
        tmp_path
    )
    options = ("--component=sink.text.pretty", "--component=sink.utils.dummy")

    assert convert(directory, *options).status != 0
    assert babeltrace(directory, *options).status != 0
