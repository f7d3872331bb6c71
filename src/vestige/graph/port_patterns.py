"""Patterns of port names, as ``--connect`` of Babeltrace 2 has them.

A ``*`` stands for any characters, and a backslash makes the next character stand for
itself. ``?`` and ``[`` are kept for later: they need a backslash.
"""

from __future__ import annotations

__all__ = ["ANY_PORT", "is_port_pattern", "matches"]

ANY_PORT = "*"
"""The pattern that all names match."""


def is_port_pattern(text: str) -> bool:
    """Tell whether a text is a pattern.

    Args:
        text: The text.
    """
    return bool(text) and all(part not in {"?", "["} for part in _parts(text))


def matches(pattern: str, name: str) -> bool:
    """Tell whether a name matches a pattern, from its first character to its last.

    Args:
        pattern: The pattern.
        name: The name.
    """
    first, *others = _literals(pattern)
    if not others:
        return name == first
    *between, last = others
    at, end = len(first), len(name) - len(last)
    if end < at or not (name.startswith(first) and name.endswith(last)):
        return False
    # Each part as early as it can be leaves most for the others.
    for literal in between:
        found = name.find(literal, at, end)
        if found < 0:
            return False
        at = found + len(literal)
    return True


def _parts(pattern: str) -> list[str]:
    """Split a pattern: characters, and characters with their backslash."""
    rest = iter(pattern)
    return [one + next(rest, "") if one == "\\" else one for one in rest]


def _literals(pattern: str) -> list[str]:
    """Return what stands between the stars."""
    literals = [""]
    for part in _parts(pattern):
        if part == "*":
            literals.append("")
        else:
            literals[-1] += part[1:] if len(part) > 1 else part
    return literals
