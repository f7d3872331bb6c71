"""What is odd but no error: :class:`VestigeWarning`; and names like another one."""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["VestigeWarning", "nearest"]

MOST_NAMES = 10
"""How many names a message lists when none is like the one that was asked for."""


class VestigeWarning(UserWarning):
    """Anything that Vestige finds odd and goes on after: the base of its warnings."""


def nearest(name: str, known: Sequence[str]) -> str:
    """Say which names there are, those first that are like another one.

    Args:
        name: The name that there is not.
        known: Those that there are.

    Returns:
        The end of a sentence: ``are 'a', 'b', 'c' and 4 more``.
    """
    if not known:
        return "is none"
    # Only a mistake needs it, and it takes time to import.
    from difflib import get_close_matches  # noqa: PLC0415 - see above

    close = get_close_matches(name, known, n=MOST_NAMES, cutoff=0.5)
    names = [*close, *(one for one in known if one not in close)]
    shown, left = names[:MOST_NAMES], len(names[MOST_NAMES:])
    text = ", ".join(f"'{one}'" for one in shown)
    verb = "is" if len(names) == 1 else "are"
    return f"{verb} {text} and {left} more" if left else f"{verb} {text}"
