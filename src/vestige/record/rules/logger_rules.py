"""Rules for loggers of Python programs: their names, and levels of their own.

A record of ``logging`` is an event ``lttng_python:event`` with the name of its logger
and its level as fields, so a rule for loggers is a filter of these fields.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import SelectionError

__all__ = ["LOG_EVENT", "LOG_FIELDS", "logger_filter"]

LOG_EVENT = "lttng_python:event"
"""A record of :mod:`logging`, as LTTng-UST's agent has it."""
LOG_FIELDS = (
    "asctime",
    "msg",
    "logger_name",
    "funcName",
    "lineno",
    "int_loglevel",
    "thread",
    "threadName",
    "traceback",
)
"""Its fields; the last one where tracebacks are recorded."""
LOG_LEVELS = {
    "CRITICAL": 50,
    "FATAL": 50,
    "ERROR": 40,
    "WARNING": 30,
    "WARN": 30,
    "INFO": 20,
    "DEBUG": 10,
    "NOTSET": 0,
}
"""Of :mod:`logging`: the more severe, the higher."""
LARGEST_LEVEL = (1 << 31) - 1


def logger_filter(
    name: str,
    exclude: Iterable[str],
    level: str | int | None,
    only_level: str | int | None,
) -> str:
    r"""Write a rule for loggers as a filter of the fields of their events.

    Args:
        name: The name of a logger; ``*`` is any text, ``\*`` a star.
        exclude: The same of loggers that are left out.
        level: The least severe level, if any.
        only_level: The only level, if any.

    Returns:
        The filter.

    Raises:
        SelectionError: There is no such level, or a name cannot be compared.
    """
    terms = [f"logger_name == {_quoted(name)}"]
    terms += (f"logger_name != {_quoted(one)}" for one in exclude)
    if level is not None:
        terms.append(f"int_loglevel >= {_level(level)}")
    if only_level is not None:
        terms.append(f"int_loglevel == {_level(only_level)}")
    return " && ".join(terms)


def _quoted(name: str) -> str:
    """Write a name as a string of a filter, which has the same stars."""
    if not name or "\0" in name:
        raise SelectionError(f"{name!r}: expected the name of a logger, or '*'")
    text = ""
    characters = iter(name)
    for character in characters:
        one = character
        if character == "\\":
            one = next(characters, "\\")
            text += "\\*" if one == "*" else _escaped(one)
        else:
            text += _escaped(one)
    return f'"{text}"'


def _escaped(character: str) -> str:
    return f"\\{character}" if character in '"\\' else character


def _level(level: str | int) -> int:
    text = str(level).strip()
    if text.isascii() and text.isdecimal() and int(text) <= LARGEST_LEVEL:
        return int(text)
    if text.upper() not in LOG_LEVELS:
        raise SelectionError(
            f"no level '{level}' of a logger: expected a number, or one of "
            f"{', '.join(LOG_LEVELS)}"
        )
    return LOG_LEVELS[text.upper()]
