"""Counts messages: ``sink.utils.counter``.

Streams and packets are counted as the data streams list them, so everything must come
in that they hold.
"""

from __future__ import annotations

import sys

from ..._typing import TYPE_CHECKING
from ...graph import LostNotice, notices_of
from .text_colors import terminal_supports_color

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from ... import core
    from ...graph import Stream
    from ...graph.plan import ComponentSpec

__all__ = ["CounterSink", "make_counter"]

WIDTH = 15
"""Columns of a number."""


class CounterSink:
    """Counts messages of each type, and writes the counts at the end.

    Args:
        streams: The data streams that come in, all of them and whole.
        hides_zero: Whether types without messages are left out.
        output: Where the counts are written; standard output by default.
    """

    looks_at_records = True
    """It needs no fields, but what the tracer lost."""

    def __init__(
        self,
        streams: Sequence[Stream],
        *,
        hides_zero: bool = False,
        output: TextIO | None = None,
    ) -> None:
        packets = sum(stream.handle.packet_count for stream in streams)
        self.counts = {
            "Event": 0,
            "Stream beginning": len(streams),
            "Stream end": len(streams),
            "Packet beginning": packets,
            "Packet end": packets,
            "Discarded event": 0,
            "Discarded packet": 0,
            "Message iterator inactivity": 0,
        }
        """The number of messages of each type."""
        self._hides_zero = hides_zero
        self._output = output

    def consume(self, merge: core.Merge) -> None:
        """Count the event records of a merge, and what the tracer lost."""
        self.counts["Event"] += len(merge)
        for notice in notices_of(merge):
            if isinstance(notice, LostNotice):
                self.counts[f"Discarded {notice.kind.removesuffix('s')}"] += 1

    def finish(self) -> None:
        """Write the counts."""
        output = self._output or sys.stdout
        for kind, count in self.counts.items():
            if count or not self._hides_zero:
                output.write(f"{_counted(count, f'{kind} message')}\n")
        bold, reset = ("\x1b[1m", "\x1b[0m") if terminal_supports_color() else ("", "")
        total = _counted(sum(self.counts.values()), "message")
        output.write(f"{bold}{total} (TOTAL){reset}\n")
        output.flush()


def _counted(count: int, what: str) -> str:
    return f"{count:{WIDTH}} {what}{'' if count == 1 else 's'}"


def make_counter(
    spec: ComponentSpec, _resources: object, streams: Sequence[Stream]
) -> CounterSink:
    """Make a sink.

    Args:
        spec: The component.
        streams: The data streams that come in.
    """
    return CounterSink(streams, hides_zero=spec.params.get("hide-zero", False))
