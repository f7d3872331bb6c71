"""The event rule of a condition, from the words of a command line."""

from __future__ import annotations

import re

from ..._typing import TYPE_CHECKING, NamedTuple
from ...daemon.log_levels import level_number
from .call import FAILED, FailedError
from .capture_words import capture_of
from .event_verbs import check_exclusions
from .options import NEEDED, Option
from .probe_words import kernel_location, program_location

if TYPE_CHECKING:
    from typing import Any

    from .word_reader import WordReader

__all__ = ["RULE", "read_rule"]

RULE = (
    Option("filter", "only if the expression is true", "f", NEEDED, "EXPRESSION"),
    Option("name", "events whose names match PATTERN", "n", NEEDED, "PATTERN"),
    Option("exclude-name", "but not those", "x", NEEDED, "PATTERN"),
    Option("log-level", "LEVEL, or LEVEL.. for all above it", "l", NEEDED, "LEVEL"),
    Option("event-name", "of the event of a probe", "E", NEEDED, "NAME"),
    Option("type", "as user, jul, log4j, python", "t", NEEDED, "TYPE"),
    Option("location", "where a probe is", "L", NEEDED, "PLACE"),
    Option("capture", "notifications have the value of FIELD", None, NEEDED, "FIELD"),
)
"""What follows ``--condition=event-rule-matches``."""
_TYPES = {
    "user": "user-tracepoint",
    "user:tracepoint": "user-tracepoint",
    "kernel": "kernel-tracepoint",
    "kernel:tracepoint": "kernel-tracepoint",
    "jul": "jul-logging",
    "jul:logging": "jul-logging",
    "log4j": "log4j-logging",
    "log4j:logging": "log4j-logging",
    "python": "python-logging",
    "python:logging": "python-logging",
    "kprobe": "kernel-kprobe",
    "kernel:kprobe": "kernel-kprobe",
    "kernel:uprobe": "kernel-uprobe",
}
_SYSCALL = re.compile(r"(?:kernel:)?syscall(?::(entry|exit|entry\+exit))?")
_PROBES = ("kernel-kprobe", "kernel-uprobe")
_LEVELS = {
    "user-tracepoint": ("UST", "EMERG"),
    "jul-logging": ("JUL", "SEVERE"),
    "log4j-logging": ("LOG4J", "FATAL"),
    "python-logging": ("PYTHON", "CRITICAL"),
}
"""The domains of levels, with the most severe one of each."""
_SHORT_LEVELS = ("SYSTEM", "PROGRAM", "PROCESS", "MODULE", "UNIT", "FUNCTION", "LINE")
_LONG_NAMES = {
    "name": "--name/-n",
    "filter": "--filter/-f",
    "log-level": "--log-level/-l",
    "event-name": "--event-name/-E",
    "location": "--location/-L",
}


class _Words(NamedTuple):
    """What was said of a rule."""

    single: dict[str, str]
    """Options that are there once."""

    exclusions: list[str]
    captures: list[dict[str, Any]]


def read_rule(reader: WordReader) -> dict[str, Any]:
    """Return the condition that a part of a command line describes.

    Args:
        reader: Stands behind the name of the condition.

    Returns:
        The condition, as the daemon takes it.

    Raises:
        FailedError: It is none.
        WordError: As above.
    """
    words = _read_words(reader)
    given = words.single.get("type")
    if given is None:
        raise FailedError(FAILED, "Event rule requires a --type.")
    kind = _type(given)
    _check(kind, words)
    rule: dict[str, Any] = {"type": kind}
    if kind in _PROBES:
        place = words.single["location"]
        find = kernel_location if kind == "kernel-kprobe" else program_location
        event_name = words.single.get("event-name", place)
        rule |= {"event_name": event_name, "location": find(place)}
    else:
        rule |= {
            "name": words.single.get("name", "*"),
            "filter": words.single.get("filter"),
        }
    if words.exclusions:
        rule["exclusions"] = words.exclusions
    if kind == "kernel-syscall":
        rule["emission_site"] = _emission_site(given)
    level = _log_level(kind, words.single.get("log-level"))
    if level is not None:
        rule["log_level"] = level
    return {"type": "event-rule-matches", "rule": rule, "captures": words.captures}


