"""How long spans and coroutines took, and for what the longest ones waited."""

from __future__ import annotations

from dataclasses import dataclass

from ..._typing import TYPE_CHECKING
from ...units import Nanoseconds
from ..functions import Function
from ..threads import Thread

if TYPE_CHECKING:
    from typing import Any

__all__ = ["LongActivity", "Wait"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """All that one span or coroutine waited in one place."""

    path: tuple[Function, ...]
    """The coroutine functions that awaited each other there, the outermost first: that
    of the coroutine itself, or the one in which the span began."""
    count: int
    """How often it waited there."""
    total: int
    """How long, nanoseconds."""
    longest: int
    """The longest time, nanoseconds."""
    begin: Nanoseconds
    """When the longest one began, nanoseconds."""
    others: int
    """How long its thread ran other coroutines meanwhile, nanoseconds: while they run,
    none that waits can go on."""

    @property
    def name(self) -> str:
        """What was awaited, such as ``render > sleep``; itself if nothing is known."""
        awaited = self.path[1:] or self.path
        return " > ".join(one.name for one in awaited)


@dataclass(frozen=True, slots=True, kw_only=True)
class LongActivity:
    """A span, or a call of a coroutine, that is among the longest."""

    begin: Nanoseconds
    """When it began, nanoseconds."""
    duration: int
    """How long it took, waits included, nanoseconds."""
    thread: Thread
    """The thread in which it began."""
    running: int | None
    """How long it ran, nanoseconds; ``None`` where nobody knows whether it waited."""
    waits: list[Wait]
    """Where it waited, the place with most time first; the first few."""
    task: str | None
    """Name of the asyncio task of a span; ``None`` for coroutines, and without one."""
    fields: dict[str, Any]
    """What the program told of a span when it began."""

    @property
    def end(self) -> Nanoseconds:
        """When it ended, nanoseconds."""
        return Nanoseconds(self.begin + self.duration)
