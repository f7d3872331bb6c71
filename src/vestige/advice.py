"""What is odd but no error: :class:`VestigeWarning`; and names like another one."""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["VestigeWarning", "nearest"]

MOST_NAMES = 10
"""How many names a message lists when none is like the one that was asked for."""
MOST_LIKE = 3
"""And how many otherwise."""
FEW = 4
"""So many are all listed, whatever they are like."""
LIKENESS = 0.55
"""How much of two names is the same if one may be meant by the other."""


class VestigeWarning(UserWarning):
    """Anything that Vestige finds odd and goes on after: the base of its warnings."""


def nearest(name: str, known: Sequence[str]) -> str:
    """Say which names there are: those that are like another one, or else the first.

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

    few = len(known) <= FEW
    most = FEW if few else MOST_LIKE
    shown = get_close_matches(name, known, n=most, cutoff=LIKENESS)
    if few or not shown:
        others = (one for one in known if one not in shown)
        shown = [*shown, *others][:MOST_NAMES]
    left = len(known) - len(shown)
    text = ", ".join(f"'{one}'" for one in shown)
    verb = "is" if len(known) == 1 else "are"
    return f"{verb} {text} and {left} more" if left else f"{verb} {text}"
