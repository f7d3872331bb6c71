"""What became of each channel of a trace of the kernel, and what its records lack."""

from __future__ import annotations

from ...._typing import TYPE_CHECKING
from .counters import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .channel import Channel
    from .trace_reader import TraceReader

__all__ = ["ChannelTotals"]


class ChannelTotals:
    """Asks the process that reads for it.

    Args:
        channels: All channels, once they are made.
        reader: That process.
        note: Takes what records lack; each is told once.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        reader: TraceReader,
        note: Callable[[str], None],
    ) -> None:
        self._channels, self._reader, self._note = channels, reader, note
        self._unknown = 0
        """Event records of which it was said that they lack counters."""
        self._untold = 0
        """Changes of maps of which it was said that they had no room."""

    def ask(self, order: str, **facts: Any) -> list[dict[str, Any]]:
        """Give an order that is answered with what became of each channel up to now.

        Args:
            order: What, see :mod:`.reader_process`.
            facts: What belongs to it.

        Returns:
            What it says, with the bytes that were not read yet: of all CPUs
            (``buffered``), and of the one with the most (``fullest``). Nothing before
            it reads.

        Raises:
            ReaderGoneError: The process that reads has ended, or cannot do it.
        """
        if not self._reader.is_running and order != "copy":
            return []
        found: list[dict[str, Any]] = self._reader.ask(order, **facts)
        for channel, one in zip(self._channels, found, strict=True):
            fill = channel.fill()
            one["buffered"], one["fullest"] = sum(fill), max(fill, default=0)
        return found

    def ask_last(self, order: str, **facts: Any) -> list[dict[str, Any]]:
        """Do as :meth:`ask`, and say what records lack, too."""
        found = self.ask(order, **facts)
        unknown = sum(one["unknown"] for one in found)
        if unknown > self._unknown:
            self._unknown = unknown
            self._note(
                f"performance counters are unknown of {unknown:,} event records of the "
                f"kernel, which have {UNKNOWN}"
            )
        untold = max((one["untold"] for one in found), default=0)
        if untold > self._untold:
            self._untold = untold
            self._note(
                f"the kernel had no room to tell of {untold:,} changes of what "
                "processes map: functions in some call stacks of programs may be "
                "unknown or wrong"
            )
        return found
