"""The calls of which an index tells, as JSON: sums by paths of callers, durations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...units import Nanoseconds, Vpid
from ..call_nodes import CallNode, call_counts
from ..calls import CallTree, ThreadCalls
from ..durations import Durations, LongCall
from ..functions import (
    AFTER_LOSS_FUNCTION,
    MERGED_FUNCTION,
    ROOT_FUNCTION,
    Function,
)

__all__ = ["read_calls", "write_calls"]

_SPECIAL = (AFTER_LOSS_FUNCTION, MERGED_FUNCTION)
"""What nodes can be of that is no function: its number is -1 less the index."""


def write_calls(tree: CallTree, functions: Sequence[Function]) -> bytes:
    """Return what an index says of calls.

    Args:
        tree: The calls of whole traces.
        functions: The functions, by number.
    """
    numbers = {one: number for number, one in enumerate(functions)}
    numbers |= {one: -1 - number for number, one in enumerate(_SPECIAL)}
    threads = {one.thread: number for number, one in enumerate(tree.threads)}
    calls = {
        "threads": [_thread_row(one) for one in tree.threads],
        "nodes": [[*_node_rows(one.root, numbers)] for one in tree.threads],
        "durations": [
            [
                numbers[function],
                [[*pair] for pair in durations.buckets.items()],
                durations.quantile(0),
                durations.quantile(1),
                [
                    [
                        one.begin,
                        one.duration,
                        threads[one.thread],
                        None if one.caller is None else numbers[one.caller],
                    ]
                    for one in durations.longest
                ],
            ]
            for function, durations in tree.durations.items()
        ],
    }
    return json.dumps(calls, separators=(",", ":")).encode()


def _thread_row(one: ThreadCalls) -> list[Any]:
    identity = [one.trace, one.vpid, one.vtid, one.name, one.thread_name]
    facts = [one.unknown_exits, one.losses, one.exits_are_named]
    return [*identity, one.begin, one.end, *facts]


def _node_rows(
    root: CallNode, numbers: Mapping[Function, int]
) -> Iterator[list[int | None]]:
    """Iterate over the nodes below a root, callers before their callees.

    Yields:
        Of each the number of its caller (-1: the root) and of its function, and what
        its calls add up to, in the order in which the core's fold has that.
    """
    waiting = [(callee, -1) for callee in reversed(root.callees.values())]
    count = 0
    while waiting:
        node, caller = waiting.pop()
        yield [
            caller,
            numbers[node.function],
            node.calls,
            node.complete,
            node.across_loss,
            node.no_exit,
            node.no_entry,
            node.clipped,
            node.total,
            node.self_time,
            node.complete_time,
            node.shortest,
            node.longest,
        ]
        waiting.extend((callee, count) for callee in reversed(node.callees.values()))
        count += 1


def read_calls(data: bytes, functions: Sequence[Function]) -> CallTree:
    """Return the calls of traces of which there is an index.

    Args:
        data: What :func:`write_calls` returned.
        functions: The functions, by number.

    Returns:
        Threads, their calls and durations; nothing else.

    Raises:
        ValueError: The data is anything else.
    """
    found = json.loads(data)
    known = [*functions, *reversed(_SPECIAL)]
    try:
        threads = [
            _thread(row, _root(nodes, known))
            for row, nodes in zip(found["threads"], found["nodes"], strict=True)
        ]
        durations = {
            known[number]: _durations(known[number], rest, known, threads)
            for number, *rest in found["durations"]
        }
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError("not what an index says of calls") from error
    return CallTree(threads=threads, durations=durations)


def _root(rows: Sequence[Sequence[Any]], known: Sequence[Function]) -> CallNode:
    root = CallNode(function=ROOT_FUNCTION)
    nodes: list[CallNode] = []
    for caller, number, *counts in rows:
        function = known[number]
        node = CallNode(function=function)
        node.add(call_counts(((0, 0), tuple(counts[:6]), tuple(counts[6:]))))
        (nodes[caller] if caller >= 0 else root).callees[function] = node
        nodes.append(node)
    return root


def _thread(row: Sequence[Any], root: CallNode) -> ThreadCalls:
    trace, vpid, vtid, name, thread_name, begin, end, *facts = row
    unknown_exits, losses, exits_are_named = facts
    return ThreadCalls(
        trace=str(trace),
        vpid=None if vpid is None else Vpid(int(vpid)),
        vtid=None if vtid is None else int(vtid),
        name=None if name is None else str(name),
        thread_name=None if thread_name is None else str(thread_name),
        begin=Nanoseconds(int(begin)),
        end=Nanoseconds(int(end)),
        root=root,
        unknown_exits=int(unknown_exits),
        losses=int(losses),
        exits_are_named=bool(exits_are_named),
    )


def _durations(
    function: Function,
    told: Sequence[Any],
    known: Sequence[Function],
    threads: Sequence[ThreadCalls],
) -> Durations[LongCall]:
    buckets, shortest, longest, calls = told
    return Durations(
        {int(bucket): int(count) for bucket, count in buckets},
        int(shortest),
        int(longest),
        [
            LongCall(
                function=function,
                begin=Nanoseconds(int(begin)),
                duration=int(duration),
                thread=threads[thread].thread,
                caller=None if caller is None else known[caller],
            )
            for begin, duration, thread, caller in calls
        ],
    )
