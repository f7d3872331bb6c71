"""Where Babeltrace 2.0.4 is wrong on a well-formed trace: both answers are pinned."""

from __future__ import annotations

import pytest

from support.ctf_writer import Event, Packet, Trace
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
