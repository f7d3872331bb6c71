"""Values of event record fields that plain Python types do not cover."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Self

__all__ = ["EnumerationValue", "utc_datetime"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class EnumerationValue(int):
    """The value of an enumeration field: an integer that knows its labels.

    A value has no label when the metadata maps none to it, and several when ranges
    overlap (CTF 1.8.3, section 4.1.8).
    """

    labels: tuple[str, ...]
    """All labels of the value, in the order of the metadata."""

    def __new__(cls, value: int, labels: Sequence[str]) -> Self:
        """Make a value from its number and its labels."""
        made = super().__new__(cls, value)
        made.labels = tuple(labels)
        return made

    @property
    def label(self) -> str | None:
        """The first label, or ``None``."""
        return self.labels[0] if self.labels else None

    def __repr__(self) -> str:
        """Show the labels and the number."""
        labels = ", ".join(repr(label) for label in self.labels) or "<unknown>"
        return f"<{labels}: {int(self)}>"


def utc_datetime(nanoseconds: int | None) -> datetime | None:
    """Convert nanoseconds since the Unix epoch to an aware datetime in UTC.

    Args:
        nanoseconds: Nanoseconds since the epoch, or ``None`` for an unknown time.

    Returns:
        The time, cut to microseconds, or ``None``.
    """
    if nanoseconds is None:
        return None
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
