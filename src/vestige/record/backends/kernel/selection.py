"""Which of the kernel's events rules take."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .lttng_names import lttng_name
from .rules import CALLS, PHASES, PROBES, pattern_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .rules import KernelRule

__all__ = ["Match", "choose"]

_INNER = ("ftrace", "vestige_")
"""How systems of events begin that are not to be switched on: by nobody, or by none but
those whose probes they are."""
_TWICE = "raw_syscalls"
"""A system with all system calls once more, which only those want who name it."""
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
    systems = {system for system, _ in available}
    taken: dict[_Event, list[KernelRule]] = {}
    without = []
    for rule in rules:
        if rule.kind in PROBES:
            continue
        takes = _takes(rule, systems)
        found = [one for one, name in named if takes(one, name)]
        for one in found:
            taken.setdefault(one, []).append(rule)
        if not found:
            without.append(rule)
    return [Match(*one, taken[one]) for one in available if one in taken], without


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
