"""Patterns that choose functions by name or address, as the tracer takes them.

A pattern is ``[OBJECT:]NAME`` or ``[OBJECT:]0xSTART-0xEND``. The tracer compares names
with the symbol tables of what is loaded, when a function is called for the first time,
since nobody else knows which programs and plugins a recording will meet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...errors import SelectionError
from .._agreement import (
    LIBRARY_PATTERNS_SIZE,
    MOST_LIBRARY_PATTERNS,
    MOST_PATTERNS,
)

__all__ = ["encode_library_patterns", "encode_patterns"]

LONGEST_TEXT = 16_000
"""Of all patterns, encoded; the tracer has room for a little more."""

# Two colons are part of a name: `ns::f` names no object.
_OBJECT = re.compile(r"([^:]*):(?!:)(.*)", re.DOTALL)
_RANGE = re.compile(r"0[xX]([0-9a-fA-F]{1,16})(?:-0[xX]([0-9a-fA-F]{1,16}))?")
_OPERATOR = re.compile(r"\boperator\s*(?:\(\)|[<>=!-]+)")
# What Python calls functions without a name, and what is within others.
_PYTHON = re.compile(r"<(?:locals|module|lambda|(?:list|set|dict)comp|genexpr)>")
_UNRESERVED = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.*?[]!-/"
)


def encode_patterns(include: Sequence[str], exclude: Sequence[str]) -> tuple[str, str]:
    """Write the patterns as the tracer reads them.

    Args:
        include: Patterns of the functions that are recorded; empty for all.
        exclude: Patterns of those that are not.

    Returns:
        Both lists, each as one word.

    Raises:
        SelectionError: A pattern can match no function, or there are too many.
    """
    words = (
        ",".join(_encode_pattern(pattern) for pattern in include),
        ",".join(_encode_pattern(pattern) for pattern in exclude),
    )
    count = len(include) + len(exclude)
    if count > MOST_PATTERNS or sum(map(len, words)) > LONGEST_TEXT:
        raise SelectionError(
            f"{count:,} patterns of functions: expected up to {MOST_PATTERNS}, "
            f"of {LONGEST_TEXT:,} characters together"
        )
    return words


def encode_library_patterns(patterns: Sequence[str]) -> str:
    """Write patterns of library calls as the tracer reads them.

    Args:
        patterns: ``[LIBRARY:]NAME``; empty for all.

    Returns:
        One word, which is not empty.

    Raises:
        SelectionError: A pattern can match no function, or there are too many.
    """
    for pattern in patterns:
        if "0x" in pattern.lower()[:2]:
            raise SelectionError(f"'{pattern}': expected [LIBRARY:]NAME")
    word = ",".join(_encode_pattern(pattern) for pattern in patterns or ("*",))
    if len(patterns) > MOST_LIBRARY_PATTERNS or len(word) >= LIBRARY_PATTERNS_SIZE:
        raise SelectionError(
            f"{len(patterns):,} patterns of library calls: expected up to "
            f"{MOST_LIBRARY_PATTERNS}, of {LIBRARY_PATTERNS_SIZE - 1:,} characters "
            "together"
        )
    return word


def _encode_pattern(pattern: str) -> str:
    split = _OBJECT.fullmatch(pattern)
    file, name = (split[1], split[2]) if split else ("", pattern)
    if not name or (split and not file):
        raise SelectionError(
            f"'{pattern}': expected [OBJECT:]NAME or [OBJECT:]0xSTART-0xEND"
        )
    if name[:2] in {"0x", "0X"}:
        return f"{_quoted(file)}:{_encode_range(pattern, name)}"
    plain = _OPERATOR.sub("", name.replace("(anonymous namespace)", ""))
    plain = _PYTHON.sub("", plain)
    for sign, what in (("(", "parameters"), ("<", "template arguments")):
        if sign in plain:
            raise SelectionError(
                f"'{pattern}': expected the name of a function without {what}"
            )
    return f"{_quoted(file)}:{_quoted(name)}"


def _encode_range(pattern: str, text: str) -> str:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise SelectionError(
            f"'{pattern}': expected 0xSTART-0xEND, addresses as nm(1) prints them"
        )
    start = int(found[1], 16)
    end = int(found[2], 16) if found[2] else start + 1
    if end <= start:
        raise SelectionError(f"'{pattern}': expected an end above the start")
    return f"={start:x}-{end:x}"


def _quoted(text: str) -> str:
    return "".join(
        character if character in _UNRESERVED else _escaped(character)
        for character in text
    )


def _escaped(character: str) -> str:
    # As os.fsdecode() keeps the bytes of arguments that are no UTF-8.
    return "".join(
        f"%{byte:02X}" for byte in character.encode(errors="surrogateescape")
    )
