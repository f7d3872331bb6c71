"""Counts messages: ``sink.utils.counter``."""

from __future__ import annotations

import sys

from ... import core
from ..._typing import TYPE_CHECKING
from .text_colors import terminal_supports_color

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from ...graph.plan import ComponentSpec

__all__ = ["KINDS", "CounterSink", "make_counter"]

WIDTH = 15
"""Columns of a number."""

DEFAULT_STEP = 10_000
"""After so many messages Babeltrace 2 shows the counts, unless it is told otherwise."""

KINDS = (
    "Event",
    "Stream beginning",
    "Stream end",
    "Packet beginning",
    "Packet end",
    "Discarded event",
    "Discarded packet",
    "Message iterator inactivity",
)
"""The types of messages, in the order of the core."""


class CounterSink:
    """Counts messages of each type; writes the counts from time to time and at the end.

    Args:
        step: After how many messages the counts are written; 0 for only at the end.
        hides_zero: Whether types without messages are left out.
        output: Where the counts are written; standard output by default.
    """

    looks_at_records = True
    """It needs no fields, but the order of messages."""
    needs_boundaries = True
    """It counts where data streams and packets begin and end."""

    def __init__(
        self,
        step: int = DEFAULT_STEP,
        *,
        hides_zero: bool = False,
        output: TextIO | None = None,
    ) -> None:
        self._counter = core.MessageCounter(step)
        self._hides_zero = hides_zero
        self._output = output

    @property
    def counts(self) -> dict[str, int]:
        """The number of messages of each type."""
        return dict(zip(KINDS, self._counter.counts, strict=True))

    def consume(self, merge: core.Merge) -> None:
        """Count the messages of a merge."""
        for counts in self._counter.add(merge):
            self._write(counts, end="\n")

    def finish(self) -> None:
        """Write the counts, unless they are written."""
        due, last = self._counter.finish()
        for counts in due:
            self._write(counts, end="\n")
        if last is not None:
            self._write(last)
        (self._output or sys.stdout).flush()

    def _write(self, counts: Sequence[int], end: str = "") -> None:
        output = self._output or sys.stdout
        for kind, count in zip(KINDS, counts, strict=True):
            if count or not self._hides_zero:
                output.write(f"{_counted(count, f'{kind} message')}\n")
        bold, reset = ("\x1b[1m", "\x1b[0m") if terminal_supports_color() else ("", "")
        total = _counted(sum(counts), "message")
        output.write(f"{bold}{total} (TOTAL){reset}\n{end}")


def _counted(count: int, what: str) -> str:
    return f"{count:{WIDTH}} {what}{'' if count == 1 else 's'}"


def make_counter(
    spec: ComponentSpec, _resources: object, _streams: object
) -> CounterSink:
    """Make a sink.

    Args:
        spec: The component.
    """
    return CounterSink(
        spec.params.get("step", DEFAULT_STEP),
        hides_zero=spec.params.get("hide-zero", False),
    )
