"""Call stacks of the kernel's events as call trees, of which viewers get files."""

from __future__ import annotations

from ..analysis.call_nodes import CallNode
from ..analysis.calls import CallTree, ThreadCalls
from ..analysis.functions import ROOT_FUNCTION, Function
from ..analysis.stacks import CallStacks, Frame, Stack
from ..units import Nanoseconds, Vpid

__all__ = ["stack_tree"]

CUT = Function("...")
"""Stands for callers that the kernel did not write."""
NOTHING = Function("(no call stack)")
"""Stands for the stack of event records that have none."""
_KERNEL_MARK = "_[k]"
"""What flame graph programs know functions of the kernel by."""


def stack_tree(
    stacks: CallStacks, *, by_thread: bool = False, marks_kernel: bool = False
) -> CallTree:
    """Return the call tree that stacks add up to.

    Args:
        stacks: The stacks.
        by_thread: Whether each thread has a tree of its own; else those of the same
            name share one.
        marks_kernel: Whether to append ``_[k]`` to functions of the kernel.

    Returns:
        The tree: ``calls`` of a node are waits or events with exactly that stack, and
        ``self_time`` is their time, or their number.
    """
    trees: dict[tuple[object, ...], ThreadCalls] = {}
    marked: dict[Function, Function] = {}

    def function(frame: Frame) -> Function:
        if not (marks_kernel and frame.is_kernel):
            return frame.function
        known = marked.get(frame.function)
        if known is None:
            name = frame.function.name + _KERNEL_MARK
            known = marked[frame.function] = Function(name, frame.function.place)
        return known

    for one in stacks.stacks:
        thread = one.thread if by_thread or not one.name else None
        key = one.trace, one.name, thread
        tree = trees.get(key)
        if tree is None:
            tree = trees[key] = _thread(one, thread)
        weight = stacks.weight(one.times)
        node = tree.root
        steps = [*([CUT] if one.is_cut else []), *map(function, one.frames)]
        for step in steps or [NOTHING]:
            below = node.callees.get(step)
            if below is None:
                below = node.callees[step] = CallNode(function=step)
            below.total += weight
            node = below
        node.calls += one.times.count
        node.self_time += weight
    return CallTree(
        threads=list(trees.values()), losses=stacks.losses, damage=stacks.damage
    )


def _thread(stack: Stack, thread: int | None) -> ThreadCalls:
    process = stack.process if thread is not None else None
    return ThreadCalls(
        trace=stack.trace,
        vpid=None if process is None else Vpid(process),
        vtid=thread,
        name=stack.name,
        begin=Nanoseconds(0),
        end=Nanoseconds(0),
        root=CallNode(function=ROOT_FUNCTION),
        unknown_exits=0,
        losses=0,
        exits_are_named=True,
    )
