"""Rules beside the tracepoints of the program: what looks like a mistake.

A library or a plugin may have what the program has not. So a rule is doubted only where
the program has tracepoints, none meets the rule, and one almost does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from ...advice import nearest
from ...errors import RecordError
from ...inspect.elf import open_elf
from ...inspect.lttng_providers import lttng_tracepoints
from ...inspect.programs import find_program
from ...inspect.tracepoints import Tracepoint, described_tracepoints
from ...log_levels import LOG_LEVELS
from .event_rules import CompiledRule
from .known_events import KNOWN_EVENTS

__all__ = ["doubtful_rules"]

ALMOST = 0.75
"""How like a name has to be: from 0 to 1, see :func:`difflib.get_close_matches`."""


def doubtful_rules(rules: Iterable[CompiledRule], program: str) -> list[str]:
    """Say which rules almost take a tracepoint of a program, and take none.

    Args:
        rules: The rules of a recording.
        program: Its name or path, as a shell takes it.

    Returns:
        Lines for people, each once.
    """
    wanted = [rule for rule in rules if not rule.is_logger and not _is_known(rule)]
    points = _tracepoints(program) if wanted else []
    found = dict.fromkeys(line for rule in wanted for line in _doubts(rule, points))
    return list(found)


def _is_known(rule: CompiledRule) -> bool:
    return any(rule.takes_name(event.name, None) for event in KNOWN_EVENTS)


def _tracepoints(program: str) -> list[Tracepoint]:
    path = find_program(program, os.environ.get("PATH"))
    if path is None:
        return []
    try:
        with open_elf(Path(path)) as image:
            return _each_once(described_tracepoints(image) + lttng_tracepoints(image))
    except (RecordError, ValueError, OSError):
        # A script, or what will be told when it is started.
        return []


def _each_once(points: Iterable[Tracepoint]) -> list[Tracepoint]:
    """Leave out the places of events that have a provider, which tells more of them."""
    found: dict[str, Tracepoint] = {}
    for one in points:
        before = found.get(_name(one))
        if before is None or (one.has_provider and not before.has_provider):
            found[_name(one)] = one
    return list(found.values())


def _name(point: Tracepoint) -> str:
    return f"{point.provider}:{point.name}"


def _level(number: int) -> str:
    is_named = 0 <= number < len(LOG_LEVELS)
    return f"{LOG_LEVELS[number]} ({number})" if is_named else str(number)


def _doubts(rule: CompiledRule, points: Sequence[Tracepoint]) -> Iterator[str]:
    names = [_name(one) for one in points]
    taken = [one for one in points if rule.takes_name(_name(one), None)]
    if not taken:
        close = import_module("difflib").get_close_matches(
            rule.text, names, n=3, cutoff=ALMOST
        )
        if close:
            yield (
                f"no tracepoint of the program matches '{rule.text}'; "
                f"there {nearest(rule.text, close)}"
            )
        return
    levels = {one.log_level for one in taken if one.log_level is not None}
    if all(
        one.has_provider
        and one.log_level is not None
        and not rule.takes_name(_name(one), one.log_level)
        for one in taken
    ):
        words = " and ".join(_level(number) for number in sorted(levels))
        yield (
            f"no tracepoint of the program that matches '{rule.text}' has that level: "
            f"theirs is {words}"
        )
        return
    fields = [
        {field.name for field in one.fields} for one in taken if one.fields is not None
    ]
    if rule.code and len(fields) == len(taken) and not any(map(rule.may_hold, fields)):
        known = sorted(set().union(*fields))
        missing = sorted(rule.fields.difference(known)) or sorted(rule.fields)
        yield (
            f"no tracepoint of the program that matches '{rule.text}' has the field "
            f"'{missing[0]}' of its filter; there {nearest(missing[0], known)}"
        )
