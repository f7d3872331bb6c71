"""Rules that took no event: names may be wrong, and nobody knows them beforehand."""

from __future__ import annotations

import os

from ..._typing import TYPE_CHECKING
from .._agreement import METADATA_FILE
from ..recorder import Recording
from ..rules.events import EVENT_NAMES
from ..rules.impossible import impossible_rules
from ..rules.known_events import KNOWN_EVENTS
from .tracepoint_classes import tracepoint_classes

if TYPE_CHECKING:
    from ..rules.event_rules import CompiledRule

__all__ = ["unmatched_rules"]

PYTHON = "vestige_python:"
"""Events that only programs in Python make, with classes that are always there."""


def unmatched_rules(recording: Recording) -> list[str]:
    """Say which rules took no kind of event.

    Args:
        recording: A recording that has ended.

    Returns:
        Lines for people, one for each.
    """
    rules = recording.options.given_rules()
    if not rules:
        return []
    try:
        path = os.path.join(recording, METADATA_FILE)
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return []
    found = tracepoint_classes(text)
    return [
        _line(rule)
        for rule in rules
        if not _takes_known(rule)
        and not _takes_any(rule, found)
        # It was said before.
        and not impossible_rules([rule])
    ]


def _takes_known(rule: CompiledRule) -> bool:
    return any(
        rule.takes_name(event.name, event.level) and rule.may_hold(event.fields)
        for event in KNOWN_EVENTS
        if event.name in EVENT_NAMES or event.name.startswith(PYTHON)
    )


def _takes_any(rule: CompiledRule, events: list[tuple[str, int]]) -> bool:
    return any(rule.takes_name(name, level) for name, level in events)


def _line(rule: CompiledRule) -> str:
    if rule.is_logger:
        return f"no program with a log of Python was there for the logger '{rule.text}'"
    conditions = [
        text
        for text, is_there in (
            ("that level", rule.levels != type(rule)("", "").levels),
            ("the fields of its filter", bool(rule.code)),
        )
        if is_there
    ]
    having = f" and has {' and '.join(conditions)}" if conditions else ""
    return f"no tracepoint was loaded that matches '{rule.text}'{having}"
