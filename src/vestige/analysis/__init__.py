"""What is worked out from whole traces: whether they are sound, and what they tell."""

from __future__ import annotations

from importlib import import_module

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from .activities import Activity, Times
    from .call_nodes import CallCounts, CallNode, FunctionCalls
    from .call_reader import call_tree
    from .calls import CallTree, ThreadCalls
    from .functions import Function, FunctionKind

__all__ = [
    "Activity",
    "CallCounts",
    "CallNode",
    "CallTree",
    "Function",
    "FunctionCalls",
    "FunctionKind",
    "ThreadCalls",
    "Times",
    "call_tree",
]

_HOMES = {
    "Activity": "activities",
    "CallCounts": "call_nodes",
    "CallNode": "call_nodes",
    "Function": "functions",
    "FunctionCalls": "call_nodes",
    "FunctionKind": "functions",
    "Times": "activities",
    "call_tree": "call_reader",
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
