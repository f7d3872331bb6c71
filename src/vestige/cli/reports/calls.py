"""The report of calls: which functions were called, how often, and how long it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..._typing import TYPE_CHECKING
from ...analysis.call_reader import call_tree
from ...analysis.threads import Process, Thread
from ...damage import Damage
from ...debuginfo import CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS
from ...errors import CommandError
from ...units import Vpid
from ..chosen_functions import choose
from ..damage_output import print_damage
from ..exit_statuses import WRONG_USAGE
from ..min_duration import call_duration_filter
from ..render.calls import call_lines
from ..render.calls_json import calls_facts
from ..render.calls_table import calls_table
from . import events
from .report import Report, Table

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ...analysis.calls import CallTree
    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["CallsReport", "make_report", "may_have_calls", "read_tree"]

_HINT = (
    "compile the program with '-g -finstrument-functions' and record it with "
    "'vestige record -- PROGRAM', or with lttng enable-event -u "
    "'lttng_ust_cyg_profile*' and LD_PRELOAD=liblttng-ust-cyg-profile-fast.so"
)
_NO_CALLS = (
    "no calls of functions were recorded: 'vestige record -- PROGRAM' records those of "
    "programs built with '-g -finstrument-functions', and with --patch those of others"
)
_NO_THREADS = (
    "the events do not name their threads, so nobody knows which exit belongs to which "
    "entry; record the contexts: lttng add-context -u -t vpid -t vtid -t ip"
)
MOST_NAMED = 20
"""Threads that one message names."""


class CallsReport:
    """The calls of some traces.

    Args:
        tree: The calls.
    """

    def __init__(self, tree: CallTree) -> None:
        self.tree = tree

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        return self.tree.damage

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        return call_lines(self.tree, style)

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        return calls_facts(self.tree, style)

    def table(self, style: CallStyle) -> Table:
        """Return the functions, or the nodes of the tree; see :class:`Report`."""
        return Table(*calls_table(self.tree, style))


def make_report(reading: Reading) -> Report:
    """Read the calls; of a trace without any, the table of events.

    Args:
        reading: The traces.

    Raises:
        CommandError: There are no calls, and something was asked of them; or nobody
            knows which calls belong together.
    """
    needs_calls = _needs_calls(reading.options)
    if not needs_calls and not may_have_calls(reading):
        return events.make_report(reading, _no_calls(reading))
    tree = _all_calls(reading, reading.longest if reading.percentiles else None)
    if not needs_calls and _is_empty(tree):
        return events.make_report(reading, _no_calls(reading))
    if not needs_calls and tree.threads_unknown:
        return events.make_report(reading, [f"no calls: {_NO_THREADS}"])
    if reading.options.all:
        raise CommandError(
            "--all: not for calls, but for --events and --threads",
            exit_code=WRONG_USAGE,
        )
    return CallsReport(_chosen(tree, reading))


def read_tree(reading: Reading, *, longest: int | None = None) -> CallTree:
    """Read the calls that are wanted.

    Args:
        reading: The traces.
        longest: Keep how long calls took, and so many of the longest of each function.

    Raises:
        CommandError: There are no calls, or nobody knows which belong together.
    """
    tree = _all_calls(reading, longest)
    # Where durations are kept, spans and coroutines are of these threads alone.
    return _chosen(tree, reading, keeps_activities=longest is not None)


def _all_calls(reading: Reading, longest: int | None) -> CallTree:
    options, source = reading.options, reading.source
    turns = reading.turns()
    # Durations are of all threads that an index has.
    if turns is None and (longest is None or not reading.wanted):
        found = _calls_of_index(reading, longest)
        if found is not None:
            return found
    resolver = reading.resolver()
    long_calls = (
        None
        if options.min_duration is None
        else call_duration_filter(options.min_duration, [source], reading.selection)
    )
    # Durations are of all threads that are folded.
    threads = _thread_choice(reading) if longest is not None else None
    with reading.progress() as progress:
        return call_tree(
            source,
            resolver,
            selection=reading.selection,
            call_filter=long_calls,
            longest=longest,
            threads=threads,
            turns=turns,
            progress=progress,
        )


def _calls_of_index(reading: Reading, longest: int | None) -> CallTree | None:
    """Read the calls of a range of time without what is before it, if an index allows.

    Returns:
        The calls; ``None`` if more is asked for than an index knows, or there is none.
    """
    options = reading.options
    chosen = (
        *(options.function, options.include_function, options.exclude_function),
        options.only_my_code,
        options.min_duration is not None,
        options.to not in {None, "table", "json", "csv", "folded"},
        reading.selection.begin is None,
    )
    if any(chosen):
        return None
    from ...analysis.intervals import Intervals
    from ...analysis.intervals.part_tree import part_tree

    place = reading.index_place()
    known = None if place is None else place.read()
    if known is None:
        return None
    try:
        intervals = Intervals(known, reading.source.streams)
    except ValueError:
        return None
    with reading.progress() as progress:
        return part_tree(
            intervals, reading.selection, longest=longest, progress=progress
        )


def _thread_choice(reading: Reading) -> list[int | Thread] | None:
    if not reading.wanted:
        return None
    if not reading.processes:
        return list(reading.threads)
    found = [one.origin for one in events.read_events(reading).origins]
    return [
        Thread(
            process=Process(Vpid(one.process), trace=one.trace),
            tid=one.thread,
        )
        for one in found
        if one.process is not None
    ]


def _chosen(
    tree: CallTree, reading: Reading, *, keeps_activities: bool = False
) -> CallTree:
    _check(tree, reading)
    if reading.wanted:
        only = _only(tree, reading)
        if keeps_activities:
            only.spans, only.coroutines = tree.spans, tree.coroutines
        tree = only
    return choose(tree, reading.options)


def _needs_calls(options: argparse.Namespace) -> bool:
    """Tell whether something was asked for that only calls have."""
    return bool(
        options.tree
        or options.function
        or options.include_function
        or options.exclude_function
        or options.only_my_code
        or options.max_depth
        or options.min_duration is not None
        or options.to not in {None, "table", "json", "csv"}
    )


def may_have_calls(reading: Reading) -> bool:
    """Tell whether metadata declare what calls and spans are made of.

    Args:
        reading: The traces.
    """
    from ...analysis.activities.span_events import span_classes

    streams = reading.source.streams
    known = {*CALL_ENTRY_EVENTS, *CALL_EXIT_EVENTS}
    if any(known.intersection(stream.event_names) for stream in streams):
        return True
    return any(span_classes(streams))


def _no_calls(reading: Reading) -> list[str]:
    """Say how calls are recorded, unless a part is read, or a trace of a kernel."""
    environments = (
        stream.trace.parsed.environment for stream in reading.source.streams
    )
    if reading.is_of_part or any(one.get("domain") == "kernel" for one in environments):
        return []
    return [_NO_CALLS]


def _is_empty(tree: CallTree) -> bool:
    # Calls that a range of time is within have no event in it.
    return not (tree.events or tree.spans or tree.functions())


def _check(tree: CallTree, reading: Reading) -> None:
    """Refuse traces of which no report can be made."""
    options, paths = reading.options, reading.paths
    if options.min_duration is not None and tree.left_out_calls and not tree.threads:
        from ..render.call_style import duration

        raise CommandError(
            f"{paths}: none of the calls takes {duration(options.min_duration)} or "
            "longer"
        )
    if _is_empty(tree):
        print_damage(tree.damage)
        if reading.wanted and tree.other_events:
            raise CommandError(
                f"{reading.wanted}: no such {reading.wanted_kind} has calls; 'vestige "
                "report --threads' shows those that there are",
                exit_code=WRONG_USAGE,
            )
        if reading.is_of_part:
            raise CommandError(
                f"{paths}: no entries or exits of functions among the chosen events"
            )
        raise CommandError(f"{paths}: no entries or exits of functions: {_HINT}")
    if tree.threads_unknown:
        raise CommandError(f"{paths}: {_NO_THREADS}")


def _only(tree: CallTree, reading: Reading) -> CallTree:
    """Leave out what is of other threads."""
    chosen = [one for one in tree.threads if reading.takes(one.vpid, one.vtid)]
    if not chosen:
        known = sorted(
            {
                number
                for one in tree.threads
                for number in [one.vtid if reading.threads else one.vpid]
                if number is not None
            }
        )
        shown = ", ".join(map(str, known[:MOST_NAMED]))
        shown += ", ..." if len(known) > MOST_NAMED else ""
        raise CommandError(
            f"{reading.wanted}: no such {reading.wanted_kind} has calls; those that "
            f"have: {shown}",
            exit_code=WRONG_USAGE,
        )
    # Spans and coroutines may go from one thread to another.
    return replace(tree, threads=chosen, spans=[], coroutines=[])
