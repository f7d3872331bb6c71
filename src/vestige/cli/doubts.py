"""What a recording lacks, said once: before the program starts, or at the end."""

from __future__ import annotations

import sys

from .._suppress import suppress
from .._typing import TYPE_CHECKING
from ..plain_text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..record.collected import Collected

__all__ = ["Doubts", "quiet_lines"]


class Doubts:
    """What was said before the program started."""

    def __init__(self) -> None:
        self.said: set[str] = set()
        """Each problem."""

    def say(self, problem: str) -> None:
        """Say what will be missing, while the program can still be held back.

        Args:
            problem: A sentence.
        """
        self.said.add(problem)
        # Whatever becomes of the line, the program is run.
        with suppress(OSError):
            print(plain(f"vestige: warning: {problem}"), file=sys.stderr, flush=True)

    def new_warnings(self, collected: Collected) -> Iterator[str]:
        """Yield lines for what is missing, and was not said.

        Args:
            collected: What the recording holds.
        """
        for problem in collected.problems:
            if problem not in self.said:
                yield f"vestige: warning: {problem}"


def quiet_lines(collected: Collected, doubts: Doubts) -> Iterator[str]:
    """Yield what is said at the end where nobody wants a summary.

    Args:
        collected: What the recording holds.
        doubts: What was said already.
    """
    # What was asked for and is missing is no summary.
    yield from doubts.new_warnings(collected)
    counts = [(collected.lost, "of the program")]
    if collected.kernel is not None:
        counts.append((collected.kernel.lost, "of the kernel"))
    lost = [f"{count:,} {whose}" for count, whose in counts if count]
    if lost:
        yield f"vestige: warning: events were lost: {' and '.join(lost)}"
