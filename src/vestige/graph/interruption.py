"""Stopping what runs, when somebody wants it to stop."""

from __future__ import annotations

import signal

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType, TracebackType

__all__ = ["GraphInterruption", "Interruption"]


class GraphInterruption(Exception):  # noqa: N818 - no error: somebody wants it
    """Somebody interrupted what ran."""


class Interruption:
    """Whether somebody wants what runs to stop.

    As a context, it is Ctrl-C that asks for it: what runs ends between two of its
    parts. A second one ends it at once.
    """

    def __init__(self) -> None:
        self.is_set = False
        """Whether somebody does."""
        self._before: object = None

    def check(self) -> None:
        """Stop here if that is wanted.

        Raises:
            GraphInterruption: It is.
        """
        if self.is_set:
            raise GraphInterruption

    def __enter__(self) -> Interruption:  # noqa: PYI034 - it is itself
        self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._before)  # type: ignore[arg-type]

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_set:
            raise KeyboardInterrupt
        self.is_set = True
