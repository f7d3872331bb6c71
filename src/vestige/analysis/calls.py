"""Call trees: which function called which, how often, and how long it took.

:func:`vestige.analysis.call_reader.call_tree` makes them from traces. Times are in
nanoseconds, and include what the tracer itself costs.

What a trace does not tell is marked, not guessed. A call is *complete* when its entry
and its exit were seen and nothing was lost in between. Else it is counted as

* *across a loss*: entry and exit are there, and between them records were lost, so they
  may be those of two calls;
* *without exit*: it was left by an exception or a jump, was open when the trace ended,
  or its exit was lost. Its time is the least it can have been;
* *without entry*: it began before the trace, or in the parent before ``fork``, or its
  entry was lost. It has no time.

Mean, shortest and longest time are those of complete calls alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from .._typing import TYPE_CHECKING
from ..damage import Damage
from ..debuginfo import Place, Unresolved
from ..graph import LostNotice
from ..units import Address, Nanoseconds, Vpid

if TYPE_CHECKING:
    from .activities import Activity

__all__ = [
    "CallCounts",
    "CallNode",
    "CallTree",
    "Function",
    "FunctionCalls",
    "FunctionKind",
    "ThreadCalls",
]


class FunctionKind(Enum):
    """What a node of the call tree stands for; the value is a phrase for people."""

    FUNCTION = "a function"
    ROOT = "all calls"
    AFTER_LOSS = "after a loss"
    MERGED = "other paths"


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of an object, the same one in all processes that map the object."""

    name: str
    """Its name; where it is not known, the object and the offset, or the address."""
    place: Place | Unresolved | None = None
    """Where it is, or why that is not known; ``None`` if it is no function."""
    address: Address | None = None
    """Its address, in the process where it was seen first."""
    kind: FunctionKind = FunctionKind.FUNCTION
    """Whether it is a function, and what else it stands for."""

    @property
    def source(self) -> str | None:
        """The source file and the line of its beginning."""
        if isinstance(self.place, Place) and self.place.line:
            return f"{self.place.source_path}:{self.place.line}"
        return None

    @property
    def object(self) -> str | None:
        """The path of its object on the traced machine."""
        return self.place.binary.mapping.path if isinstance(self.place, Place) else None

    def __repr__(self) -> str:
        """Show name and source line."""
        return f"Function({self.name!r}, {self.source or self.object})"


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
        self.total += 0 if is_inner else other.total
        self.self_time += other.self_time
        self.complete_time += other.complete_time
        if other.complete:
            self.shortest = min(_known(self.shortest, other.shortest))
            self.longest = max(_known(self.longest, other.longest))


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


@dataclass(slots=True, kw_only=True)
class ThreadCalls:
    """The calls of a thread."""

    trace: str
    """Name of the trace."""
    vpid: Vpid | None
    """Process ID, where the trace tells."""
    vtid: int | None
    """Thread ID, where the trace tells."""
    name: str | None
    """Name of the process, where the trace tells."""
    begin: Nanoseconds
    """Time of its first entry or exit."""
    end: Nanoseconds
    """Time of its last entry or exit."""
    root: CallNode
    """Its calls."""
    unknown_exits: int
    """How many exits tell no function and have no entry."""
    losses: int
    """How many times records were lost while it ran."""
    exits_are_named: bool
    """Whether exits tell which function is left; if not, they end the innermost call,
    and a jump over calls is not noticed."""


@dataclass(slots=True, kw_only=True)
class CallTree:
    """The calls of all threads of some traces."""

    threads: list[ThreadCalls] = field(default_factory=list)
    """The threads, in the order in which they were seen."""
    events: int = 0
    """Number of entries and exits."""
    other_events: int = 0
    """Number of all other event records."""
    cost_of_call: float | None = None
    """What entry and exit of a call cost where it was recorded, nanoseconds; ``None``
    when the recorder did not measure it."""
    is_patched: bool = False
    """Whether functions without hooks were recorded: calls that the compiler inlined
    are none of these."""
    threads_unknown: bool = False
    """Whether threads share data streams and nothing tells them apart, so that nothing
    but the number of events is true."""
    is_merged: bool = False
    """Whether there were so many paths that some share nodes."""
    left_out: int = 0
    """Entries and exits in no tree, since there are too many threads."""
    left_out_calls: int = 0
    """Calls that :meth:`choose` or a filter left out."""
    spans: list[Activity] = field(default_factory=list)
    """The spans of Python programs, those that took longest first."""
    coroutines: list[Activity] = field(default_factory=list)
    """Their coroutine functions, those that took longest first."""
    losses: list[LostNotice] = field(default_factory=list)
    """What the tracer lost."""
    damage: list[Damage] = field(default_factory=list)
    """What could not be read."""

    @property
    def lost(self) -> int:
        """The number of event records that the tracer is known to have lost."""
        counts = (one.count or 0 for one in self.losses if one.kind == "events")
        return sum(counts)

    def root(self) -> CallNode:
        """Return the calls of all threads as one tree."""
        return merged(thread.root for thread in self.threads)

    def choose(
        self,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        only_my_code: bool = False,
        max_depth: int | None = None,
    ) -> CallTree:
        """Return a tree without some calls, as if they had not been recorded.

        The time of a call that is left out is that of its caller.

        Args:
            include: Patterns ``[OBJECT:]NAME`` of functions that are in; empty for all.
            exclude: Patterns of functions that are not, whatever ``include`` says.
            only_my_code: Whether to leave out Python functions of the standard library,
                of installed packages, of frozen modules, and those written in C.
            max_depth: How many calls that are in may be open at once in a thread.

        Raises:
            SelectionError: A pattern can match no function, or the depth is none.

        Example:
            >>> tree = vestige.open("my-trace").call_tree()
            >>> tree.choose(exclude=["json.*"], only_my_code=True).functions()
        """
        from .chosen_calls import chosen_calls  # noqa: PLC0415 - few need it
        from .function_choice import FunctionChoice  # noqa: PLC0415 - as above

        choice = FunctionChoice(include, exclude, only_my_code=only_my_code)
        return chosen_calls(self, choice.takes, max_depth)

    def functions(self) -> list[FunctionCalls]:
        """Return each function with all of its calls, those with most time first."""
        found = function_calls(thread.root for thread in self.threads)
        resumes = {
            (one.name, one.function.source): one.resumes
            for one in self.coroutines
            if one.function is not None
        }
        for row in found if resumes else ():
            known = resumes.get((row.function.name, row.function.source), 0)
            row.resumes = min(known, row.calls)
        return found


ROOT_FUNCTION = Function("(all)", kind=FunctionKind.ROOT)
AFTER_LOSS_FUNCTION = Function("(after a loss)", kind=FunctionKind.AFTER_LOSS)
MERGED_FUNCTION = Function("(other paths)", kind=FunctionKind.MERGED)


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
