"""The rules that choose tracepoints, in the form in which the tracer reads them.

They lie in the arena, since its size has no small limit as the environment has.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ...errors import SelectionError
from ...expressions.code import Instruction
from .._agreement import (
    INSTRUCTION_INTEGER_FORMAT,
    INSTRUCTION_REAL_FORMAT,
    INSTRUCTION_TEXT_FORMAT,
    LARGEST_RULES,
    RULE_HEAD_FORMAT,
    RULES_HEAD_FORMAT,
    RULES_MAGIC,
)
from .event_rules import CompiledRule

__all__ = ["encode_rules"]

MAGIC = RULES_MAGIC.encode()
HEAD = struct.Struct("=" + RULES_HEAD_FORMAT)
RULE = struct.Struct("=" + RULE_HEAD_FORMAT)
NUMBER = struct.Struct("=" + INSTRUCTION_INTEGER_FORMAT)
REAL = struct.Struct("=" + INSTRUCTION_REAL_FORMAT)
TEXT = struct.Struct("=" + INSTRUCTION_TEXT_FORMAT)
ALIGNMENT = 8
LARGEST = LARGEST_RULES


def encode_rules(rules: Sequence[CompiledRule]) -> bytes:
    """Write rules as the tracer reads them.

    Args:
        rules: The rules.

    Returns:
        Their bytes.

    Raises:
        SelectionError: They are too large.
    """
    body = b"".join(map(_rule, rules))
    if HEAD.size + len(body) > LARGEST:
        raise SelectionError(
            f"rules for events of {len(body):,} bytes: expected up to {LARGEST:,}"
        )
    return HEAD.pack(MAGIC, HEAD.size + len(body), len(rules)) + body


def _rule(rule: CompiledRule) -> bytes:
    names = [rule.glob, *rule.exclude]
    # As os.fsdecode() keeps the bytes of arguments that are no UTF-8.
    encoded = (name.encode(errors="surrogateescape") for name in names)
    patterns = _padded(b"".join(name + b"\0" for name in encoded))
    instructions, text = _code(rule.code)
    body = patterns + instructions + text
    first, last = rule.levels
    head = RULE.pack(
        RULE.size + len(body),
        first,
        last,
        len(names),
        len(patterns),
        len(rule.code),
        len(text),
        0,
    )
    return head + body


def _code(code: Sequence[Instruction]) -> tuple[bytes, bytes]:
    instructions = b""
    text = b""
    for operation, index, value in code:
        if isinstance(value, bytes):
            place = (len(text), len(value))
            instructions += TEXT.pack(operation, 0, index, *place)
            text += value
        elif isinstance(value, float):
            instructions += REAL.pack(operation, 0, index, value)
        else:
            instructions += NUMBER.pack(operation, 0, index, value)
    return instructions, _padded(text)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
