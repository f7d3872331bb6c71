"""Which of the kernel's events rules take."""

from __future__ import annotations

import re

from ...._typing import TYPE_CHECKING, NamedTuple
from .lttng_names import lttng_name
from .rules import CALLS, PHASES, PROBES, is_plain, pattern_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .rules import KernelRule

__all__ = ["Match", "choose", "names_like"]

_INNER = ("ftrace", "vestige_")
"""How systems of events begin that are not to be switched on: by nobody, or by none but
those whose probes they are."""
_TWICE = "raw_syscalls"
"""A system with all system calls once more, which only those want who name it."""
_MOST_NAMES = 3
_LIKENESS = 0.7
"""How much of two names must be the same to take one for the other (:mod:`difflib`)."""
_Event = tuple[str, str]
"""A system of the kernel, and a name there."""


class Match(NamedTuple):
    """An event of the kernel that is wanted."""

    system: str
    name: str
    rules: list[KernelRule]
    """Those that take it."""


def choose(
    rules: Iterable[KernelRule], available: Sequence[_Event]
) -> tuple[list[Match], list[KernelRule]]:
    """Choose events.

    Args:
        rules: What is wanted; probes take no events that are there.
        available: The events that there are: systems and names.

    Returns:
        Those that are wanted, in the order of ``available``; and the rules that take
        none.
    """
    named = [
        (one, lttng_name(*one)) for one in available if not one[0].startswith(_INNER)
    ]
    by_name: dict[str, list[tuple[_Event, str]]] = {}
    for one, name in named:
        by_name.setdefault(name, []).append((one, name))
    systems = {system for system, _ in available}
    taken: dict[_Event, list[KernelRule]] = {}
    without = []
    for rule in rules:
        if rule.kind in PROBES:
            continue
        takes = _takes(rule, systems)
        names = _names(rule, systems)
        likely = (
            named
            if names is None
            else [one for name in names for one in by_name.get(name, ())]
        )
        found = [one for one, name in likely if takes(one, name)]
        for one in found:
            taken.setdefault(one, []).append(rule)
        if not found:
            without.append(rule)
    return [Match(*one, taken[one]) for one in available if one in taken], without


def _names(rule: KernelRule, systems: set[str]) -> list[str] | None:
    """Return LTTng's names of all that a rule may take; ``None``: those of any."""
    if rule.system is not None or not is_plain(rule.pattern):
        return None
    if rule.kind == "syscall":
        return [f"syscall_{end}_{rule.pattern}" for end in PHASES[rule.phase]]
    if rule.kind == "event" and rule.pattern in systems:
        return None
    return [rule.pattern]


def names_like(rule: KernelRule, available: Sequence[_Event]) -> list[str]:
    """Return what a rule that takes no events may have meant.

    Args:
        rule: The rule.
        available: The events that there are: systems and names.

    Returns:
        What could have been written instead, the likest first.
    """
    # Only a mistake needs it, and it takes time to import.
    from difflib import get_close_matches  # noqa: PLC0415 - see above

    events = [one for one in available if not one[0].startswith(_INNER)]
    if rule.system is not None:
        known = {f"{system}:{name}" for system, name in events}
        asked = f"{rule.system}:{rule.pattern}"
    elif rule.kind == "syscall":
        names = (lttng_name(*one) for one in events if one[0] == CALLS)
        calls = {name.split("_", 2)[-1] for name in names}
        known = {f"{CALLS}:{one}" for one in calls}
        asked = f"{CALLS}:{rule.pattern}"
    else:
        known = {lttng_name(*one) for one in events} | {one[0] for one in events}
        asked = rule.pattern
    return get_close_matches(asked, sorted(known), _MOST_NAMES, _LIKENESS)


def _takes(rule: KernelRule, systems: set[str]) -> Callable[[_Event, str], bool]:
    """Return what tells whether a rule takes an event, by that and LTTng's name."""
    if rule.kind == "syscall":
        ends = "|".join(PHASES[rule.phase])
        start = re.compile(rf"syscall_(?:{ends})_")
        call = pattern_of(rule.pattern)

        def takes_call(one: _Event, name: str) -> bool:
            found = start.match(name) if one[0] == CALLS else None
            return found is not None and bool(call.fullmatch(name, found.end()))

        return takes_call
    pattern = pattern_of(rule.pattern)
    is_exact = "*" not in rule.pattern
    if rule.system is not None:
        system = rule.system
        return lambda one, _: one[0] == system and bool(pattern.fullmatch(one[1]))
    if rule.kind == "event":
        if rule.pattern in systems:
            return lambda one, _: one[0] == rule.pattern
        return lambda one, name: (
            (is_exact or one[0] != _TWICE) and bool(pattern.fullmatch(name))
        )
    others = {CALLS} if is_exact else {CALLS, _TWICE}
    return lambda one, name: one[0] not in others and bool(pattern.fullmatch(name))
