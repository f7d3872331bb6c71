"""What is worked out from whole traces: whether they are sound, and what they tell."""

from __future__ import annotations

from importlib import import_module

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from .activities import Activity, LongActivity, Times, Wait
    from .call_nodes import CallCounts, CallNode, FunctionCalls
    from .call_reader import call_tree
    from .calls import CallTree, ThreadCalls
    from .durations import DurationBucket, Durations, LongCall
    from .events import EventKind, EventTable, Origin, OriginEvents, event_table
    from .functions import Function, FunctionKind
    from .threads import Process, Thread

__all__ = [
    "Activity",
    "CallCounts",
    "CallNode",
    "CallTree",
    "DurationBucket",
    "Durations",
    "EventKind",
    "EventTable",
    "Function",
    "FunctionCalls",
    "FunctionKind",
    "LongActivity",
    "LongCall",
    "Origin",
    "OriginEvents",
    "Process",
    "Thread",
    "ThreadCalls",
    "Times",
    "Wait",
    "call_tree",
    "event_table",
]

_HOMES = {
    "Activity": "activities",
    "CallCounts": "call_nodes",
    "CallNode": "call_nodes",
    "DurationBucket": "durations",
    "Durations": "durations",
    "EventKind": "events",
    "EventTable": "events",
    "Function": "functions",
    "FunctionCalls": "call_nodes",
    "FunctionKind": "functions",
    "LongActivity": "activities",
    "LongCall": "durations",
    "Origin": "events",
    "OriginEvents": "events",
    "Process": "threads",
    "Thread": "threads",
    "Times": "activities",
    "Wait": "activities",
    "call_tree": "call_reader",
    "event_table": "events",
}
"""Where names are that are not in ``calls``."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: commands need few of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name, "calls")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value
