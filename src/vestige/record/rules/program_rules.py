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
            return described_tracepoints(image) + lttng_tracepoints(image)
    except (RecordError, ValueError, OSError):
        # A script, or what will be told when it is started.
        return []


def _doubts(rule: CompiledRule, points: Sequence[Tracepoint]) -> Iterator[str]:
    names = [f"{one.provider}:{one.name}" for one in points]
    taken = [
        point
        for point, name in zip(points, names, strict=True)
        if rule.takes_name(name, None)
    ]
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
