"""The calls of ``vestige report`` as rows for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..._typing import TYPE_CHECKING
from .calls_json import TURN_COLUMNS, calls_facts
from .pair_table import percent_name

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.calls import CallTree
    from .call_style import CallStyle

__all__ = ["calls_table"]

PLACE = ("function", "object", "file", "line", "address")
COUNTS = (
    *("calls", "complete", "across_loss", "no_exit", "no_entry", "clipped"),
    *("total_ns", "self_ns", "complete_ns", "mean_ns", "min_ns", "max_ns"),
)
THREAD = ("trace", "vpid", "vtid")


def calls_table(
    tree: CallTree, style: CallStyle
) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
    """Return columns and rows: functions, or nodes of the tree; each thread's if asked.

    Args:
        tree: The calls.
        style: What is shown.
    """
    what = "tree" if style.tree else "functions"
    node = ("id", "caller", "kind") if style.tree else ()
    percentiles = [] if style.tree else map(percent_name, style.percentiles)
    times = (f"{name}_ns" for name in percentiles)
    turns = TURN_COLUMNS if tree.turns is not None and not style.tree else ()
    columns: tuple[str, ...] = (*node, *PLACE, *COUNTS, *turns, *times)
    if not style.by_thread:
        facts = calls_facts(tree, style)
        return columns, [_row(one, columns) for one in facts[what]]
    rows = []
    for thread in tree.threads:
        own = [thread.trace, thread.vpid, thread.vtid]
        facts = calls_facts(replace(tree, threads=[thread]), style)
        rows += [[*own, *_row(one, columns)] for one in facts[what]]
    return (*THREAD, *columns), rows


def _row(facts: dict[str, Any], columns: tuple[str, ...]) -> list[object]:
    return [facts[name] for name in columns]
