"""Names of functions that have little room: what distinguishes them stays.

Names of C++ are long by their template arguments and parameters, which come before what
a reader looks for.
"""

from __future__ import annotations

import re

from .call_style import cut

__all__ = ["fitted_name"]

_OPERATOR = re.compile(
    r"operator ?(?:\(\)|\[\]|<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>)(?![A-Za-z_])"
)
"""Operators whose names hold brackets."""
_PLAIN = re.compile(r"\(anonymous (?:namespace|class|struct|union)\)|\{[a-z]+")
"""What is no list of parameters."""


def fitted_name(name: str, room: int) -> str:
    """Shorten the name of a function: parameters go first, then template arguments.

    Args:
        name: The name.
        room: Characters that it may have.

    Returns:
        The name, its end cut off where that is not enough.
    """
    for brackets in ("", "(", "(<"):
        text = _without(name, brackets) if brackets else name
        if len(text) <= room:
            return text
    return cut(text, room)


def _without(name: str, brackets: str) -> str:
    """Leave out what is in some kinds of brackets."""
    kept: list[str] = []
    open_brackets: list[str] = []
    # Names of Rust begin with "<TYPE as TRAIT>": that is no list.
    at = len(name) - len(name.lstrip("<"))
    kept.append(name[:at])
    while at < len(name):
        found = _OPERATOR.match(name, at) or _PLAIN.match(name, at)
        if found:
            text = found.group()
            at = found.end()
        else:
            text = name[at]
            at += 1
        if open_brackets and text == open_brackets[-1]:
            open_brackets.pop()
        if not open_brackets:
            kept.append(text)
        if text not in brackets or (not open_brackets and name.startswith(")", at)):
            continue
        if not open_brackets:
            kept.append("…")
        open_brackets.append(")" if text == "(" else ">")
    # A name that is not understood is left as it is.
    return name if open_brackets else "".join(kept)
