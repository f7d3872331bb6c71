"""What is wrong with a trace, as a value."""

from __future__ import annotations

from ._typing import NamedTuple

__all__ = ["Damage"]


class Damage(NamedTuple):
    """Bytes of a trace that cannot be used."""

    path: str
    """The file."""
    start: int | None
    """Byte offset of the first byte concerned; ``None`` when only the file is known."""
    end: int | None
    """Byte offset after the last."""
    kind: str
    """What it is: one of the stable names that ``docs/reference/python.md`` lists."""
    message: str
    """What was expected and what was found."""
    lost_records: int | None = None
    """About how many event records were lost; ``None`` if that is not known."""
    lost_from: int | None = None
    """Time of the last good event record before, nanoseconds."""
    lost_until: int | None = None
    """Time at which the next good packet begins, nanoseconds."""

    def __str__(self) -> str:
        """Return the file, the byte offset and the message."""
        place = self.path if self.start is None else f"{self.path}, byte {self.start}"
        return f"{place}: {self.message}"
