"""Events that begin and end something: how long it lasted.

What belongs together is found by its names: ``x_entry`` and ``x_exit``, ``x_begin`` and
``x_end``, ``syscall_entry_x`` and ``syscall_exit_x``. Spans go by their IDs, wherever
they end; all others belong to a thread. Entries and exits of functions are calls, and
not among these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ... import core
from ..._typing import TYPE_CHECKING, NamedTuple
from ...debuginfo import CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS
from ...graph import Stream
from ...units import Nanoseconds
from ..activities.span_events import span_classes
from ..durations import Durations
from ..durations.joined import joined_durations
from ..threads import Process, Thread
from .origin import Origin, Who

if TYPE_CHECKING:
    from typing import Literal

__all__ = ["LongPair", "PairRule", "PairTimes", "found_rules", "pair_times"]

_SUFFIXES = {"entry": "exit", "begin": "end"}
_BEGIN = re.compile(r"(.*[^_:])?([_:])(entry|begin)", re.DOTALL)
_SYSTEM_CALL = re.compile(r"((?:compat_)?syscall)_entry_(.+)", re.DOTALL)
_INTERRUPT = re.compile(r"(?:.*_)?(?:irq|softirq|tasklet|timer|hrtimer)(?:_.*)?")
"""What interrupts whatever runs on a CPU."""


class PairRule(NamedTuple):
    """What belongs together."""

    name: str
    """What it is called."""
    begins: tuple[str, ...]
    """Names of the events that begin it."""
    ends: tuple[str, ...]
    """Names of the events that end it."""
    keys: tuple[str, str] | None = None
    """The fields of both that have the same value."""
    label: str | None = None
    """The field of the beginning that names its group."""
    reach: Literal["thread", "cpu", "process", "everything"] = "thread"
    """Within what both are."""
    nests: bool = True
    """Whether there may be several at once, one within the other."""
    grouping: Literal["none", "key", "who"] = "none"
    """What times are kept apart by."""

    @classmethod
    def of(
        cls,
        begin: str,
        end: str,
        key: str | None = None,
        within: Literal["thread", "process", "cpu"] | None = None,
    ) -> PairRule:
        """Return what begins with one event and ends with another one.

        Args:
            begin: Name of the event that begins it.
            end: Name of the event that ends it.
            key: The field that has the same value in both, wherever they are; without
                it, both are of the same thread.
            within: What else must be the same of both; by default nothing, where there
                is a key.
        """
        keys = None if key is None else (key, key)
        return cls(
            f"{begin} to {end}",
            (begin,),
            (end,),
            keys=keys,
            reach=within or ("everything" if key else "thread"),
        )

    @property
    def row(
        self,
    ) -> tuple[
        Sequence[str],
        Sequence[str],
        tuple[str, str] | None,
        str | None,
        str,
        bool,
        str,
    ]:
        """What the core takes."""
        return self[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class LongPair:
    """A pair that is among the longest."""

    begin: Nanoseconds
    """When it began, nanoseconds."""
    duration: int
    """How long it lasted, nanoseconds."""
    origin: Origin
    """Who began it."""

    @property
    def end(self) -> Nanoseconds:
        """When it ended, nanoseconds."""
        return Nanoseconds(self.begin + self.duration)

    @property
    def thread(self) -> Thread:
        """The thread that began it, as far as it is known."""
        process = Process(self.origin.process, trace=self.origin.trace)  # type: ignore[arg-type] # any number
        return Thread(process=process, tid=self.origin.thread)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTimes:
    """How long what belongs together lasted."""

    rule: PairRule
    """What belongs together."""
    origin: Origin | None
    """Who began these, if they are kept apart by that."""
    key: str | None
    """The value of the key, if they are kept apart by that."""
    label: str | None
    """What that is called: the last name that it had."""
    durations: Durations[LongPair]
    """How long the complete ones lasted."""
    total: int
    """Their time, nanoseconds."""
    no_end: int
    """How many began, and have no end."""
    no_begin: int
    """How many ended, and have no beginning."""
    across_loss: int
    """How many have both, and events were lost in between."""

    @property
    def name(self) -> str:
        """What it is called."""
        words = self.rule.name, self.key, self.label
        return " ".join(word for word in words if word)

    @property
    def incomplete(self) -> int:
        """How many have no duration."""
        return self.no_end + self.no_begin + self.across_loss


def found_rules(streams: Sequence[Stream]) -> list[PairRule]:
    """Find what belongs together by the names of events, as metadata declare them.

    Args:
        streams: The data streams.
    """
    names = {name for stream in streams for name in stream.event_names if name}
    names -= {*CALL_ENTRY_EVENTS, *CALL_EXIT_EVENTS}
    entries, exits = span_classes(streams)
    rules = [
        PairRule(
            name.removesuffix("_entry"),
            (name,),
            (f"{name.removesuffix('_entry')}_exit",),
            keys=("span_id", "span_id"),
            reach="process",
        )
        for name in entries
        if f"{name.removesuffix('_entry')}_exit" in exits
    ]
    rules += _by_names(names - entries - exits)
    return sorted(rules, key=lambda rule: rule.name)


def _by_names(names: set[str]) -> Iterator[PairRule]:
    for name in names:
        found = _SYSTEM_CALL.fullmatch(name)
        if found is not None:
            end = f"{found[1]}_exit_{found[2]}"
            if end in names:
                yield PairRule(f"{found[1]} {found[2]}", (name,), (end,), nests=False)
            continue
        found = _BEGIN.fullmatch(name)
        if found is None:
            continue
        stem, mark, begin = found[1] or "", found[2], found[3]
        end = f"{stem}{mark}{_SUFFIXES[begin]}"
        if end in names:
            is_interrupt = ":" not in name and _INTERRUPT.fullmatch(stem) is not None
            yield PairRule(
                stem or begin,
                (name,),
                (end,),
                reach="cpu" if is_interrupt else "thread",
            )


def pair_times(
    rules: Sequence[PairRule], table: core.EventTable, origins: Mapping[Who, Origin]
) -> list[PairTimes]:
    """Return what the core found out of pairs: first of each rule, then of its groups.

    Args:
        rules: What was looked for, in this order.
        table: What has seen all event records.
        origins: Makes origins of what the core has.
    """
    found = []
    for group, times, (buckets, longest) in table.pairs():
        pair, who, key, label = group
        _, total, shortest, most, no_end, no_begin, across_loss = times
        durations = Durations(
            dict(buckets),
            shortest,
            most,
            [
                LongPair(
                    begin=Nanoseconds(begin), duration=duration, origin=origins[maker]
                )
                for duration, begin, maker in longest
            ],
        )
        found.append(
            PairTimes(
                rule=rules[pair],
                origin=None if who is None else origins[who],
                key=key,
                label=label,
                durations=durations,
                total=total,
                no_end=no_end,
                no_begin=no_begin,
                across_loss=across_loss,
            )
        )
    return found


def occurring(pairs: Iterable[PairTimes]) -> list[PairTimes]:
    """Return the pairs of which there are any, those with most time first.

    Args:
        pairs: The pairs.
    """
    return by_time(one for one in pairs if one.durations.count or one.incomplete)


def by_time(pairs: Iterable[PairTimes]) -> list[PairTimes]:
    """Sort pairs, those with most time first.

    Args:
        pairs: The pairs.
    """
    return sorted(pairs, key=lambda one: (-one.total, one.name))


def joined_pairs(pairs: Iterable[PairTimes]) -> list[PairTimes]:
    """Put together what is of the same rule, those with most time first.

    Args:
        pairs: The pairs of several threads.
    """
    found: dict[PairRule, list[PairTimes]] = {}
    for one in pairs:
        found.setdefault(one.rule, []).append(one)
    return by_time(_joined(same) for same in found.values())


def _joined(same: Sequence[PairTimes]) -> PairTimes:
    return replace(
        same[0],
        origin=None,
        durations=joined_durations([one.durations for one in same]),
        total=sum(one.total for one in same),
        no_end=sum(one.no_end for one in same),
        no_begin=sum(one.no_begin for one in same),
        across_loss=sum(one.across_loss for one in same),
    )
