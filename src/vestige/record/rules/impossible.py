"""Rules that can take no event, as far as that is known before a program runs.

Nobody knows the tracepoints of a program that may load plugins, but the events that
Vestige makes itself are known, and so are contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...advice import nearest
from ...log_levels import LOG_LEVELS
from .._agreement import APPLICATION_PREFIX
from .contexts import CONTEXTS, COUNTERS
from .event_rules import CompiledRule
from .events import NOT_FILTERED
from .known_events import KNOWN_EVENTS, KnownEvent, provider_of

__all__ = ["impossible_rules"]


def impossible_rules(rules: Iterable[CompiledRule]) -> list[str]:
    """Say which rules can take no event, and what is near to them.

    Args:
        rules: The rules of a recording.

    Returns:
        Lines for people, each once.
    """
    found = dict.fromkeys(
        line for rule in rules for line in (*_contexts(rule), *_events(rule))
    )
    return list(found)


def _contexts(rule: CompiledRule) -> Iterator[str]:
    known = (*CONTEXTS, *COUNTERS)
    for name in sorted(rule.contexts):
        if name not in known and not name.startswith(
            (APPLICATION_PREFIX, "perf:thread:raw:")
        ):
            yield (
                f"the filter for '{rule.text}' is never true: there is no context "
                f"$ctx.{name}; there {nearest(name, known)}"
            )


def _events(rule: CompiledRule) -> Iterator[str]:
    provider = provider_of(rule.glob)
    events = [one for one in KNOWN_EVENTS if provider_of(one.name) == provider]
    if not events or rule.is_logger:
        return
    named = [one for one in events if rule.takes_name(one.name, None)]
    line = None
    if not named:
        names = [one.name for one in events]
        line = f"no event matches '{rule.text}': there {nearest(rule.text, names)}"
    elif not any(rule.takes_name(one.name, one.level) for one in named):
        levels = sorted({one.level for one in named})
        words = " and ".join(f"{LOG_LEVELS[one]} ({one})" for one in levels)
        line = f"no event matches '{rule.text}' with that level: theirs is {words}"
    elif rule.code and not any(rule.may_hold(one.fields) for one in _filtered(named)):
        line = _fields(rule, named)
    if line is not None:
        yield line


def _filtered(events: Sequence[KnownEvent]) -> list[KnownEvent]:
    return [one for one in events if one.name not in NOT_FILTERED]


def _fields(rule: CompiledRule, events: Sequence[KnownEvent]) -> str:
    known = sorted({field for one in events for field in one.fields})
    missing = sorted(rule.fields.difference(known))
    name = missing[0] if missing else min(rule.fields)
    return (
        f"the filter for '{rule.text}' is never true: no such event has "
        + (f"a field '{name}'" if missing else "all of its fields")
        + f"; there {nearest(name, known)}"
    )
