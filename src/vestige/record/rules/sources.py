"""What makes events only where it is switched on: helpers, calls in Python programs.

An option switches it on, or a rule that names its provider. Rules then choose among its
events as among all others; where none has a word about them, all are recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..._typing import NamedTuple
from .event_rules import CompiledRule, compile_rules
from .helpers import HELPERS
from .known_events import DEBUG_LINE, KNOWN_EVENTS, KnownEvent

__all__ = ["Sources", "named_sources", "rules_of_sources"]

CALLS = ("vestige_python:func_*", "vestige_python:coroutine_*")
"""Entries and exits of functions of Python programs."""
COLLECTIONS = ("vestige_python:gc_*",)
"""Collections of garbage in Python programs."""


class Sources(NamedTuple):
    """What is switched on."""

    helpers: tuple[str, ...] = ()
    """Some of :data:`~vestige.record.rules.helpers.HELPERS`."""

    python_calls: bool = False
    """Whether functions of Python programs are recorded."""

    python_collections: bool = False
    """Whether collections of garbage are."""

    probe_events: tuple[str, ...] = ()
    """The names of events of probes."""


def named_sources(rules: Iterable[CompiledRule]) -> Sources:
    """Find out what rules name, by a provider without wildcards.

    Args:
        rules: The rules.

    Returns:
        What they switch on.
    """
    own = [rule for rule in rules if rule.names_provider]
    return Sources(
        tuple(name for name in HELPERS if _choose(own, _patterns_of(name))),
        _choose(own, CALLS),
        _choose(own, COLLECTIONS),
    )


def rules_of_sources(
    rules: Sequence[CompiledRule], sources: Sources
) -> tuple[CompiledRule, ...]:
    """Return rules for what is switched on, and no rule has a word about.

    Args:
        rules: The rules that there are.
        sources: What is switched on.

    Returns:
        Further rules, which take all of it.
    """
    groups = [_patterns_of(name) for name in sources.helpers]
    if sources.python_calls:
        groups.append(CALLS)
    if sources.python_collections:
        groups.append(COLLECTIONS)
    patterns = [
        pattern for group in groups if not _choose(rules, group) for pattern in group
    ]
    # What they have in their events is known when the program is.
    patterns += [
        name
        for name in sources.probe_events
        if not any(rule.takes_name(name, DEBUG_LINE) for rule in rules)
    ]
    return compile_rules(patterns)


def _patterns_of(helper: str) -> tuple[str, ...]:
    return (f"lttng_ust_{helper}:*",)


def _choose(rules: Iterable[CompiledRule], patterns: tuple[str, ...]) -> bool:
    """Tell whether rules choose among events, whatever their levels are."""
    events = [event for event in KNOWN_EVENTS if _is_of(event, patterns)]
    return any(
        rule.chooses(event.name, event.fields) for rule in rules for event in events
    )


def _is_of(event: KnownEvent, patterns: tuple[str, ...]) -> bool:
    return any(event.name.startswith(pattern.rstrip("*")) for pattern in patterns)
