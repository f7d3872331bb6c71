"""The records of the state dump, as each channel wants them, passed on piece by piece.

:mod:`.state_dump` reads the state; the process that reads the buffers gets it, and puts
it between the records that it finds there.
"""

from __future__ import annotations

from binascii import b2a_base64

from ...._typing import TYPE_CHECKING
from .order_values import text_of
from .state_dump import StateDump

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from .channel import Channel
    from .kernel_ids import KernelIds

__all__ = ["StateRecords"]

_CONTEXT_BYTES = 4
"""Of the context that records of the state dump have: the thread."""
_STATE_ID = 0
"""The class of the first event of the state dump, in each channel."""


class StateRecords:
    """Passes on the state that there is, at the start and whenever it is asked for.

    Args:
        channels: All channels, once they are made.
        ids: Knows the kernel's IDs.
        now: Gives the present value of the clock.
        ask: Asks the process that reads: see :meth:`.TraceReader.ask`.
        note: Takes what is missing.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        ids: KernelIds,
        now: Callable[[], int],
        ask: Callable[..., Any],
        note: Callable[[str], None],
    ) -> None:
        self._channels, self._ids, self._now = channels, ids, now
        self._ask, self._note = ask, note
        self._pieces: Iterator[None] = iter(())
        """Of the state, what is not read yet."""

    def prepare(self) -> None:
        """Let channels leave out what threads that are left out start meanwhile."""
        for one in self._channels:
            one.begin_dump()

    def end(self) -> None:
        """Let channels leave out such threads alone."""
        for one in self._channels:
            one.end_dump()

    def begin(self) -> None:
        """Pass on the first piece, which has all threads.

        Raises:
            ReaderGoneError: The process that reads has ended.
            OSError: It cannot be read.
        """
        self._pieces = self._read()
        next(self._pieces)

    def complete(self) -> None:
        """Pass on what :meth:`begin` has left, if it has left any.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        try:
            for _ in self._pieces:
                pass
        except OSError as error:
            # All else is recorded.
            self.note_missing(error)

    def pass_all(self) -> None:
        """Pass on the state that there is now.

        Raises:
            ReaderGoneError: The process that reads has ended.
            OSError: It cannot be read.
        """
        for _ in self._read():
            pass

    def note_missing(self, error: OSError) -> None:
        """Let it be told that a part of the state could not be read.

        Args:
            error: Why.
        """
        self._note(f"a part of the state dump is missing: {text_of(error)}")

    def _read(self) -> Iterator[None]:
        """Pass the state on, piece by piece; the first one has all threads."""
        ids = self._ids.find_all()
        dump = StateDump(self._now, _STATE_ID, ids)
        groups: Mapping[int, int] | None = dump.groups
        try:
            for until in dump.pieces():
                self._put(dump.take(), ids, groups or {}, until)
                groups = None
                yield
        finally:
            self._put([], ids, groups or {}, None)

    def _put(
        self,
        state: Sequence[tuple[int, int, bytes]],
        ids: Mapping[int, int] | None,
        groups: Mapping[int, int],
        until: int | None,
    ) -> None:
        """Pass on a piece of the state.

        Args:
            state: Its records: value of the clock, class, context and fields.
            ids: In a PID namespace: the kernel's IDs of all threads, when they were
                read.
            groups: The process of each thread.
            until: Up to which value of the clock all are there; ``None``: all.
        """
        records = {}
        for number, channel in enumerate(self._channels):
            context = channel.own_context(ids)
            states = channel.states() if channel.wanted.is_enabled else set()
            if states:
                records[number] = [
                    (time, kind, _as_text(context + body[_CONTEXT_BYTES:]))
                    for time, kind, body in state
                    if kind in states
                ]
        self._ask("put", groups=groups, records=records, until=until)


def _as_text(record: bytes) -> str:
    return b2a_base64(record, newline=False).decode()
