"""Sizes and times as options have them: LTTng takes the same ones."""

from __future__ import annotations

import pytest

from vestige.daemon.numbers import LARGEST, read_size, read_time


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("7", 7),
        ("010", 10),
        ("5us", 5),
        ("5ms", 5_000),
        ("5s", 5_000_000),
        ("100m", 6_000_000_000),
        ("2h", 7_200_000_000),
        (str(LARGEST), LARGEST),
    ],
)
def test_times(text, value):
    """They are decimal, with one of five suffixes."""
    assert read_time(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "s", "-1", "+1", "1.5s", "0x10", "1 s", "1s ", "1_0", "5u", "5S", "5sm", "٣"],
)
def test_what_is_no_time(text):
    """It is refused, also where Python would read a number."""
    assert read_time(text) is None


def test_a_time_that_is_too_long():
    """LTTng's numbers have 64 bits."""
    assert read_time(str(LARGEST + 1)) is None
    assert read_time(f"{LARGEST}s") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("0x10", 16),
        ("0X1fk", 31 << 10),
        ("010", 8),
        ("3M", 3 << 20),
        ("0", 0),
    ],
)
def test_sizes(text, value):
    """They have three bases and three suffixes."""
    assert read_size(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "k",
        "-1",
        "1.5k",
        "1 k",
        "1k ",
        "1_0",
        "08",
        "0x",
        "0o7",
        "00o7",
        "0x0x7",
        "1T",
        "٣k",
    ],
)
def test_what_is_no_size(text):
    """As for times."""
    assert read_size(text) is None
