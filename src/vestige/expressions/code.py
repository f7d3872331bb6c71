"""The byte code of filters: a stack machine without loops.

``tracer/src/expression.h`` has the same in C, and tells what each operation does.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

__all__ = ["MOST_INSTRUCTIONS", "STACK_SIZE", "Instruction", "Operation"]

STACK_SIZE = 24
"""Values that the tracer has room for."""
MOST_INSTRUCTIONS = 2048
"""Of one filter, as the tracer has it."""


class Operation(IntEnum):
    """What an instruction does."""

    RETURN = 0
    INTEGER = 1
    REAL = 2
    TEXT = 3
    FIELD = 4
    ELEMENT = 5
    CONTEXT = 6
    MINUS = 7
    NOT = 8
    COMPLEMENT = 9
    SHIFT_LEFT = 10
    SHIFT_RIGHT = 11
    AND = 12
    XOR = 13
    OR = 14
    LESS = 15
    LESS_EQUAL = 16
    GREATER = 17
    GREATER_EQUAL = 18
    EQUAL = 19
    NOT_EQUAL = 20
    MATCHES = 21
    MATCHES_NOT = 22
    TO_INTEGER = 23
    SKIP_IF_FALSE = 24
    SKIP_IF_TRUE = 25


class Instruction(NamedTuple):
    """One instruction."""

    operation: Operation
    argument: int = 0
    """Of an element, or of the instruction where to go on."""
    value: int | float | bytes = 0
    """A number, or a text: a string, a pattern, a name."""
