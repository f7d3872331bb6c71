"""The byte code of filters, and the file with the rules that choose tracepoints.

A filter is a program for a machine with a stack of integers, reals and texts. There are no
loops: skips only lead forward.
"""

from __future__ import annotations

from .events import FUNCTION, LINE
from .terms import (
    CHARACTER,
    F64,
    I32,
    I64,
    U16,
    U32,
    Constant,
    Enumeration,
    Member,
    Structure,
    Union,
    Value,
)

__all__ = ["CONSTANTS", "INSTRUCTION", "OPERATIONS", "RULES_HEAD", "RULE_HEAD"]

OPERATIONS = Enumeration(
    "operation",
    "OP_",
    (
        Value("RETURN", about="The end: the top is the answer."),
        Value("INTEGER", about="Push a constant integer."),
        Value("REAL", about="Push a constant real number."),
        Value("TEXT", about="Push a constant text."),
        Value("FIELD", about="Push a field, by name."),
        Value("ELEMENT", about="Push an element of a field."),
        Value("CONTEXT", about="Push a context, by name."),
        Value("MINUS", about="Negate the top."),
        Value("NOT", about="Whether the top is zero."),
        Value("COMPLEMENT", about="Turn all bits of the top."),
        Value("SHIFT_LEFT", about="Shift bits of 64-bit numbers to the left."),
        Value("SHIFT_RIGHT", about="Shift bits to the right; zeros follow."),
        Value("AND", about="Bits that both have."),
        Value("XOR", about="Bits that one of them has."),
        Value("OR", about="Bits that any has."),
        Value("LESS", about="Compare the two at the top."),
        Value("LESS_EQUAL", about="As above."),
        Value("GREATER", about="As above."),
        Value("GREATER_EQUAL", about="As above."),
        Value("EQUAL", about="As above."),
        Value("NOT_EQUAL", about="As above."),
        Value(
            "MATCHES",
            about="Compare the top with a pattern, in which a zero stands for any text.",
        ),
        Value("MATCHES_NOT", about="As above; other texts than those of the pattern."),
        Value("TO_INTEGER", about="Make the top an integer."),
        Value(
            "SKIP_IF_FALSE",
            about="Go on at an instruction if the top is zero, and leave 0; otherwise drop it.",
        ),
        Value(
            "SKIP_IF_TRUE",
            about="Go on at an instruction if the top is not zero, and leave 1; otherwise drop it.",
        ),
    ),
    last="OPERATIONS",
    about="What an instruction does.",
)

CONSTANTS = (
    Constant("EXPRESSION_DEPTH", 24, about="Values on the stack."),
    Constant("MOST_INSTRUCTIONS", 2048, about="Of one filter."),
    Constant("RULES_MAGIC", "VESTRUL1"),
    Constant("LARGEST_RULES", 4 << 20, about="Bytes of the file of rules."),
    Constant("MOST_RULES", 4096),
    Constant(
        "LEVEL_FUNCTION",
        FUNCTION,
        about="Log levels of events that have none of their own, see lttng-ust(3).",
    ),
    Constant("LEVEL_LINE", LINE),
    Constant("MOST_PATTERNS", 256, about="Patterns of functions, of both lists."),
    Constant("MOST_LIBRARY_PATTERNS", 64, about="Patterns of library calls."),
    Constant("LIBRARY_PATTERNS_SIZE", 4096, about="Bytes of all of them, with a zero."),
    Constant(
        "PATTERN_TEXT_SIZE", 16384, about="Bytes of all of them, each with a zero."
    ),
)

INSTRUCTION = Structure(
    "instruction",
    (
        Member("operation", U16),
        Member("reserved", U16),
        Member("index", U32, about="Of an element, or of an instruction."),
        Union(
            "value",
            (
                Member("integer", I64),
                Member("real", F64),
                ("text", (Member("offset", U32), Member("length", U32))),
            ),
            about="A constant; a text lies in the text of the rule.",
        ),
    ),
    about="An instruction of a filter.",
)

RULES_HEAD = Structure(
    "rules_head",
    (
        Member("magic", CHARACTER, 8),
        Member("size", U32, about="Bytes of the file."),
        Member("rule_count", U32),
    ),
    about="Before all rules.",
)

RULE_HEAD = Structure(
    "rule_head",
    (
        Member("size", U32, about="Bytes of the rule with this."),
        Member("first_level", I32),
        Member("last_level", I32),
        Member("pattern_count", U32),
        Member("patterns_size", U32),
        Member("instruction_count", U32),
        Member("text_size", U32),
        Member("reserved", U32),
    ),
    about="Before each rule. Its patterns follow, each ended by a zero: that of the names that are "
    "chosen, then those of names that are not; then instructions, and their text. All three "
    "parts are a multiple of eight bytes.",
)
