"""Rules that took no event: names may be wrong, and nobody knows them beforehand."""

from __future__ import annotations

from ..backends.in_process.metadata import tracepoint_classes
from ..recorder import Recording
from ..rules.event_rules import CompiledRule
from ..rules.events import EVENT_NAMES, level_of

__all__ = ["unmatched_rules"]


def unmatched_rules(recording: Recording) -> list[str]:
    """Say which rules took no kind of event.

    Args:
        recording: A recording that has ended.

    Returns:
        Lines for people, one for each.
    """
    rules = recording.options.rules()
    if not rules:
        return []
    try:
        text = (recording.directory / "metadata").read_text(errors="replace")
    except OSError:
        return []
    known = [(name, level_of(name)) for name in EVENT_NAMES]
    found = tracepoint_classes(text)
    return [
        _line(rule)
        for rule in rules
        if not _takes_any(rule, found if rule.code else [*known, *found])
    ]


def _takes_any(rule: CompiledRule, events: list[tuple[str, int]]) -> bool:
    return any(rule.takes_name(name, level) for name, level in events)


def _line(rule: CompiledRule) -> str:
    if rule.is_logger:
        return f"no program with a log of Python was there for the logger '{rule.text}'"
    conditions = [
        text
        for text, is_there in (
            ("that level", rule.levels != CompiledRule("", "").levels),
            ("the fields of its filter", bool(rule.code)),
        )
        if is_there
    ]
    having = f" and has {' and '.join(conditions)}" if conditions else ""
    return f"no tracepoint was loaded that matches '{rule.text}'{having}"
