"""From the core's fold of calls to :class:`CallTree`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .. import core
from .._typing import Protocol
from ..graph import LostNotice, Stream
from ..graph.stream import namespace_of
from ..units import Nanoseconds, Vpid
from .call_nodes import CallNode, call_counts
from .calls import CallTree, ThreadCalls
from .functions import AFTER_LOSS_FUNCTION, MERGED_FUNCTION, ROOT_FUNCTION, Function
from .threads import own_name

__all__ = ["FoldFacts", "fold_nodes", "part_of_loss", "tree_of"]

_PATCHED = "tracer_patches_functions"
"""Entry of the environment that is 1 where entries of functions were rewritten."""
_COST = "tracer_call_cost_ns"
"""Entry of the environment with the cost of a call, nanoseconds."""
_SPECIAL = {
    0xFFFF_FFFF: ROOT_FUNCTION,
    0xFFFF_FFFE: AFTER_LOSS_FUNCTION,
    0xFFFF_FFFD: MERGED_FUNCTION,
}
"""What the core has in place of a function."""


class FoldFacts(Protocol):
    """What whoever reads knows of calls besides what the fold does."""

    @property
    def events(self) -> int:
        """Number of event records."""

    @property
    def losses(self) -> Sequence[LostNotice]:
        """What the tracer lost."""

    @property
    def names(self) -> Mapping[tuple[int, int], str]:
        """Names of processes, by process space and process ID."""

    @property
    def thread_names(self) -> Mapping[tuple[int, int, int], str]:
        """Names of threads, by process space, process ID and thread ID."""

    @property
    def keeps_durations(self) -> bool:
        """Whether the fold keeps how long calls took."""


def tree_of(
    facts: FoldFacts,
    fold: core.CallFold,
    functions: Sequence[Function],
    streams: Sequence[Stream],
    *,
    is_range: bool = False,
) -> CallTree:
    """Return what a reader has found, but for damage, spans and coroutines.

    Args:
        facts: What the reader knows besides.
        fold: Its fold, or a copy, of which all calls have ended.
        functions: The functions, by their numbers in the fold.
        streams: The data streams.
        is_range: Whether some of the nodes are of calls before a range of time.
    """
    tree = CallTree(
        losses=[*facts.losses],
        cost_of_call=_cost(streams),
        is_patched=_is_patched(streams),
    )
    tree.events, tree.other_events = fold.calls, facts.events - fold.calls
    tree.left_out, tree.is_merged = fold.left_out, fold.is_merged
    tree.left_out_calls = fold.hidden_calls
    tree.threads_unknown = fold.threads_unknown
    nodes = fold_nodes(fold, functions, is_range=is_range)
    found = _threads(facts, fold, nodes, streams)
    if facts.keeps_durations:
        _add_durations(tree, fold, functions, found)
    tree.threads = [*found.values()]
    return tree


def _is_patched(streams: Iterable[Stream]) -> bool:
    """Tell whether functions were recorded that had no hooks."""
    environments = (stream.trace.parsed.environment for stream in streams)
    return any(one.get(_PATCHED) == 1 for one in environments)


def _cost(streams: Iterable[Stream]) -> float | None:
    """Return what a call cost where most was recorded: the greatest that is told."""
    costs = []
    for stream in streams:
        value = stream.trace.parsed.environment.get(_COST)
        try:
            costs.append(float(value))  # type: ignore[arg-type] # None is an error too
        except (TypeError, ValueError):
            continue
    return max((cost for cost in costs if 0 < cost < 1e9), default=None)  # noqa: PLR2004


def _threads(
    facts: FoldFacts,
    fold: core.CallFold,
    nodes: Sequence[CallNode],
    streams: Sequence[Stream],
) -> dict[int, ThreadCalls]:
    """Return the threads by the indexes of their roots."""
    traces = {stream.process_space: stream.trace for stream in streams}
    thread_names = facts.thread_names
    threads = {}
    for row in fold.threads():
        space, vpid, vtid, root, first, last, unknown_exits, losses, named = row
        environment = traces[space].parsed.environment
        told = facts.names.get((space, vpid)) or environment.get("procname")
        name = str(told) if told else None
        threads[root] = ThreadCalls(
            trace=traces[space].name,
            vpid=None if vpid < 0 else Vpid(vpid),
            vtid=None if vtid < 0 else vtid,
            name=name,
            thread_name=own_name(thread_names.get((space, vpid, vtid)), name),
            begin=Nanoseconds(first),
            end=Nanoseconds(last),
            root=nodes[root],
            unknown_exits=unknown_exits,
            losses=losses,
            exits_are_named=named,
            namespace=namespace_of(space),
        )
    return threads


def _add_durations(
    tree: CallTree,
    fold: core.CallFold,
    functions: Sequence[Function],
    threads: Mapping[int, ThreadCalls],
) -> None:
    """Give each function how long its calls took; the same one may have several."""
    from .durations.fold import function_durations  # noqa: PLC0415 - few need it

    known = {root: thread.thread for root, thread in threads.items()}
    tree.durations = function_durations(fold, functions, known)


def _remove_empty(nodes: Sequence[CallNode]) -> None:
    """Remove the nodes of calls that are all outside the range."""
    for node in reversed(nodes):
        node.callees = {
            function: callee
            for function, callee in node.callees.items()
            if callee.calls or callee.callees
        }


def fold_nodes(
    fold: core.CallFold, functions: Sequence[Function], *, is_range: bool
) -> list[CallNode]:
    """Return the nodes of a fold; functions that turn out to be the same share one.

    Args:
        fold: The fold, when all of it has been read.
        functions: The functions, by their numbers in the fold.
        is_range: Whether some of the nodes are of calls before a range of time.

    Returns:
        The roots, one for each thread, and what is below them.
    """
    nodes: list[CallNode] = []
    turns = fold.turns()
    for index, row in enumerate(fold.nodes()):
        parent, number = row[0]
        function = _SPECIAL.get(number) or functions[number]
        if parent == index:
            nodes.append(CallNode(function=function))
            continue
        caller = nodes[parent]
        node = caller.callees.get(function)
        if node is None:
            node = caller.callees[function] = CallNode(function=function)
        counts = call_counts(row)
        if turns:
            counts.running, counts.runnable, counts.blocked = turns[index]
        node.add(counts)
        nodes.append(node)
    if is_range:
        _remove_empty(nodes)
    return nodes


def part_of_loss(lost: LostNotice, begin: int | None = None) -> LostNotice | None:
    """Return the part of a loss from a time on, as the core cuts losses.

    Args:
        lost: The loss.
        begin: The time, nanoseconds; any by default.

    Returns:
        The part; ``None`` if all of it is before the time.
    """
    if begin is None or lost.begin is None or lost.end is None or lost.begin >= begin:
        return lost
    if max(lost.begin, lost.end) < begin:
        return None
    times = Nanoseconds(begin), lost.end
    return LostNotice(lost.run, lost.stream, lost.kind, None, *times)
