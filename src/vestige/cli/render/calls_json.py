"""The report of ``vestige report`` as JSON; docs/reference/report.md describes it."""

from __future__ import annotations

from dataclasses import replace

from ..._typing import TYPE_CHECKING
from ...analysis.call_nodes import CallCounts, CallNode, FunctionCalls
from ...analysis.calls import CallTree, ThreadCalls
from ...analysis.functions import Function, FunctionKind
from ...debuginfo import Place
from .activity_table import activities_json
from .call_style import CallStyle
from .call_table import sorted_functions
from .chosen_rows import chosen_functions, chosen_root
from .pair_table import percent_name

if TYPE_CHECKING:
    from typing import Any

__all__ = ["TURN_COLUMNS", "calls_facts", "nodes_facts"]

TURN_COLUMNS = ("running_ns", "runnable_ns", "blocked_ns")
"""What functions have besides where a kernel was recorded, too."""


def calls_facts(tree: CallTree, style: CallStyle) -> dict[str, Any]:
    """Return a report as JSON has it.

    Args:
        tree: The calls.
        style: What to show.
    """
    return {
        "version": 1,
        "report": "calls",
        "events": tree.events,
        "other_events": tree.other_events,
        "cost_of_call_ns": tree.cost_of_call,
        "is_patched": tree.is_patched,
        "lost_events": tree.lost,
        "losses": len(tree.losses),
        "left_out": tree.left_out,
        "left_out_calls": tree.left_out_calls,
        "is_merged": tree.is_merged,
        **_body(tree, style),
        "spans": activities_json(tree.spans, style.limit),
        "coroutines": activities_json(tree.coroutines, style.limit),
        "threads": [_thread(tree, thread, style) for thread in tree.threads],
        "damage": [found._asdict() for found in tree.damage],
    }


def _thread(tree: CallTree, thread: ThreadCalls, style: CallStyle) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "trace": thread.trace,
        "vpid": thread.vpid,
        "vtid": thread.vtid,
        "name": thread.name,
        "thread_name": thread.thread_name,
        "begin_ns": thread.begin,
        "end_ns": thread.end,
        "total_ns": thread.root.duration,
        "losses": thread.losses,
        "unknown_exits": thread.unknown_exits,
        "exits_are_named": thread.exits_are_named,
    }
    if not style.by_thread:
        return facts
    return {**facts, **_body(replace(tree, threads=[thread]), style)}


def _body(tree: CallTree, style: CallStyle) -> dict[str, Any]:
    functions = sorted_functions(chosen_functions(tree.functions(), style), style.sort)
    shown = functions[: style.limit] if style.limit else functions
    body: dict[str, Any] = {
        "functions": [
            {
                **_function(one.function),
                **_counts(one),
                **_turns(one, tree),
                "resumes": one.resumes,
                **_quantiles(one, style),
            }
            for one in shown
        ]
    }
    if style.tree:
        body["tree"] = nodes_facts(chosen_root(tree.root(), style))
    return body


def _turns(one: CallCounts, tree: CallTree) -> dict[str, int]:
    """Return what a kernel has told of the threads of calls, where one has."""
    if tree.turns is None:
        return {}
    values = one.running, one.runnable, one.blocked
    return dict(zip(TURN_COLUMNS, values, strict=True))


def _quantiles(one: FunctionCalls, style: CallStyle) -> dict[str, int | None]:
    durations = one.durations
    return {
        f"{percent_name(percent)}_ns": (
            None if durations is None else durations.quantile(percent / 100)
        )
        for percent in style.percentiles
    }


def nodes_facts(root: CallNode) -> list[dict[str, Any]]:
    """List the nodes, callers first: deep trees would be too deep as nested values.

    Args:
        root: The root, which is not in the list.
    """
    numbers: dict[int, int] = {}
    callers: dict[int, int | None] = {id(node): None for node in root.callees.values()}
    rows = []
    for level, node in root.walk():
        if level == 0:
            continue
        number = numbers[id(node)] = len(numbers)
        callers.update((id(callee), number) for callee in node.callees.values())
        rows.append(
            {
                "id": number,
                "caller": callers[id(node)],
                "kind": node.function.kind.name.lower(),
                **_function(node.function),
                **_counts(node),
                "total_ns": node.duration,
            }
        )
    return rows


def _function(function: Function) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "function": function.name,
        "object": function.object,
        "file": None,
        "line": None,
        "address": function.address,
    }
    if isinstance(function.place, Place) and function.kind is FunctionKind.FUNCTION:
        facts |= {"file": function.place.source_path, "line": function.place.line}
    elif function.source is not None:
        # Of an index, which knows no more than that.
        path, _, line = function.source.rpartition(":")
        facts |= {"file": path, "line": int(line)}
    return facts


def _counts(one: CallCounts) -> dict[str, Any]:
    return {
        "calls": one.calls,
        "complete": one.complete,
        "across_loss": one.across_loss,
        "no_exit": one.no_exit,
        "no_entry": one.no_entry,
        "clipped": one.clipped,
        "total_ns": one.total,
        "self_ns": one.self_time,
        "complete_ns": one.complete_time,
        "mean_ns": one.mean,
        "min_ns": one.shortest,
        "max_ns": one.longest,
    }
