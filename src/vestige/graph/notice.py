"""What there is in a data stream besides event records: losses and damage.

Merges that were asked for it tell where data streams and packets begin and end, too:
who needs that goes through them in the core.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import core
from .._typing import TYPE_CHECKING, NamedTuple
from ..damage import Damage
from ..units import Nanoseconds
from .stream import Stream

if TYPE_CHECKING:
    from typing import Any, Literal

__all__ = ["DamageNotice", "LostNotice", "Notice", "damage_of_packets", "notices_of"]


class LostNotice:
    """The tracer lost event records or packets.

    Args:
        run: Index of the run of the merge before which it belongs.
        stream: The data stream.
        kind: What was lost.
        count: How many, or ``None`` when the trace does not tell.
        begin: Earliest time of the loss.
        end: Latest time of the loss.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the facts in the order of the core
        self,
        run: int,
        stream: Stream,
        kind: Literal["events", "packets"],
        count: int | None,
        begin: Nanoseconds | None,
        end: Nanoseconds | None,
    ) -> None:
        self.run = run
        self.stream = stream
        self.kind = kind
        self.count = count
        self.begin = begin
        self.end = end

    def __repr__(self) -> str:
        """Show what was lost, and when."""
        return (
            f"LostNotice(kind={self.kind!r}, count={self.count}, begin={self.begin}, "
            f"end={self.end}, stream={self.stream!r})"
        )


class DamageNotice(NamedTuple):
    """Some bytes of a data stream cannot be used; what comes after them is read."""

    run: int
    """Index of the run of the merge before which it belongs."""
    stream: Stream
    """The data stream."""
    damage: Damage
    """What is wrong, with its file and range of bytes."""


_BOUNDARIES = frozenset(
    (
        "stream-beginning",
        "packet-beginning",
        "packet-end",
        "stream-end",
        "inactivity",
    )
)

Notice = LostNotice | DamageNotice
"""Either kind of notice."""


def notices_of(merge: core.Merge) -> Iterator[Notice]:
    """Iterate over the losses and the damage in a merge, in their order.

    Args:
        merge: A merge whose data streams are represented by :class:`Stream` objects.

    Yields:
        The notices.
    """
    for run, stream, kind, *facts in merge.notices:
        if kind in _BOUNDARIES:
            continue
        if kind == "damage":
            yield DamageNotice(run, stream, _damage(stream, facts[0]))
        else:
            count, begin, end = facts
            yield LostNotice(
                run, stream, kind, count, _time(stream, begin), _time(stream, end)
            )


def damage_of_packets(stream: Stream) -> Iterator[Damage]:
    """Iterate over what is wrong with packets, as far as their beginnings tell.

    Args:
        stream: The data stream.

    Yields:
        The damage, which reading would meet, too.
    """
    return (_damage(stream, facts) for facts in stream.handle.packet_damage)


def _damage(stream: Stream, facts: tuple[Any, ...]) -> Damage:
    path, start, end, kind, message, records, after, before = facts
    lost_from, lost_until = _time(stream, after), _time(stream, before)
    return Damage(
        path or stream.path, start, end, kind, message, records, lost_from, lost_until
    )


def _time(stream: Stream, cycles: int | None) -> Nanoseconds | None:
    if cycles is None:
        return None
    nanoseconds = stream.handle.nanoseconds(cycles)
    return None if nanoseconds is None else Nanoseconds(nanoseconds)
