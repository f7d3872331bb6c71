"""Values of event record fields that plain Python types do not cover."""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Self

__all__ = ["BitMapValue", "EnumerationValue", "utc_datetime"]


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

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the number and the labels."""
        return type(self), (int(self), self.labels)

    def __repr__(self) -> str:
        """Show the labels and the number."""
        labels = ", ".join(repr(label) for label in self.labels) or "<unknown>"
        return f"<{labels}: {int(self)}>"


class BitMapValue(int):
    """The value of a bit map field: its bits as an integer that knows its flags.

    A flag is set when any of its bits is (CTF2-SPEC-2.0, section 5.3.5.1).
    """

    flags: tuple[str, ...]
    """The names of all flags that are set, in the order of the metadata."""

    def __new__(cls, value: int, flags: Sequence[str]) -> Self:
        """Make a value from its bits and the names of its flags."""
        made = super().__new__(cls, value)
        made.flags = tuple(flags)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the bits and the flags."""
        return type(self), (int(self), self.flags)

    def __repr__(self) -> str:
        """Show the flags and the bits."""
        flags = " | ".join(repr(flag) for flag in self.flags) or "<none>"
        return f"<{flags}: {int(self):#x}>"


def utc_datetime(nanoseconds: int | None) -> datetime | None:
    """Convert nanoseconds since the Unix epoch to an aware datetime in UTC.

    Args:
        nanoseconds: Nanoseconds since the epoch, or ``None`` for an unknown time.

    Returns:
        The time, cut to microseconds, or ``None``.
    """
    if nanoseconds is None:
        return None
    # Who asks for no times does not wait for it.
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415 - see above

    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + timedelta(microseconds=nanoseconds // 1000)
