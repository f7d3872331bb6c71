"""What a relay says of its peers: as much as somebody reads, whatever they do."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

__all__ = ["Notices"]

SECONDS = 10.0
"""For so long, what is the same is said once, and then how often it was there."""
MOST_TEXTS = 50
"""Different ones that are said in that time; others are counted."""


class Notices:
    """Says what went wrong, and counts what would be said again and again.

    Args:
        tell: Told each message.
        later: Calls something after so many seconds.
        clock: Returns the time, seconds.
    """

    def __init__(
        self,
        tell: Callable[[str], None],
        later: Callable[[float, Callable[[], None]], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tell = tell
        self._later = later
        self._clock = clock
        self._begin = -SECONDS
        self._texts: Counter[str] = Counter()
        """How often each has come since then."""

        self._others = 0
        self._is_awaited = False

    def __call__(self, message: str) -> None:
        """Say a message, or count it."""
        if self._clock() - self._begin >= SECONDS:
            self.flush()
        if message in self._texts:
            self._texts[message] += 1
        elif len(self._texts) < MOST_TEXTS:
            self._texts[message] = 1
            self._tell(message)
            return
        else:
            self._others += 1
        if not self._is_awaited:
            self._is_awaited = True
            self._later(SECONDS, self._flush_later)

    def _flush_later(self) -> None:
        self._is_awaited = False
        self.flush()

    def flush(self) -> None:
        """Say what was counted; from now on, all is said anew."""
        texts, others = self._texts, self._others
        self._texts, self._others = Counter(), 0
        self._begin = self._clock()
        for text, count in texts.items():
            if count > 1:
                self._tell(f"{text} ({count - 1} times more)")
        if others:
            self._tell(f"{others} other warnings are left out")
