"""Reading data streams that grow, from sources that gain some while they are read.

The muxer gives what is certain: up to the earliest time from which on a data stream of
which nothing is left may go on. Only then those that are empty are asked for, so that
what waits in memory stays small, whoever writes how fast.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from .. import core
from .._typing import TYPE_CHECKING, NamedTuple
from .selection import Selection
from .stream import Stream

if TYPE_CHECKING:
    from ..damage import Damage

__all__ = ["RETRY_DURATION", "Arrival", "Feed", "GrowingMuxer", "growing_merges"]

RETRY_DURATION = 0.1
"""How long to wait for a source that has nothing yet, seconds, as Babeltrace 2 does."""


class Arrival:
    """What a source has got since it was asked last; nothing: try again."""

    def __init__(self) -> None:
        self.streams: list[Stream] = []
        """Data streams that are new."""
        self.parts: list[tuple[Stream, core.DataStream]] = []
        """The next parts of data streams."""
        self.certain: list[tuple[Stream, int]] = []
        """Times before which nothing of a data stream is to come, nanoseconds."""
        self.ended: list[Stream] = []
        """Data streams that do not grow any more."""
        self.damage: list[Damage] = []
        """What cannot be read."""
        self.is_end = False
        """Whether nothing will come any more."""

    @property
    def has_news(self) -> bool:
        """Whether reading can go on at once."""
        found = (self.streams, self.parts, self.certain, self.ended, self.damage)
        return any(found) or self.is_end


class FeedHandle(NamedTuple):
    """What is known of the data streams of a source before there are any."""

    beginning: int | None
    """When they begin, nanoseconds from the Unix epoch."""
    has_clock: bool = True
    """Whether their event records have times."""


class Feed:
    """A source whose data streams grow, and which gains some.

    It has one output port, and stands for all its data streams, those to come too.

    Args:
        path: What it reads, for messages.
    """

    pause = RETRY_DURATION
    """How long to wait for it when it has nothing yet, seconds at most."""
    trace_count = 1 << 10
    """How many traces it may have: indexes that no other source gets."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.streams: list[Stream] = []
        """The data streams so far."""
        self.damage: list[Damage] = []
        """What could not be opened when it was made."""
        self.handle = FeedHandle(time.time_ns())
        self.port_names = ["out"]
        """The name of its output port."""

    def close(self) -> None:
        """Stop reading."""

    def poll(self, hungry: Collection[Stream]) -> Arrival:
        """Look for more, without waiting for it.

        Args:
            hungry: The data streams of which nothing is left. Others need nothing yet.

        Returns:
            What was found. The data streams that were there when it was made are new
            the first time.

        Raises:
            TraceFormatError: Nothing more can be read.
        """
        raise NotImplementedError


class GrowingMuxer:
    """Merges data streams that grow with others that do not.

    Args:
        muxer: The muxer, with the others.
        fixed: These, in the order in which the muxer has them.
        feeds: The sources of those that grow, with what is wanted of each.
        needed: Names of events that filters need.
    """

    def __init__(
        self,
        muxer: core.Muxer,
        fixed: Sequence[Stream],
        feeds: Mapping[Feed, Selection],
        needed: Collection[str],
    ) -> None:
        self._muxer = muxer
        self._streams = [*fixed]
        self._feed_of: dict[int, Feed] = {}
        self._open = dict(feeds)
        self._wanted = dict(feeds)
        self._needed = needed
        self._damage: list[Damage] = []

    def next_merge(self) -> core.Merge | None:
        """Return the next merge, which may be empty; ``None``: nothing is left."""
        return next(self._muxer, None)

    @property
    def can_grow(self) -> bool:
        """Whether any source is not at its end."""
        return bool(self._open)

    @property
    def pause(self) -> float:
        """How long to wait for sources that have nothing yet, seconds."""
        return min((one.pause for one in self._open), default=RETRY_DURATION)

    @property
    def is_waiting(self) -> bool:
        """Whether a data stream has to grow before there is another merge."""
        return bool(self._muxer.waiting)

    def poll(self) -> bool:
        """Ask the sources for more.

        Returns:
            Whether there is any.
        """
        waiting = self._muxer.waiting
        has_news = False
        for feed in [*self._open]:
            hungry = {
                self._streams[one] for one in waiting if self._feed_of.get(one) is feed
            }
            arrival = feed.poll(hungry)
            self._take(feed, arrival)
            has_news = has_news or arrival.has_news
        return has_news

    def take_damage(self) -> list[Damage]:
        """Return what cannot be read, since it was last asked for."""
        damage, self._damage = self._damage, []
        return damage

    def _take(self, feed: Feed, arrival: Arrival) -> None:
        wanted = self._wanted[feed]
        for stream in arrival.streams:
            self._add(feed, stream, wanted)
        index_of = {
            self._streams[index]: index
            for index, one in self._feed_of.items()
            if one is feed
        }
        for stream, part in arrival.parts:
            classes, kept = self._classes(stream, wanted)
            self._muxer.append(
                index_of[stream],
                part,
                classes=classes,
                needed=kept,
                range=(wanted.begin, wanted.end),
                record_filter=wanted.record_filter,
            )
        for stream, certain in arrival.certain:
            self._muxer.set_certain(index_of[stream], certain)
        ended = [*index_of] if arrival.is_end else arrival.ended
        for stream in ended:
            self._muxer.end(index_of[stream])
        self._damage += arrival.damage
        if arrival.is_end:
            del self._open[feed]

    def _add(self, feed: Feed, stream: Stream, wanted: Selection) -> None:
        self._feed_of[len(self._streams)] = feed
        self._streams.append(stream)
        order = sorted(
            range(len(self._streams)), key=lambda one: self._streams[one].order_key()
        )
        ranks = [0] * len(order)
        for rank, index in enumerate(order):
            ranks[index] = rank
        classes, kept = self._classes(stream, wanted)
        self._muxer.add(
            (stream.handle, stream, classes, kept),
            range=(wanted.begin, wanted.end),
            record_filter=wanted.record_filter,
            ranks=ranks,
        )

    def _classes(
        self, stream: Stream, wanted: Selection
    ) -> tuple[list[bool] | None, list[bool] | None]:
        kept = wanted.kept_classes(stream, self._needed)
        return wanted.wanted_classes(stream), kept


def growing_merges(
    muxer: GrowingMuxer,
    tell: Callable[[Damage], object],
    retry_duration: float | None = RETRY_DURATION,
) -> Iterator[core.Merge]:
    """Iterate over merges, and wait where there are none yet.

    Args:
        muxer: What merges.
        tell: Called with what cannot be read, besides what merges tell.
        retry_duration: How long to wait for sources that have nothing yet, seconds at
            most; ``None`` leaves that to who iterates: there is an empty merge then.

    Yields:
        Merges, some of them empty.
    """
    while True:
        merge = muxer.next_merge()
        if merge is not None:
            yield merge
        if not muxer.can_grow:
            if merge is None:
                return
        elif merge is None or muxer.is_waiting:
            has_news = muxer.poll()
            for damage in muxer.take_damage():
                tell(damage)
            if has_news:
                continue
            if retry_duration is None:
                yield core.MergeBuilder().finish()
            else:
                time.sleep(min(retry_duration, muxer.pause))
