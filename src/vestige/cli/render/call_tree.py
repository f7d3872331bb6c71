"""The call tree of ``vestige report --tree``."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest

from ...analysis.call_nodes import CallNode
from ...analysis.functions import FunctionKind
from ...plain_text import plain
from .call_style import (
    LEAST_NAME,
    SHOW_ALL,
    SORT_VALUES,
    CallStyle,
    bold,
    cut,
    dim,
    duration,
    place_of,
)
from .debuginfo import count
from .fitted_name import fitted_name

__all__ = ["tree_lines"]

HEAD = ("total", "share", "self", "calls")
GAP = "  "


def tree_lines(root: CallNode, style: CallStyle) -> Iterator[str]:
    """Write a call tree.

    Args:
        root: The root, which is not shown itself.
        style: What to show. A limit keeps the nodes that took longest.

    Yields:
        The lines.
    """
    whole = root.duration or 1
    shown, hidden = _longest(root, style.limit)
    rows = [
        (_cells(node, whole), prefix, node)
        for prefix, node in _with_prefixes(root, shown, style.sort)
    ]
    columns = zip(HEAD, *(cells for cells, _, _ in rows), strict=True)
    widths = [max(map(len, column)) for column in columns]
    room = max(style.width - sum(width + len(GAP) for width in widths), LEAST_NAME)

    def line(cells: tuple[str, ...]) -> str:
        pairs = zip(cells, widths, strict=True)
        return GAP.join(cell.rjust(width) for cell, width in pairs)

    yield f"{line(HEAD)}{GAP}function"
    for cells, prefix, node in rows:
        yield f"{line(cells)}{GAP}{_name(prefix, node, room, style)}"
    if hidden:
        yield f"and {count(hidden, 'node')} with less time: {SHOW_ALL}"


def _cells(node: CallNode, whole: int) -> tuple[str, ...]:
    is_function = node.function.kind is FunctionKind.FUNCTION
    return (
        duration(node.duration),
        f"{100 * node.duration / whole:.1f} %",
        duration(node.self_time) if is_function else "",
        f"{node.calls:,}" if is_function else "",
    )


def _name(prefix: str, node: CallNode, room: int, style: CallStyle) -> str:
    marks = _marks(node)
    most = max(room - LEAST_NAME, 0)
    if len(prefix) > most:
        # Deeper than the terminal is wide: the level is told, not drawn.
        label = f"{len(prefix) // 2}…"
        prefix = label + prefix[len(prefix) - max(most - len(label), 0) :]
    name_room = max(room - len(prefix), LEAST_NAME)
    name = fitted_name(
        plain(node.function.name), max(name_room - len(marks), LEAST_NAME)
    )
    name = cut(name + marks, name_room)
    place = place_of(node.function)
    rest = room - len(prefix) - len(name) - len(GAP)
    if len(place) > rest:
        # Half a place helps nobody, the name of the file does.
        place = place.rpartition("/")[2]
    text = dim(prefix, style) + bold(name, style)
    return f"{text}{GAP}{dim(place, style)}" if 0 < len(place) <= rest else text


def _marks(node: CallNode) -> str:
    if node.function.kind is not FunctionKind.FUNCTION or not node.uncertain:
        return ""
    kinds = (
        (node.no_exit, "without exit"),
        (node.no_entry, "without entry"),
        (node.clipped, "cut by the time range"),
        (node.across_loss, "across a loss"),
    )
    words = [
        what if number == node.calls else f"{number:,} {what}"
        for number, what in kinds
        if number
    ]
    return f" [{', '.join(words)}]"


def _longest(root: CallNode, limit: int) -> tuple[set[int] | None, int]:
    """Return the nodes to show, with all of their callers, and how many are not."""
    if not limit:
        return None, 0
    callers: dict[int, CallNode] = {}
    nodes = []
    for _, node in root.walk():
        nodes.append(node)
        for callee in node.callees.values():
            callers[id(callee)] = node
    shown = {id(root)}
    for node in nlargest(limit, nodes[1:], key=lambda one: (one.duration, one.calls)):
        at: CallNode | None = node
        while at is not None and id(at) not in shown:
            shown.add(id(at))
            at = callers.get(id(at))
    return shown, len(nodes) - len(shown)


def _with_prefixes(
    root: CallNode, shown: set[int] | None, sort: str
) -> Iterator[tuple[str, CallNode]]:
    """Go through the tree with the lines that are drawn in front of names."""
    # What stands in front of the node's name, and of those of its callees.
    waiting: list[tuple[str, str, CallNode]] = []

    def push(node: CallNode, prefix: str | None) -> None:
        callees = _sorted_callees(node, sort)
        kept = [one for one in callees if shown is None or id(one) in shown]
        for index, callee in enumerate(reversed(kept)):
            if prefix is None:
                waiting.append(("", "", callee))
            elif index == 0:
                waiting.append((f"{prefix}└ ", f"{prefix}  ", callee))
            else:
                waiting.append((f"{prefix}├ ", f"{prefix}│ ", callee))

    push(root, None)
    while waiting:
        prefix, below, node = waiting.pop()
        yield prefix, node
        push(node, below)


def _sorted_callees(node: CallNode, sort: str) -> list[CallNode]:
    if sort == "total":
        return node.by_time()
    callees = node.callees.values()
    if sort == "name":
        return sorted(callees, key=lambda one: one.function.name)
    value = SORT_VALUES[sort]
    return sorted(callees, key=lambda one: (-value(one), one.function.name))
