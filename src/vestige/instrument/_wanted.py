"""What the recorder wrote for the programs that it starts."""

from __future__ import annotations

import os

__all__ = ["number_of", "wanted_words", "word_of"]

_VARIABLE = "VESTIGE_TRACER"


def word_of(name: str) -> str:
    """Return what the recorder wrote for all programs.

    Args:
        name: What it is called.

    Returns:
        The word; empty where there is none.
    """
    text = os.environ.get(_VARIABLE, "")
    for word in text.partition(" directory=")[0].split(" "):
        key, _, value = word.partition("=")
        if key == name:
            return value
    return ""


def wanted_words() -> list[str]:
    """Return what the recorder wrote for Python programs."""
    return [one for one in word_of("python").split(",") if one]


def number_of(words: list[str], name: str) -> int:
    """Return a number that the recorder wrote for Python programs.

    Args:
        words: What it wrote.
        name: What the number is called.

    Returns:
        The number; 0 where there is none.
    """
    for word in words:
        key, _, value = word.partition("=")
        if key == name and value.isdecimal():
            return int(value)
    return 0
