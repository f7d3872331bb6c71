"""Messages that a component gives, put into a merge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import core
from ....errors import GraphError
from ..fields.made_fields import plain_of
from ..traces.ir_lowering import (
    MadeStream,
    inactive_stream,
    lowered_packet,
    lowered_stream,
)
from . import made_messages as made
from .message import _MessageConst

__all__ = ["Encoder"]


class Encoder:
    """Puts messages into merges."""

    def __init__(self) -> None:
        self._builder = core.MergeBuilder()
        self._last_cycles: dict[MadeStream, int] = {}
        # Of each stream: when its last event was. Other than with messages of merges,
        # nobody has looked at the times before.

    def __len__(self) -> int:
        """Return how many messages there are."""
        return len(self._builder)

    def finish(self) -> core.Merge:
        """Return the messages as a merge; what comes then is the next one."""
        return self._builder.finish()

    def take(self, step: Callable[[], Any], most: int) -> bool:
        """Put messages into the merge.

        Args:
            step: Gives the next message.
            most: How many are asked for.

        Returns:
            Whether there may be more.
        """
        return self._builder.take(step, self._add, most)

    def _add(self, message: Any) -> None:
        """Put a message into the merge that is not simply an event of another one."""
        if isinstance(message, made._EventMessage):
            self._add_event(message)
        elif isinstance(message, _MessageConst):
            if message._origin is None:
                raise TypeError(f"{type(message).__name__} is of no graph")
            self._builder.pass_notice(*message._origin)
        elif isinstance(message, made._DiscardedMessage):
            stream = lowered_stream(message._stream)
            is_events = isinstance(message, made._DiscardedEventsMessage)
            self._builder.lost(
                stream.handle,
                stream,
                "events" if is_events else "packets",
                message._count,
                message._cycles,
                message._end,
            )
        elif isinstance(message, made._MessageIteratorInactivityMessage):
            stream = inactive_stream(message._clock_class)
            self._builder.inactivity(stream.handle, stream, message._cycles)
        elif isinstance(message, made._Message):
            self._add_boundary(message)
        else:
            raise TypeError(f"{type(message).__name__} is no message")

    def _add_boundary(self, message: Any) -> None:
        stream = lowered_stream(message._stream)
        packet = None
        if isinstance(message, made._PacketMessage):
            packet = lowered_packet(message._packet)
        self._builder.boundary(
            stream.handle, stream, message._boundary, message._cycles, packet
        )

    def _add_event(self, message: made._EventMessage) -> None:
        event = message._event
        stream = lowered_stream(event._stream)
        if event._packet is None:
            packet = stream.no_packet
        else:
            packet = lowered_packet(event._packet)
        cycles = message._cycles or 0
        last = self._last_cycles.get(stream, 0)
        if cycles < last:
            raise GraphError(
                f"event '{event._cls._name}' at clock value {cycles}, before the "
                f"{last} of the event in front of it"
            )
        self._builder.event(
            stream.handle,
            stream,
            packet,
            (event._cls._index, cycles),
            [plain_of(one) for one in (event._common, event._specific, event._payload)],
        )
        self._last_cycles[stream] = cycles