def _read_words(reader: WordReader) -> _Words:
    words = _Words({}, [], [])
    while (item := reader.take(RULE, is_last=False)) is not None:
        if item.name is None:
            raise FailedError(FAILED, f"Unexpected argument '{item.value}'")
        if item.name == "exclude-name":
            words.exclusions.append(item.value)
        elif item.name == "capture":
            words.captures.append(capture_of(item.value))
        elif item.name in words.single:
            raise FailedError(
                FAILED,
                "More than one `--type` was specified."
                if item.name == "type"
                else f"Duplicate '{_LONG_NAMES[item.name]}' given.",
            )
        else:
            if item.name == "type":
                _type(item.value)
            words.single[item.name] = item.value
    return words


def _type(text: str) -> str:
    if text.startswith(("syscall", "kernel:syscall")):
        return "kernel-syscall"
    kind = _TYPES.get(text)
    if kind is None:
        raise FailedError(FAILED, f"Invalid `--type` value: {text}")
    return kind


def _emission_site(text: str) -> str:
    match = _SYSCALL.fullmatch(text)
    if match is None:
        raise FailedError(FAILED, f"Failed to parse syscall type '{text}'.")
    return match[1] or "entry+exit"


def _check(kind: str, words: _Words) -> None:
    """Refuse what a type of rules cannot have."""
    (_check_probe if kind in _PROBES else _check_pattern)(kind, words)
    if "log-level" in words.single and kind not in _LEVELS:
        raise FailedError(
            FAILED, f"Log levels are not supported for {_named(kind)} event rules."
        )


def _named(kind: str) -> str:
    return kind.replace("-", " ")


def _check_probe(kind: str, words: _Words) -> None:
    about = f"{_named(kind)} event rules."
    if "name" in words.single:
        raise FailedError(FAILED, f"Can't use --name with {about}")
    if words.exclusions:
        raise FailedError(FAILED, f"Can't use --exclude-name/-x with {about}")
    if "location" not in words.single:
        raise FailedError(
            FAILED, f"Event rule of type {_named(kind)} requires a --location."
        )
    if "filter" in words.single:
        raise FailedError(FAILED, f"Filter expressions are not supported for {about}")


def _check_pattern(kind: str, words: _Words) -> None:
    about = f"{_named(kind)} event rules."
    for option in ("location", "event-name"):
        if option in words.single:
            raise FailedError(FAILED, f"Can't use --{option} with {about}")
    if words.exclusions:
        if kind != "user-tracepoint":
            raise FailedError(
                FAILED, f"Event name exclusions are not yet implemented for {about}"
            )
        check_exclusions(words.single.get("name", "*"), words.exclusions)


def _log_level(kind: str, text: str | None) -> dict[str, Any] | None:
    if text is None or text == "..":
        return None
    domain, most_severe = _LEVELS[kind]
    name, dots, most = text.partition("..")
    level = _level(domain, name)
    last = _level(domain, most) if most else None
    # All levels from one on: LTTng knows no other ranges.
    has_end = bool(most) and last not in {level, _level(domain, most_severe)}
    if level is None or has_end or (most and last is None):
        raise FailedError(FAILED, f"Failed to parse log level string `{text}`.")
    is_range = bool(dots) and last != level
    return {
        "type": "at-least-as-severe-as" if is_range else "exactly",
        "level": level,
    }


def _level(domain: str, name: str) -> int | None:
    if name != name.upper():
        return None
    if domain == "UST" and name in _SHORT_LEVELS:
        name = f"DEBUG_{name}"
    return level_number(domain, name)
