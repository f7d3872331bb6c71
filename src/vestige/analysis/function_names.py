"""Names of functions without parameters and template arguments."""

from __future__ import annotations

import re

__all__ = ["plain_names", "shortened", "without_appended"]

_OPERATOR = re.compile(
    r"operator ?(?:\(\)|\[\]|<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>)(?![A-Za-z_])"
)
"""Operators whose names hold brackets."""
_PLAIN = re.compile(r"\(anonymous (?:namespace|class|struct|union)\)|\{[a-z]+")
"""What is no list of parameters."""
_APPENDED = re.compile(r"(?:\.(?:constprop|isra|part|cold|lto_priv|llvm)(?:\.\d+)*)+\Z")
"""What compilers append to the name of a copy or a part of a function."""


def plain_names(name: str) -> set[str]:
    """Return the names that people know a compiled function by.

    Args:
        name: Its name with all that is known, as ``int ns::f<int>(int) const``.

    Returns:
        This one, and it without what the language does not have in names of functions.
    """
    known = _APPENDED.sub("", name.partition(" [clone ")[0])
    text = shortened(known, "(<").removesuffix(" const")
    if text.endswith("()") and not text.endswith("operator()"):
        text = text[:-2]
    text = text.replace("(…)", "").replace("<…>", "")
    names = {name, known, text}
    if text != known and " " in text and "operator" not in text:
        # Templates have what they return before their names.
        begin = text.replace("(anonymous namespace)", "(anonymous_namespace)")
        names.add(text[begin.rindex(" ") + 1 :] if " " in begin else text)
    return names


def without_appended(name: str) -> str:
    """Leave out what compilers append to the names of copies and parts of functions.

    Args:
        name: The name of a function.

    Returns:
        The name of what it is a copy or a part of; itself if it is none.
    """
    known = name.partition(" [clone ")[0]
    return _APPENDED.sub("", known) or name


def shortened(name: str, brackets: str) -> str:
    """Leave out what is in some kinds of brackets.

    Args:
        name: The name of a function.
        brackets: The opening ones.

    Returns:
        The name, with an ellipsis for what was in them; the whole name where it is not
        understood.
    """
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
    return name if open_brackets else "".join(kept)
