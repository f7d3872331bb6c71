"""Filters in LTTng's language: what the kernel's own filters can do of them.

An expression is compiled as those of programs are, and taken apart again: negations go
down to comparisons, and what must be true beside each other is told apart. The kernel
gets what its filters express exactly. The rest is for the collector.
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple
from ....expressions import compile_filter
from ....expressions.code import Instruction, Operation
from .conditions import Condition, conditions, written
from .kernel_filters import kernel_filter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .formats import EventFormat

__all__ = ["FilterError", "Parts", "split", "whole"]

LONGEST = 3500
"""Bytes that the kernel takes: a page, with some room."""


class FilterError(ValueError):
    """A filter that is none of an event; the text says why."""


class Parts(NamedTuple):
    """What becomes of the filters of an event."""

    kernel: str | None
    """For the file ``filter`` of the event; ``None``: it lets all records pass."""

    rest: tuple[Instruction, ...] | None
    """What must be true besides; ``None``: nothing."""


def split(filters: Sequence[str | None], event: EventFormat) -> Parts:
    """Tell what the kernel can do from what the collector must.

    Args:
        filters: The filters of all rules that choose the event, ``None`` for a rule
            without one. A record is wanted if one of them is true.
        event: What the kernel says of the event.

    Returns:
        The parts: what both are true of is what is wanted.

    Raises:
        SelectionError: A filter is no expression.
    """
    if not filters or any(one is None for one in filters):
        return Parts(None, None)
    codes = [compile_filter(one) for one in dict.fromkeys(filters) if one is not None]
    parts = [_split_one(code, event) for code in codes]
    if len(parts) == 1:
        return parts[0]
    kernel = None
    if all(one.kernel is not None for one in parts):
        text = " || ".join(f"({one.kernel})" for one in parts)
        kernel = text if len(text) <= LONGEST else None
    if kernel is not None and all(one.rest is None for one in parts):
        return Parts(kernel, None)
    return Parts(kernel, whole(filters))


def whole(filters: Sequence[str | None]) -> tuple[Instruction, ...] | None:
    """Return filters of which one must be true, for the collector alone.

    Args:
        filters: As :func:`split` takes them.

    Returns:
        The byte code; ``None``: all records pass.

    Raises:
        SelectionError: A filter is no expression.
    """
    if not filters or any(one is None for one in filters):
        return None
    codes = [compile_filter(one) for one in dict.fromkeys(filters) if one is not None]
    if len(codes) == 1:
        return codes[0]
    any_of = Condition("or", tuple(conditions(code) for code in codes))
    return (*written(any_of), Instruction(Operation.RETURN))


def _split_one(code: tuple[Instruction, ...], event: EventFormat) -> Parts:
    condition = conditions(code)
    needed = condition.parts if condition.kind == "and" else (condition,)
    texts: list[str] = []
    left: list[Condition] = []
    for one in needed:
        text = kernel_filter(one, event)
        is_short = text is not None and len(" && ".join((*texts, text))) <= LONGEST
        if text is not None and is_short:
            texts.append(text)
        else:
            left.append(one)
    kernel = " && ".join(texts) or None
    if not left:
        return Parts(kernel, None)
    if not texts:
        return Parts(None, code)
    rest = written(Condition("and", tuple(left)))
    return Parts(kernel, (*rest, Instruction(Operation.RETURN)))
