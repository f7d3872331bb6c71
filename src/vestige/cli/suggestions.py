"""What somebody may have meant who typed a word that does not exist."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest"]

MOST = 3
"""Suggestions in one line."""


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return the words that are nearest to another one, the nearest first.

    Args:
        word: What was typed.
        known: What there is.
    """
    # Only when something is wrong: its import takes time.
    from difflib import get_close_matches

    choices = sorted(set(known))
    beginnings = [one for one in choices if one.startswith(word) and one != word]
    # Of an obvious slip, only what it obviously is.
    close = get_close_matches(word, choices, MOST, 0.85) or get_close_matches(
        word, choices, MOST
    )
    return list(dict.fromkeys([*beginnings, *close]))[:MOST]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question to add to a message, or an empty string.

    Args:
        word: What was typed.
        known: What there is.
    """
    found = [f"'{one}'" for one in nearest(word, known)]
    if not found:
        return ""
    *others, last = found
    return (
        f"; did you mean {', '.join(others)} or {last}?"
        if others
        else (f"; did you mean {last}?")
    )
