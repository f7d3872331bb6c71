"""What is worked out from whole traces: whether they are sound, and what they tell."""

from .call_reader import call_tree
from .call_tree import (
    CallCounts,
    CallNode,
    CallTree,
    Function,
    FunctionCalls,
    FunctionKind,
    ThreadCalls,
)

__all__ = [
    "CallCounts",
    "CallNode",
    "CallTree",
    "Function",
    "FunctionCalls",
    "FunctionKind",
    "ThreadCalls",
    "call_tree",
]
