"""Messages and metadata as text; the comparison with Babeltrace 2 is in `tests/oracle`."""

from __future__ import annotations

import os
import re

import pytest

from support.recordings import DATA
from vestige.components.sinks.text_details import DetailsOptions, DetailsSink
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import Graph, Selection

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
SECOND = 1_795_245_627_871_895_064
"""The time of the first event of `hello`."""


@pytest.fixture
def details(tmp_path):
    """Return a function that renders a trace of the test data with options."""

    def render(name="hello", selection=None, **options):
        source = CtfFsSource([DATA / name])
        path = tmp_path / "text"
        with path.open("wb") as file:
            shown = DetailsOptions(**options)
            sink = DetailsSink(shown, source.streams, descriptor=file.fileno())
            Graph([source], sink, selection=selection).run()
            assert sink.bytes_written == os.fstat(file.fileno()).st_size
        return path.read_text(errors="surrogateescape")

    return render


def test_each_message_has_a_block(details):
    """Times, the data stream, what it is, its fields."""
    blocks = details(metadata=False).split("\n\n")

    assert [block.splitlines()[2] for block in blocks] == [
        "Stream beginning:",
        "Stream beginning:",
        "Packet beginning:",
        "Packet beginning:",
        *["Event `greeting:said` (Class ID 0):"] * 4,
        "Packet end",
        "Stream end",
        "Packet end",
        "Stream end",
    ]
    assert blocks[4] == (
        "[1,900,661,820,738 cycles, 1,795,245,627,871,895,064 ns from origin]\n"
        "{Trace 0, Stream class ID 0, Stream ID 0}\n"
        "Event `greeting:said` (Class ID 0):\n"
        "  Payload:\n"
        "    number: -1\n"
        "    text: good morning"
    )


def test_a_class_is_told_once(details):
    """Before the first message that needs it, with everything in it."""
    text = details(data=False)

    assert text.startswith("Trace class:\n  Stream class (ID 0):\n")
    assert text.count("Trace class") == 1
    assert "      Payload field class: Structure (2 members):\n" in text
    assert details(data=False, metadata=False) == ""
    assert details().startswith(text + "\n[Unknown]\n")


def test_a_range_of_time_cuts_packets_and_data_streams(details):
    """What is left begins and ends with the range."""
    range_of_time = Selection(begin=SECOND, end=SECOND)
    lines = details(selection=range_of_time, metadata=False, compact=True).splitlines()

    assert all("1,795,245,627,871,895,064]" in line for line in lines)
    assert [line.rpartition("} ")[2] for line in lines] == [
        *["Stream beginning", "Packet beginning"] * 2,
        "Event `greeting:said` (0)",
        *["Packet end", "Stream end"] * 2,
    ]


@pytest.mark.parametrize("name", ["lost", "threads-pid"])
@pytest.mark.parametrize("bright_is_bold", [True, False])
def test_colors_change_nothing_else(details, name, bright_is_bold):
    """Codes stand around words."""
    colored = details(name, color=True, bright_is_bold=bright_is_bold)

    assert colored.count("\x1b[0m") > 100
    assert ("\x1b[93m" in colored) is not bright_is_bold
    assert ESCAPE.sub("", colored) == details(name)


@pytest.mark.parametrize(
    ("option", "gone"),
    [
        ("time", "ns from origin"),
        ("trace_name", "Trace `demo"),
        ("stream_name", "  Name: /"),
        ("uuid", "UUID: "),
    ],
)
def test_what_is_not_wanted_is_left_out(details, option, gone):
    """Each switch has its own part of the text."""
    assert gone in details()
    assert gone not in details(**{option: False})
