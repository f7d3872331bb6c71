"""Call trees with some calls left out, as if they had not been recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..errors import SelectionError
from .calls import CallNode, CallTree, Function, FunctionKind

__all__ = ["chosen_calls"]


def chosen_calls(
    tree: CallTree, takes: Callable[[Function], bool], max_depth: int | None = None
) -> CallTree:
    """Leave calls out of a tree; their time is that of their callers.

    Args:
        tree: The calls, which are not changed.
        takes: Tells whether a function is in.
        max_depth: How many calls that are in may be open at once in a thread, at least
            1; deeper ones are left out. All by default.

    Returns:
        The calls that are in. Threads without one are left out, and so are coroutine
        functions.

    Raises:
        SelectionError: The depth is none, or that of some calls is not known.
    """
    if max_depth is not None and max_depth < 1:
        raise SelectionError(f"max_depth={max_depth}: expected at least 1")
    if max_depth is not None and tree.is_merged:
        raise SelectionError(
            "so many call paths that some share a node: how deep their calls are is "
            "not known; choose functions instead of a depth"
        )
    threads = [
        replace(thread, root=_chosen(thread.root, takes, max_depth))
        for thread in tree.threads
    ]
    chosen = replace(tree, threads=[one for one in threads if one.root.callees])
    functions = chosen.functions()
    left = {(one.function.name, one.function.source) for one in functions}
    chosen.coroutines = [
        one
        for one in tree.coroutines
        if one.function is None or (one.function.name, one.function.source) in left
    ]
    before = sum(one.calls - one.resumes for one in tree.functions())
    now = sum(one.calls - one.resumes for one in functions)
    chosen.left_out_calls = tree.left_out_calls + before - now
    return chosen


def _chosen(
    root: CallNode, takes: Callable[[Function], bool], max_depth: int | None
) -> CallNode:
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
