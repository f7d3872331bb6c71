"""The byte code of filters: a stack machine without loops."""

from __future__ import annotations

from .._typing import NamedTuple
from ._agreement import EXPRESSION_DEPTH as STACK_SIZE
from ._agreement import MOST_INSTRUCTIONS, Operation

__all__ = ["MOST_INSTRUCTIONS", "STACK_SIZE", "Instruction", "Operation"]


class Instruction(NamedTuple):
    """One instruction."""

    operation: Operation
    argument: int = 0
    """Of an element, or of the instruction where to go on."""
    value: int | float | bytes = 0
    """A number, or a text: a string, a pattern, a name."""
