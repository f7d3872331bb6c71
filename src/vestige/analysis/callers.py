"""Who called a function: its paths of callers, from it outwards."""

from __future__ import annotations

from collections.abc import Callable

from .call_nodes import CallNode
from .functions import ROOT_FUNCTION, Function, FunctionKind

__all__ = ["callers_tree"]

_MOST_LEVELS = 64
"""Callers of a path that are told apart."""


def callers_tree(root: CallNode, takes: Callable[[Function], bool]) -> CallNode:
    """Turn a call tree round.

    Args:
        root: The calls.
        takes: Decides of which functions callers are wanted.

    Returns:
        A root with a node for each of these functions; below each node are its callers,
        with the calls and the time of the function at the top that come from there.
        The time of a call within another call of the same function is in that one.
    """
    found = CallNode(function=ROOT_FUNCTION)
    path: list[CallNode] = []
    for level, node in root.walk():
        del path[level:]
        path.append(node)
        if node.function.kind is not FunctionKind.FUNCTION or not takes(node.function):
            continue
        is_inner = any(one.function is node.function for one in path[:-1])
        at = found
        for one in reversed(path[1:][-_MOST_LEVELS:]):
            at = at.callees.setdefault(one.function, CallNode(function=one.function))
            at.add(node, is_inner=is_inner)
    return found
