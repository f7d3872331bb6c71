"""The byte code of filters, as all that run it have it.

Made by ``tools/make_agreement.py`` from ``tracer/agreement``: change it there, then say
``make agreement``.
"""

# ruff: noqa: E501 - as it is printed
from __future__ import annotations

from enum import IntEnum

EXPRESSION_DEPTH = 24
"""Values on the stack."""
MOST_INSTRUCTIONS = 2_048
"""Of one filter."""


class Operation(IntEnum):
    """What an instruction does."""

    RETURN = 0
    """The end: the top is the answer."""
    INTEGER = 1
    """Push a constant integer."""
    REAL = 2
    """Push a constant real number."""
    TEXT = 3
    """Push a constant text."""
    FIELD = 4
    """Push a field, by name."""
    ELEMENT = 5
    """Push an element of a field."""
    CONTEXT = 6
    """Push a context, by name."""
    MINUS = 7
    """Negate the top."""
    NOT = 8
    """Whether the top is zero."""
    COMPLEMENT = 9
    """Turn all bits of the top."""
    SHIFT_LEFT = 10
    """Shift bits of 64-bit numbers to the left."""
    SHIFT_RIGHT = 11
    """Shift bits to the right; zeros follow."""
    AND = 12
    """Bits that both have."""
    XOR = 13
    """Bits that one of them has."""
    OR = 14
    """Bits that any has."""
    LESS = 15
    """Compare the two at the top."""
    LESS_EQUAL = 16
    """As above."""
    GREATER = 17
    """As above."""
    GREATER_EQUAL = 18
    """As above."""
    EQUAL = 19
    """As above."""
    NOT_EQUAL = 20
    """As above."""
    MATCHES = 21
    """Compare the top with a pattern, in which a zero stands for any text."""
    MATCHES_NOT = 22
    """As above; other texts than those of the pattern."""
    TO_INTEGER = 23
    """Make the top an integer."""
    SKIP_IF_FALSE = 24
    """Go on at an instruction if the top is zero, and leave 0; otherwise drop it."""
    SKIP_IF_TRUE = 25
    """Go on at an instruction if the top is not zero, and leave 1; otherwise drop it."""
