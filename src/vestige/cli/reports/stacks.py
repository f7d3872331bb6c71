"""The report of events by call stacks; that of waits by call stacks looks the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...analysis.stacks import has_stacks, stack_counts
from ...errors import CommandError
from ...viewers.names import Weights
from ...viewers.stacks import stack_tree
from ...viewers.write import tree_bytes
from ..render.debuginfo import count
from ..render.stack_lines import folded_stack, stack_facts, stack_lines
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.stacks import CallStacks, Stack
    from ...damage import Damage
    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["HOW", "StacksReport", "make_report"]

HOW = (
    "record them with 'vestige record --kernel=sched "
    "--kernel-context=callstack-user,callstack-kernel -- PROGRAM', as root"
)
_LIMIT = 10
"""How many stacks people see if they do not say it: each has many lines."""
_OF_WAITS = Weights("waits", "off-cpu", "nanoseconds")
_OF_EVENTS = Weights("events", "", "count")
_FACTS = ("tid", "name", "event", "count", "total_ns", "max_ns", "runnable_ns", "stack")


class StacksReport:
    """The call stacks of some traces.

    Args:
        kind: What it is called.
        found: The call stacks.
        limit: How many are shown; ``None`` for as many as people want to see.
    """

    def __init__(self, kind: str, found: CallStacks, limit: int | None) -> None:
        self._kind = kind
        self._limit = limit
        self.found = found

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        return self.found.damage

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        limit = _LIMIT if self._limit is None else self._limit
        yield from stack_lines(
            self.found, self._stacks(style), style._replace(limit=limit)
        )
        yield from self._notes()

    def _notes(self) -> Iterator[str]:
        found, notes = self.found, []
        if found.without_stack:
            notes.append(f"{count(found.without_stack, 'event')} without a call stack")
        if found.unended:
            notes.append(
                f"{count(found.unended, 'wait')} without a known end, in no sum"
            )
        lost = sum(one.count or 0 for one in found.losses if one.kind == "events")
        if lost:
            notes.append(f"{count(lost, 'event')} lost by the tracer")
        if notes:
            yield ""
        yield from notes

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        found, sums = self.found, self.found.sums
        return {
            "version": 1,
            "report": self._kind,
            "count": sums.count,
            "total_ns": sums.total if found.is_time else None,
            "stacks": [
                stack_facts(one, is_time=found.is_time)
                for one in self._stacks(style)[: style.limit or None]
            ],
            "without_stack": found.without_stack,
            "unended": found.unended,
            "lost_events": sum(
                one.count or 0 for one in found.losses if one.kind == "events"
            ),
            "damage": [one._asdict() for one in found.damage],
        }

    def table(self, style: CallStyle) -> Table:
        """Return the stacks; see :class:`Report`."""
        found = self.found
        rows = []
        for one in self._stacks(style)[: style.limit or None]:
            facts = stack_facts(one, is_time=found.is_time)
            facts["stack"] = folded_stack(one)
            rows.append([facts[name] for name in _FACTS])
        return Table(_FACTS, rows)

    def _stacks(self, style: CallStyle) -> list[Stack]:
        return self.found.stacks if style.by_thread else self.found.joined()

    def viewer_bytes(self, to: str, name: str, *, by_thread: bool) -> bytes:
        """Return a file for a viewer.

        Args:
            to: Its form.
            name: What the viewer calls it.
            by_thread: Whether threads of the same name are told apart.
        """
        found = self.found
        tree = stack_tree(found, by_thread=by_thread, marks_kernel=to == "folded")
        weights = _OF_WAITS if found.is_time else _OF_EVENTS
        return tree_bytes(tree, to, name, weights)


def make_report(reading: Reading) -> StacksReport:
    """Count events by their call stacks.

    Args:
        reading: The traces.

    Raises:
        CommandError: None of them has any.
    """
    if not has_stacks(reading.source.streams):
        raise CommandError(f"{reading.paths}: no call stacks: {HOW}")
    with reading.progress() as progress:
        found = stack_counts(
            reading.source,
            reading.places(),
            selection=reading.selection,
            takes=reading.takes,
            progress=progress,
        )
    reading.refuse_unknown("events of a kernel")
    if not found.stacks and reading.is_of_part:
        raise CommandError(
            f"{reading.paths}: no events of a kernel among the chosen events"
        )
    return StacksReport("stacks", found, reading.options.limit)
