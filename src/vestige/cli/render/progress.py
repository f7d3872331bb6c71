"""A progress bar on standard error, for commands that take a while."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import TracebackType

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self, TextIO

__all__ = ["ProgressBar"]

SECONDS_BETWEEN_UPDATES = 0.1
"""Least time between two drawings: a person reads no faster."""
SECONDS_BEFORE_FIRST = 0.3
"""A command that ends sooner draws nothing."""
LONGEST_BAR = 30
"""Most characters of the bar itself."""
ERASE_LINE = "\r\x1b[K"
GREEN, RESET = "\x1b[32m", "\x1b[0m"


class ProgressBar:
    """Draws how far a command is: a bar, a percentage, events, and events per second.

    It draws only on a terminal, erases itself at the end, and keeps to one line. With
    ``NO_COLOR`` in the environment the bar has no colour. It is a context manager, so
    that it is erased before an error is printed.

    Args:
        label: What is being done, in a word or two.
        stream: Where to draw.
        clock: Tells the time in seconds.
    """

    def __init__(
        self,
        label: str,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start = clock()
        self._next = self._start + SECONDS_BEFORE_FIRST
        self._drawn = False
        self.enabled = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        """Whether anything is drawn at all."""

    def update(self, fraction: float | None, events: int | None = None) -> None:
        """Draw the present state, unless the last drawing is fresh.

        Args:
            fraction: What part of the work is done, 0 to 1; ``None`` if not known.
            events: How many event records are done, where they are what is counted.
        """
        now = self._clock()
        if not self.enabled or now < self._next:
            return
        self._next = now + SECONDS_BETWEEN_UPDATES
        self._stream.write(ERASE_LINE + self._line(fraction, events, now))
        self._stream.flush()
        self._drawn = True

    def close(self) -> None:
        """Erase the bar."""
        if self._drawn:
            self._stream.write(ERASE_LINE)
            self._stream.flush()
            self._drawn = False

    def _line(self, fraction: float | None, events: int | None, now: float) -> str:
        facts = ""
        if events is not None:
            rate = events / max(now - self._start, 1e-9)
            facts = f"{events:,} events, {rate:,.0f}/s"
        import shutil  # it takes long, and most commands end before they draw

        width = shutil.get_terminal_size().columns - 1
        if fraction is None:
            return f"{self._label}: {facts}"[:width]
        share = min(max(fraction, 0.0), 1.0)
        head, tail = f"{self._label} ", f" {share:4.0%}  {facts}"
        room = min(width - len(head) - len(tail), LONGEST_BAR)
        if room < 1:
            return (head + tail.strip())[:width]
        done = int(room * share)
        bar = self._colored("━" * done) + " " * (room - done)
        return head + bar + tail

    def _colored(self, text: str) -> str:
        return text if "NO_COLOR" in os.environ else GREEN + text + RESET

    def __enter__(self) -> Self:
        """Return the bar."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Erase the bar."""
        self.close()
