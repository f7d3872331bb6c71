"""What calls add up to: by paths of callers, and by functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .._typing import TYPE_CHECKING
from .functions import ROOT_FUNCTION, Function, FunctionKind

if TYPE_CHECKING:
    from .durations import Durations, LongCall

__all__ = [
    "CallCounts",
    "CallNode",
    "FunctionCalls",
    "call_counts",
    "function_calls",
    "functions_html",
    "merged",
]


@dataclass(slots=True, kw_only=True)
class CallCounts:
    """What some calls add up to."""

    calls: int = 0
    """How many calls there were."""
    complete: int = 0
    """How many have entry and exit, and no loss in between."""
    across_loss: int = 0
    """How many have entry and exit, and a loss in between."""
    no_exit: int = 0
    """How many have no exit."""
    no_entry: int = 0
    """How many have no entry."""
    clipped: int = 0
    """How many the range of time cuts; their time is what is in it."""
    total: int = 0
    """Their time, nanoseconds; of calls within each other, that of the outermost."""
    self_time: int = 0
    """Their time without that of the calls that they made, nanoseconds."""
    complete_time: int = 0
    """The time of the complete calls, each for itself, nanoseconds."""
    shortest: int | None = None
    """The time of the shortest complete call, nanoseconds."""
    longest: int | None = None
    """The time of the longest complete call, nanoseconds."""
    running: int = 0
    """How much of ``total`` its threads ran, as far as a kernel has told; nanoseconds.
    """
    runnable: int = 0
    """How long they waited for a CPU, likewise."""
    blocked: int = 0
    """How long they waited for anything else, likewise."""

    @property
    def mean(self) -> float | None:
        """The mean time of complete calls, nanoseconds."""
        return self.complete_time / self.complete if self.complete else None

    @property
    def uncertain(self) -> int:
        """How many calls are not complete."""
        return self.calls - self.complete

    def add(self, other: CallCounts, *, is_inner: bool = False) -> None:
        """Add other calls to these.

        Args:
            other: The other calls.
            is_inner: Whether their time is within that of these.
        """
        self.calls += other.calls
        self.complete += other.complete
        self.across_loss += other.across_loss
        self.no_exit += other.no_exit
        self.no_entry += other.no_entry
        self.clipped += other.clipped
        if not is_inner:
            self.total += other.total
            self.running += other.running
            self.runnable += other.runnable
            self.blocked += other.blocked
        self.self_time += other.self_time
        self.complete_time += other.complete_time
        if other.complete:
            self.shortest = min(_known(self.shortest, other.shortest))
            self.longest = max(_known(self.longest, other.longest))


def call_counts(
    row: tuple[
        tuple[int, int],
        tuple[int, int, int, int, int, int],
        tuple[int, int, int, int, int],
    ],
) -> CallCounts:
    """Return what the calls of a node add up to.

    Args:
        row: The node, as the core's fold has it.
    """
    _, counts, times = row
    calls, complete, across, no_exit, no_entry, clipped = counts
    total, own, whole, shortest, longest = times
    return CallCounts(
        calls=calls,
        complete=complete,
        across_loss=across,
        no_exit=no_exit,
        no_entry=no_entry,
        clipped=clipped,
        total=total,
        self_time=own,
        complete_time=whole,
        shortest=shortest,
        longest=longest,
    )


def _known(*values: int | None) -> list[int]:
    return [value for value in values if value is not None]


@dataclass(slots=True, kw_only=True, eq=False)
class CallNode(CallCounts):
    """All calls of a function on one path of callers."""

    function: Function
    """The function, or what the node stands for."""
    callees: dict[Function, CallNode] = field(default_factory=dict, repr=False)
    """The nodes of the functions that it called, in the order of their first call."""

    @property
    def duration(self) -> int:
        """Its time, or the time of its callees where it is no function; nanoseconds."""
        if self.function.kind is FunctionKind.FUNCTION:
            return self.total
        return sum(node.duration for node in self.callees.values())

    def by_time(self) -> list[CallNode]:
        """Return the callees, those that took longest first."""
        return sorted(
            self.callees.values(), key=lambda node: (-node.duration, -node.calls)
        )

    def walk(self) -> Iterator[tuple[int, CallNode]]:
        """Go through the tree, callers before callees, the longest first.

        Yields:
            How many levels a node is below this one, and the node.
        """
        waiting = [(0, self)]
        while waiting:
            level, node = waiting.pop()
            yield level, node
            callees = reversed(node.by_time())
            waiting.extend((level + 1, callee) for callee in callees)

    def forget_turns(self) -> None:
        """Let nothing be known of what its threads waited for."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            node.running = node.runnable = node.blocked = 0
            waiting.extend(node.callees.values())

    def merge(self, other: CallNode) -> None:
        """Add the calls of another tree, path by path."""
        waiting = [(self, other)]
        while waiting:
            mine, theirs = waiting.pop()
            mine.add(theirs)
            for function, callee in theirs.callees.items():
                known = mine.callees.get(function)
                if known is None:
                    known = mine.callees[function] = CallNode(function=function)
                waiting.append((known, callee))


@dataclass(slots=True, kw_only=True)
class FunctionCalls(CallCounts):
    """All calls of a function."""

    function: Function
    """The function."""
    resumes: int = 0
    """How many of the calls are none: a coroutine goes on after it has waited."""
    durations: Durations[LongCall] | None = field(default=None, repr=False)
    """How long the complete ones took, if that was asked for."""


def merged(roots: Iterable[CallNode]) -> CallNode:
    """Return some trees as one.

    Args:
        roots: The roots of the trees, which are not changed.
    """
    root = CallNode(function=ROOT_FUNCTION)
    for one in roots:
        root.merge(one)
    return root


def function_calls(roots: Iterable[CallNode]) -> list[FunctionCalls]:
    """Return each function in some trees with all of its calls.

    Args:
        roots: The roots of the trees.

    Returns:
        The functions, those with most time first. The time of a call within another
        call of the same function is in the time of that one, and not added to it.
    """
    found: dict[Function, FunctionCalls] = {}
    for root in roots:
        open_calls: dict[Function, int] = {}
        # A node comes again when all that it called is done.
        waiting: list[tuple[CallNode, bool]] = [(root, False)]
        while waiting:
            node, is_done = waiting.pop()
            function = node.function
            if is_done:
                open_calls[function] -= 1
                continue
            depth = open_calls.get(function, 0)
            open_calls[function] = depth + 1
            waiting.append((node, True))
            waiting.extend((callee, False) for callee in node.callees.values())
            if function.kind in {FunctionKind.ROOT, FunctionKind.AFTER_LOSS}:
                continue
            calls = found.get(function)
            if calls is None:
                calls = found[function] = FunctionCalls(function=function)
            calls.add(node, is_inner=depth > 0)
    kept = [one for one in found.values() if one.calls]
    return sorted(kept, key=lambda one: (-one.total, -one.calls))


def functions_html(title: str, functions: Sequence[FunctionCalls]) -> str:
    """Show in a notebook how often functions were called, and how long they took.

    Args:
        title: Whose functions they are.
        functions: The functions.
    """
    from ..notebook import rows_html, time_text  # noqa: PLC0415 - for notebooks only

    head = ("function", "total", "self", "calls", "mean", "longest", "place")
    rows = [
        (
            one.function.name,
            time_text(one.total),
            time_text(one.self_time),
            f"{one.calls:,}",
            time_text(one.mean),
            time_text(one.longest),
            one.function.source or one.function.object or "",
        )
        for one in functions
    ]
    return rows_html(title, head, rows)
