"""Values that plain Python types do not cover."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from vestige import EnumerationValue
from vestige.values import utc_datetime


def test_an_enumeration_value_is_its_number():
    """It counts, compares and hashes as an integer."""
    value = EnumerationValue(15, ["MILD", "WARM"])

    assert value == 15
    assert value + 1 == 16
    assert {15: "found"}[value] == "found"
    assert isinstance(value, int)


@pytest.mark.parametrize(
    ("labels", "first", "shown"),
    [
        ([], None, "<<unknown>: 3>"),
        (["ONE"], "ONE", "<'ONE': 3>"),
        (["MILD", "WARM"], "MILD", "<'MILD', 'WARM': 3>"),
        (['a "b"'], 'a "b"', "<'a \"b\"': 3>"),
    ],
)
def test_the_labels_are_known_and_shown(labels, first, shown):
    """None for an unmapped value, several where ranges overlap."""
    value = EnumerationValue(3, labels)

    assert value.labels == tuple(labels)
    assert value.label == first
    assert repr(value) == shown


def test_formatting_shows_the_number():
    """In text an enumeration value is written as the integer that it is."""
    value = EnumerationValue(31, ["WARM"])

    assert (f"{value:d}", f"{value:#x}") == ("31", "0x1f")


@pytest.mark.parametrize(
    ("nanoseconds", "expected"),
    [
        (None, None),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (999, datetime(1970, 1, 1, tzinfo=UTC)),
        (1_000, datetime(1970, 1, 1, microsecond=1, tzinfo=UTC)),
        (-1, datetime(1970, 1, 1, tzinfo=UTC) - timedelta(microseconds=1)),
        (
            1_795_245_627_871_895_999,
            datetime(2026, 11, 21, 7, 20, 27, 871_895, tzinfo=UTC),
        ),
    ],
)
def test_a_time_is_cut_to_microseconds_in_utc(nanoseconds, expected):
    """Always downwards, and exactly: no float is involved."""
    made = utc_datetime(nanoseconds)

    assert made == expected
    assert made is None or made.tzinfo is UTC
