"""Which rows of a report ``--function`` wants: the numbers stay those of all calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...analysis.call_nodes import CallNode, FunctionCalls
from ...analysis.functions import Function
from .call_style import CallStyle

__all__ = ["chosen_functions", "chosen_root"]


def chosen_functions(
    functions: Iterable[FunctionCalls], style: CallStyle
) -> list[FunctionCalls]:
    """Return the functions that are wanted.

    Args:
        functions: All of them.
        style: What is shown.
    """
    takes = style.takes
    return [one for one in functions if takes is None or takes(one.function)]


def chosen_root(root: CallNode, style: CallStyle) -> CallNode:
    """Return a tree with the functions that are wanted, their callers and callees.

    Args:
        root: The whole tree.
        style: What is shown.
    """
    return root if style.takes is None else _pruned(root, style.takes)


def _pruned(root: CallNode, takes: Callable[[Function], bool]) -> CallNode:
    order = []
    waiting = [(root, False)]
    while waiting:
        node, is_below = waiting.pop()
        is_below = is_below or (node is not root and takes(node.function))
        order.append((node, is_below))
        waiting.extend((callee, is_below) for callee in node.callees.values())
    kept: dict[int, CallNode] = {}
    for node, is_below in reversed(order):
        callees = {
            function: kept[id(callee)]
            for function, callee in node.callees.items()
            if id(callee) in kept
        }
        if is_below or callees or node is root:
            copy = kept[id(node)] = CallNode(function=node.function, callees=callees)
            copy.add(node)
    return kept[id(root)]
