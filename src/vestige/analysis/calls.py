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
  entry was lost. It has no time;
* *clipped*: the range of time that was asked for cuts it. Its time is what is in the
  range.

Mean, shortest and longest time are those of complete calls alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from .._typing import TYPE_CHECKING
from ..damage import Damage
from ..errors import SelectionError
from ..graph import LostNotice
from ..units import Nanoseconds, Vpid
from .call_nodes import (
    CallNode,
    FunctionCalls,
    function_calls,
    functions_html,
    merged,
)
from .functions import Function
from .threads import Process, Thread

if TYPE_CHECKING:
    from .activities import Activity
    from .durations import Durations, LongCall
    from .turns import Turns

__all__ = ["CallTree", "ThreadCalls"]


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
    thread_name: str | None = None
    """Its own name, where the trace tells one that is not that of its process."""
    namespace: int = 0
    """The PID namespace of its process, see :class:`.Process`."""

    @property
    def thread(self) -> Thread:
        """The thread, as a value; its event records are those of calls."""
        process = Process(self.vpid, self.name, self.trace, self.namespace)
        return Thread(
            process=process,
            tid=self.vtid,
            name=self.thread_name,
            begin=self.begin,
            end=self.end,
        )

    def _repr_html_(self) -> str:
        """Show in a notebook what each function took."""
        return functions_html(
            f"Calls of thread {self.thread}", function_calls([self.root])
        )


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
    durations: dict[Function, Durations[LongCall]] = field(
        default_factory=dict, repr=False
    )
    """How long the complete calls of each function took, if that was asked for."""
    damage: list[Damage] = field(default_factory=list)
    """What could not be read."""
    turns: Turns | None = field(default=None, repr=False, compare=False)
    """What a kernel has told of its threads, where one has."""
    threads_elsewhere: int = field(default=0, compare=False)
    """How many threads have IDs of a PID namespace, under which kernels tell of others:
    what they waited for is not known."""
    picture: Callable[[CallTree], str] | None = field(
        default=None, repr=False, compare=False
    )
    """Draws it in HTML for notebooks, where it is of a whole trace."""

    def know_turns(self, turns: Turns | None) -> None:
        """Keep what kernels tell of threads, but nothing where they mean others.

        Args:
            turns: What they tell, of which the nodes have their parts already.
        """
        self.turns = turns
        for one in self.threads:
            if turns is not None and turns.is_elsewhere(one.thread):
                one.root.forget_turns()
                self.threads_elsewhere += 1

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
        from .function_choice import FunctionChoice  # noqa: PLC0415 - few need it

        choice = FunctionChoice(include, exclude, only_my_code=only_my_code)
        return self.leave_out(choice.takes, max_depth)

    def leave_out(
        self, takes: Callable[[Function], bool], max_depth: int | None = None
    ) -> CallTree:
        """Return a tree without some calls; their time is that of their callers.

        Args:
            takes: Tells whether a function is in.
            max_depth: How many calls that are in may be open at once in a thread, at
                least 1; deeper ones are left out. All by default.

        Returns:
            The calls that are in. Threads without one are left out, and so are
            coroutine functions.

        Raises:
            SelectionError: The depth is none, or that of some calls is not known.
        """
        from .chosen_calls import chosen_calls  # noqa: PLC0415 - few need it

        if max_depth is not None and max_depth < 1:
            raise SelectionError(f"max_depth={max_depth}: expected at least 1")
        if max_depth is not None and self.is_merged:
            raise SelectionError(
                "so many call paths that some share a node: how deep their calls are "
                "is not known; choose functions instead of a depth"
            )
        threads = [
            replace(thread, root=chosen_calls(thread.root, takes, max_depth))
            for thread in self.threads
        ]
        with_calls = [one for one in threads if one.root.callees]
        chosen = replace(self, threads=with_calls, picture=None)
        functions = chosen.functions()
        left = {(one.function.name, one.function.source) for one in functions}
        chosen.coroutines = [
            one
            for one in self.coroutines
            if one.function is None or (one.function.name, one.function.source) in left
        ]
        before = sum(one.calls - one.resumes for one in self.functions())
        now = sum(one.calls - one.resumes for one in functions)
        chosen.left_out_calls = self.left_out_calls + before - now
        return chosen

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
        for row in found if self.durations else ():
            durations = self.durations.get(row.function)
            # Of calls that were left out since, it still has the time.
            if durations is not None and durations.count == row.complete:
                row.durations = durations
        return found

    def _repr_html_(self) -> str:
        """Show in a notebook what each function took, and the page of the trace."""
        picture = "" if self.picture is None else self.picture(self)
        return functions_html("Calls", self.functions()) + picture
