"""The call tree of a part of the time, without what is before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ... import core
from ...graph import LostNotice, Selection, notices_of
from ..calls import CallTree
from ..fold_trees import part_of_loss, tree_of
from .intervals import EARLIEST, LATEST, Intervals

__all__ = ["part_tree"]


def part_tree(
    intervals: Intervals,
    selection: Selection,
    *,
    longest: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> CallTree | None:
    """Return what ``vestige.analysis.call_tree`` does of a range of time.

    The traces are read from the last point before the range on, at which it is known
    what is open. Of functions it is known what an index says.

    Args:
        intervals: The intervals of the traces.
        selection: The range.
        longest: Keep how long complete calls took, and so many of the longest of each
            function; nothing of it by default.
        progress: Called with the number of event records read so far.

    Returns:
        The call tree; ``None`` where the index does not tell all of it: where more is
        asked for than a range, the traces are damaged, or have spans and coroutines.
    """
    begin, end = selection.begin, selection.end
    is_range = selection == Selection(begin=begin, end=end) and begin is not None
    if not is_range or intervals.has_codes or intervals.damage:
        return None
    first = EARLIEST if begin is None else begin
    last = LATEST if end is None else end
    fold, from_time = intervals.fold(first, last)
    if from_time is None:
        return None
    found = _Found(intervals.names, intervals.thread_names)
    if longest is not None:
        fold.keep_durations(longest)
        found.keeps_durations = True
    read = 0
    for merge in intervals.read(fold, from_time, last):
        read += len(merge)
        found.add(merge, fold.others(merge), first)
        if progress is not None:
            progress(read)
    streams = intervals.streams
    tree = tree_of(found, fold, intervals.functions, streams, is_range=True)
    # The fold has counted what is between the point and the range, too.
    tree.events, tree.other_events = found.events - found.others, found.others
    tree.threads = [
        one for one in tree.threads if one.root.callees or one.unknown_exits
    ]
    return tree


@dataclass
class _Found:
    """What is read besides calls."""

    names: dict[tuple[int, int], str]
    later_names: dict[tuple[int, int, int], str]
    threads_called: core.ThreadNames = field(default_factory=core.ThreadNames)
    events: int = 0
    others: int = 0
    losses: list[LostNotice] = field(default_factory=list)
    keeps_durations: bool = False
    _is_in_range: bool = False

    @property
    def thread_names(self) -> dict[tuple[int, int, int], str]:
        """Names of threads: those that they have in the range, where it tells them."""
        rows = self.threads_called.rows()
        return self.later_names | {
            (space, vpid, vtid): name for space, vpid, vtid, name in rows
        }

    def add(self, merge: core.Merge, others: list[int], begin: int) -> None:
        self.threads_called.add(merge)
        lost = (one for one in notices_of(merge) if isinstance(one, LostNotice))
        found = (part_of_loss(one, begin) for one in lost)
        self.losses += [one for one in found if one is not None]
        if self._is_in_range:
            self.events += len(merge)
            self.others += len(others)
            return
        # In the first ones there are records before the range.
        times = [event.timestamp or begin for event in merge.events()]
        inside = sum(time >= begin for time in times)
        self._is_in_range = inside == len(merge) > 0
        self.events += inside
        self.others += sum(times[index] >= begin for index in others)
