"""What component classes in Python say of themselves: their docstrings."""

from __future__ import annotations

from inspect import cleandoc

__all__ = ["description_of", "help_of"]


def description_of(found: type) -> str:
    """Return the first line of what a class says of itself.

    Args:
        found: The class.
    """
    return _text(found).partition("\n")[0].strip()


def help_of(found: type) -> str:
    """Return what a class says of itself behind the first line.

    Args:
        found: The class.
    """
    return _text(found).partition("\n")[2].strip("\n")


def _text(found: type) -> str:
    """Return the docstring of a class itself, not of one that it is made of."""
    return cleandoc(vars(found).get("__doc__") or "").strip()
