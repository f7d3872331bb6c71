"""Stopping what runs, when somebody wants it to stop."""

from __future__ import annotations

from .._signals import signals
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Timer
    from types import FrameType, TracebackType

__all__ = ["GraphInterruption", "Interruption"]


class GraphInterruption(Exception):  # noqa: N818 - no error: somebody wants it
    """Somebody interrupted what ran."""


class Interruption:
    """Whether somebody wants what runs to stop.

    As a context, it is Ctrl-C that asks for it: what runs ends between two of its
    parts. A second one ends it at once, and so does a part that goes on for too long.
    """

    PATIENCE_SECONDS = 1.0
    """How long the part may take that ran when Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.is_set = False
        """Whether somebody does."""
        self._before: object = None
        self._timer: Timer | None = None

    def check(self) -> None:
        """Stop here if that is wanted.

        Raises:
            GraphInterruption: It is.
        """
        if self.is_set:
            self._stop_timer()
            raise GraphInterruption

    def __enter__(self) -> Interruption:  # noqa: PYI034 - it is itself
        self._before = signals.signal(signals.SIGINT, self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop_timer()
        signals.signal(signals.SIGINT, self._before)  # type: ignore[arg-type]

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_set:
            raise KeyboardInterrupt
        self.is_set = True
        self._start_timer()

    def _start_timer(self) -> None:
        """Let what does not end by itself be interrupted a second time."""
        from threading import Timer, main_thread  # noqa: PLC0415 - few interrupt

        thread = main_thread().ident
        assert thread is not None  # noqa: S101 - it runs
        self._timer = Timer(
            self.PATIENCE_SECONDS, signals.pthread_kill, (thread, signals.SIGINT)
        )
        self._timer.daemon = True
        self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            # If it is about to do it, that is over before the signal is another's. One
            # that a second Ctrl-C kept from beginning does nothing, being cancelled.
            if self._timer.is_alive():
                self._timer.join()
            self._timer = None
