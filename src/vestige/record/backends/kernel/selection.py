"""Which events of the kernel are wanted, by words of a command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .lttng_names import lttng_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ALL", "Chosen", "choose"]

ALL = "all"
"""The word for everything."""
CALLS = "syscalls"
"""The kernel's system of system calls, and the word for them."""
_INNER = frozenset({"ftrace"})
"""Systems of events that cannot be switched on."""

Chosen = list[tuple[str, str]]
"""Systems and names of the kernel."""


def choose(
    words: Iterable[str], available: Sequence[tuple[str, str]]
) -> tuple[Chosen, list[str]]:
    """Choose events.

    Args:
        words: ``all``; a system of the kernel (``sched``, ``syscalls``); ``syscalls:``
            and a pattern of names of system calls; a pattern of LTTng's names, with
            ``*``.
        available: The events that there are: systems and names.

    Returns:
        Those that are wanted, in the order of ``available``; and the words that say
        none.
    """
    named = [(one, lttng_name(*one)) for one in available if one[0] not in _INNER]
    chosen: set[tuple[str, str]] = set()
    without: list[str] = []
    for word in words:
        found = _found(word, named)
        chosen |= found
        if not found:
            without.append(word)
    return [one for one in available if one in chosen], without


def _found(
    word: str, named: Sequence[tuple[tuple[str, str], str]]
) -> set[tuple[str, str]]:
    if word == ALL:
        return {one for one, _ in named}
    system, colon, pattern = word.partition(":")
    if colon:
        if system == CALLS:
            match = re.compile(rf"syscall_(?:entry|exit)_{_escaped(pattern)}")
            return {one for one, name in named if match.fullmatch(name)}
        # The kernel's own name of an event.
        match = re.compile(_escaped(pattern))
        return {one for one, _ in named if one[0] == system and match.fullmatch(one[1])}
    by_system = {one for one, _ in named if one[0] == word}
    if by_system:
        return by_system
    match = re.compile(_escaped(word))
    return {one for one, name in named if match.fullmatch(name)}


def _escaped(pattern: str) -> str:
    return ".*".join(map(re.escape, pattern.split("*")))
