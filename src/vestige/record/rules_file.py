"""The file from which the tracer reads the rules that choose tracepoints.

It lies in the trace directory, since its size has no small limit as the environment
has; ``tracer/src/rules.h`` has its layout.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from pathlib import Path

from ..errors import SelectionError
from ..expressions.code import Instruction
from .event_rules import CompiledRule

__all__ = ["RULES", "encode_rules", "make_rules"]

RULES = ".rules"
"""Hidden, so that readers leave it alone."""
MAGIC = b"VESTRUL1"
HEAD = struct.Struct("=8sII")
"""The magic number, bytes of the file, rules."""
RULE = struct.Struct("=IiiIIIII")
"""Bytes of the rule with this; first and last log level; patterns and their bytes;
instructions; bytes of text; nothing."""
NUMBER = struct.Struct("=HHIq")
REAL = struct.Struct("=HHId")
TEXT = struct.Struct("=HHIII")
"""An instruction: its operation, nothing, an index, a value."""
ALIGNMENT = 8
LARGEST = 4 << 20
"""Bytes of the file, as the tracer has it."""


def make_rules(directory: Path, rules: Sequence[CompiledRule]) -> None:
    """Make the file.

    Args:
        directory: The trace.
        rules: The rules.

    Raises:
        OSError: The file cannot be made.
    """
    with (directory / RULES).open("xb") as file:
        file.write(encode_rules(rules))
        os.fchmod(file.fileno(), 0o600)


def encode_rules(rules: Sequence[CompiledRule]) -> bytes:
    """Write rules as the tracer reads them.

    Args:
        rules: The rules.

    Returns:
        What the file holds.

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
