"""Call trees with some calls left out, as if they had not been recorded."""

from __future__ import annotations

from collections.abc import Callable

from .call_nodes import CallNode
from .functions import Function, FunctionKind

__all__ = ["chosen_calls"]


def chosen_calls(
    root: CallNode, takes: Callable[[Function], bool], max_depth: int | None = None
) -> CallNode:
    """Leave calls out of a tree; their time is that of their callers.

    Args:
        root: The root of the tree, which is not changed.
        takes: Tells whether a function is in.
        max_depth: How many calls that are in may be open at once, at least 1; deeper
            ones are left out. All by default.
    """
    chosen = CallNode(function=root.function)
    chosen.add(root)
    stand_ins: list[tuple[CallNode, CallNode]] = []
    # The first call comes out first, so that callees keep their order.
    waiting = [(one, chosen, 0) for one in reversed(root.callees.values())]
    while waiting:
        node, caller, depth = waiting.pop()
        is_function = node.function.kind is FunctionKind.FUNCTION
        is_too_deep = max_depth is not None and depth >= max_depth
        if is_function and (is_too_deep or not takes(node.function)):
            target = caller
            if caller.function.kind is FunctionKind.FUNCTION:
                caller.self_time += node.self_time
        else:
            target = _callee(caller, node)
            if is_function:
                depth += 1
            else:
                stand_ins.append((caller, target))
        callees = reversed(node.callees.values())
        waiting.extend((callee, target, depth) for callee in callees)
    for caller, node in reversed(stand_ins):
        if not node.callees and not node.calls:
            caller.callees.pop(node.function, None)
    return chosen


def _callee(caller: CallNode, node: CallNode) -> CallNode:
    """Add the calls of a node, without its callees, to those of a caller."""
    known = caller.callees.get(node.function)
    if known is None:
        known = caller.callees[node.function] = CallNode(function=node.function)
    known.add(node)
    return known
