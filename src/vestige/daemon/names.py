"""How long the names of clients may be: of sessions, channels, rules and triggers."""

from __future__ import annotations

from .refusals import refused

__all__ = ["LONGEST_NAME", "MOST_NAMES", "check_named", "fits"]

MOST_NAMES = 2000
"""Of rules that one request makes, which others wait for."""
LONGEST_NAME = 255
"""Bytes of a name; LTTng has buffers of 256."""


def fits(name: str, most: int = LONGEST_NAME) -> bool:
    """Tell whether a name is short enough; what is empty is.

    Args:
        name: The name.
        most: How many bytes it may have.
    """
    return len(name.encode(errors="replace")) <= most


def check_named(name: str, most: int = LONGEST_NAME) -> str:
    """Refuse what is no name, or one that is too long.

    Args:
        name: The name.
        most: How many bytes it may have.

    Returns:
        The name.

    Raises:
        SessionError: It is refused.
    """
    if not name or not fits(name, most):
        raise refused("INVALID", f"expected a name of up to {most} bytes")
    return name
