"""Names of functions that have little room: what distinguishes them stays.

Names of C++ are long by their template arguments and parameters, which come before what
a reader looks for.
"""

from __future__ import annotations

from ...analysis.function_names import shortened
from .call_style import cut

__all__ = ["fitted_name"]


def fitted_name(name: str, room: int) -> str:
    """Shorten the name of a function: parameters go first, then template arguments.

    Args:
        name: The name.
        room: Characters that it may have.

    Returns:
        The name, its end cut off where that is not enough.
    """
    for brackets in ("", "(", "(<"):
        text = shortened(name, brackets) if brackets else name
        if len(text) <= room:
            return text
    return cut(text, room)
