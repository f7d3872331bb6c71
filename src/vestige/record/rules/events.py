"""Which events a recording has, from the rules that a user gives.

The state dump and the events of loaded objects are in each recording: no address would
have a name without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ...errors import SelectionError
from .._agreement import EVENTS
from .event_rules import CompiledRule

__all__ = [
    "ALWAYS_RECORDED",
    "BASE_ADDRESSES",
    "EVENT_NAMES",
    "FunctionTracing",
    "Selection",
    "level_of",
    "select",
]

FunctionTracing = Literal["fast", "verbose", "off"]

FAST = "lttng_ust_cyg_profile_fast"
VERBOSE = "lttng_ust_cyg_profile"
_LEVELS = {name: level for name, level, _, _ in EVENTS}
BASE_ADDRESSES = tuple(name for name in _LEVELS if name.startswith("ust_baddr:"))
"""Recorded only when they are asked for."""
ALWAYS_RECORDED = tuple(
    name
    for name in _LEVELS
    if name.startswith(("lttng_ust_statedump:", "lttng_ust_lib:"))
)
"""Recorded whatever is asked for."""
EVENT_NAMES = (
    *(name for name in _LEVELS if name.startswith((f"{FAST}:", f"{VERBOSE}:"))),
    *ALWAYS_RECORDED,
    *BASE_ADDRESSES,
)
"""What the tracer writes by itself; other names are those of tracepoints."""


class Selection(NamedTuple):
    """What the tracer writes besides the state dump and the events of objects."""

    entries: FunctionTracing
    """At the entry of functions."""

    exits: FunctionTracing
    """At their exit."""

    base_addresses: bool
    """Whether it writes ``ust_baddr:*``."""


def select(
    rules: Sequence[CompiledRule], functions: FunctionTracing | None
) -> Selection:
    """Work out which events the tracer writes by itself.

    Args:
        rules: What chooses events; all the usual events when there is none.
        functions: What the events of functions hold; ``None`` leaves it to the
            rules.

    Returns:
        The events.

    Raises:
        SelectionError: A filter is asked for where there is nothing to look at.
    """
    if not rules:
        chosen = functions or "fast"
        return Selection(chosen, chosen, base_addresses=False)
    names = {name for rule in rules for name in _matching(rule)}
    entries = _tracing(names, "func_entry", functions)
    exits = _tracing(names, "func_exit", functions)
    if functions is not None and entries == exits == "off":
        # Asked for by their own option.
        entries = exits = functions
    return Selection(entries, exits, not names.isdisjoint(BASE_ADDRESSES))


def _matching(rule: CompiledRule) -> set[str]:
    if rule.code:
        if rule.text in EVENT_NAMES:
            raise SelectionError(
                f"'{rule.text}': expected no filter, which only tracepoints have"
            )
        return set()
    return {name for name in EVENT_NAMES if rule.takes_name(name, level_of(name))}


def level_of(name: str) -> int:
    """Return the log level of an event that the tracer writes by itself.

    Args:
        name: Its name.

    Returns:
        The level.
    """
    return _LEVELS[name]


def _tracing(
    names: set[str], event: str, functions: FunctionTracing | None
) -> FunctionTracing:
    """Return what one kind of events holds: the shorter form where both are named."""
    if names.isdisjoint({f"{FAST}:{event}", f"{VERBOSE}:{event}"}):
        return "off"
    if functions is not None:
        return functions
    return "fast" if f"{FAST}:{event}" in names else "verbose"
