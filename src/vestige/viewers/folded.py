"""Call trees as folded stacks, the text that flame graph programs take.

A line is a path of calls and its own time: ``NAME thread TID;main;work 1500``. Frames
stand between semicolons, and the number behind the last space is nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.call_nodes import CallNode
from ..analysis.calls import CallTree
from .names import shown, thread_label

__all__ = ["folded_lines"]


def folded_lines(tree: CallTree) -> Iterator[str]:
    """Write a call tree as folded stacks.

    Args:
        tree: The calls.

    Yields:
        A line for each path of calls with time of its own, nanoseconds. All lines of a
        thread add up to the time of its calls.
    """
    for thread in tree.threads:
        yield from _stacks(thread.root, _frame(thread_label(thread)))


def _stacks(root: CallNode, thread: str) -> Iterator[str]:
    path = [thread]
    for level, node in root.walk():
        if not level:
            continue
        del path[level:]
        path.append(_frame(node.function.name))
        if node.self_time:
            yield f"{';'.join(path)} {node.self_time}"


def _frame(name: str) -> str:
    # A semicolon separates frames, and no format has a way to write one within.
    return shown(name).replace(";", ":") or "?"
