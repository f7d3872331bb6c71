"""Which events a recording has, from the rules that a user gives.

The state dump and the events of loaded objects are in each recording: no address would
have a name without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..errors import SelectionError
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
BASE_ADDRESSES = ("ust_baddr:init", "ust_baddr:push", "ust_baddr:pop")
"""Recorded only when they are asked for."""
ALWAYS_RECORDED = (
    "lttng_ust_statedump:start",
    "lttng_ust_statedump:procname",
    "lttng_ust_statedump:bin_info",
    "lttng_ust_statedump:build_id",
    "lttng_ust_statedump:debug_link",
    "lttng_ust_statedump:end",
    "lttng_ust_lib:load",
    "lttng_ust_lib:build_id",
    "lttng_ust_lib:debug_link",
    "lttng_ust_lib:unload",
)
"""Recorded whatever is asked for."""
EVENT_NAMES = (
    f"{FAST}:func_entry",
    f"{FAST}:func_exit",
    f"{VERBOSE}:func_entry",
    f"{VERBOSE}:func_exit",
    *ALWAYS_RECORDED,
    *BASE_ADDRESSES,
)
"""What the tracer writes by itself; other names are those of tracepoints."""
DEBUG_FUNCTION, DEBUG_LINE = 12, 13
"""Log levels of events of functions, and of all others."""


class Selection(NamedTuple):
    """What the tracer writes beside the state dump and the events of objects."""

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
    return DEBUG_FUNCTION if ":func_" in name else DEBUG_LINE


def _tracing(
    names: set[str], event: str, functions: FunctionTracing | None
) -> FunctionTracing:
    """Return what one kind of events holds: the shorter form where both are named."""
    if names.isdisjoint({f"{FAST}:{event}", f"{VERBOSE}:{event}"}):
        return "off"
    if functions is not None:
        return functions
    return "fast" if f"{FAST}:{event}" in names else "verbose"
