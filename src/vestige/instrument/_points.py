"""Defining tracepoints."""

from __future__ import annotations

import os
import re
from typing import Any, Protocol

from ._extension import native

__all__ = ["LOG_LEVELS", "Tracepoint", "tracepoint"]

LOG_LEVELS = {
    "emerg": 0,
    "alert": 1,
    "crit": 2,
    "err": 3,
    "warning": 4,
    "notice": 5,
    "info": 6,
    "debug_system": 7,
    "debug_program": 8,
    "debug_process": 9,
    "debug_module": 10,
    "debug_unit": 11,
    "debug_function": 12,
    "debug_line": 13,
    "debug": 14,
}
"""Names of log levels, see lttng-ust(3), and their numbers."""

FIELD_TYPES: dict[type, int] = {int: 0, float: 1, str: 2, bytes: 3, bool: 4}
"""What a field may hold, and its number in the extension."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*:[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
_OWN_PROVIDER = "vestige_python:"
_LONGEST_NAME = 255
"""As LTTng has it."""
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_MOST_FIELDS = 64


class Tracepoint(Protocol):
    """A place in a program where an event may happen."""

    @property
    def name(self) -> str:
        """The name of the event, with its provider."""

    @property
    def enabled(self) -> bool:
        """Whether the event is recorded: for values that take time to work out."""

    @property
    def fields(self) -> dict[str, str]:
        """The types of the fields, by their names."""

    def at(self, code: object, /, *values: Any) -> None:
        """Record an event at the beginning of a code object, not where the call is.

        Args:
            code: The ``__code__`` of a function.
            values: Those of the fields, in their order.
        """

    def __call__(self, *values: Any, **named: Any) -> None:
        """Record an event, when a recorder wants it.

        The values are given by the names of the fields, or in their order. A value of
        another type than its field's is converted as the language does it: by
        ``__index__``, ``__float__``, its truth, ``__fspath__``, or its buffer. What has
        no such value is recorded as zero or empty, and a line on the standard error
        says so once for each field and type: a program never fails because it is
        recorded.

        Raises:
            TypeError: With ``VESTIGE_STRICT=1`` in the environment, with or without a
                recorder: a value does not fit its field, or there are too few or too
                many.
            OverflowError: The same of a number beyond 64 bits.
            ValueError: The same of a number with a fraction in an ``int`` field.
        """


class _Nothing:
    # A tracepoint where the extension cannot be loaded.
    enabled = False

    def __init__(self, name: str, fields: dict[str, str]) -> None:
        self.name = name
        self.fields = fields

    def __call__(self, *values: Any, **named: Any) -> None:
        pass

    def at(self, _code: object, *values: Any) -> None:
        pass


class _Strict(_Nothing):
    # The same where values must fit.

    def __call__(self, *values: Any, **named: Any) -> None:
        from ._checks import check  # noqa: PLC0415 - few programs need it

        check(self.name, self.fields, values, named)

    def at(self, _code: object, *values: Any) -> None:
        self(*values)


def is_strict() -> bool:
    """Tell whether values that do not fit raise: ``VESTIGE_STRICT`` says so."""
    return os.environ.get("VESTIGE_STRICT", "0") not in {"", "0"}


_Fields = tuple[tuple[str, type], ...]
_defined: dict[str, tuple[_Fields, int, Tracepoint]] = {}


def tracepoint(
    name: str, log_level: str | int = "debug_line", /, **fields: type
) -> Tracepoint:
    """Define an event that the program may record.

    Args:
        name: ``PROVIDER:EVENT``.
        log_level: One of :data:`LOG_LEVELS`, or its number.
        fields: The names of the event's fields, and what they hold: ``int`` (64 bits,
            signed), ``float``, ``str``, ``bytes`` or ``bool``.

    Returns:
        What records the event when it is called. The same one again for the same
        arguments, so that a module may be loaded twice.

    Raises:
        ValueError: A name, a type or the level cannot be recorded, or the event is
            defined already, with other fields.

    Example:
        >>> request = tracepoint("app:request", path=str, status=int)
        >>> request(path="/", status=200)
    """
    check_name(name)
    level = _level(log_level)
    for field, kind in fields.items():
        _check_field(name, field, kind)
    if len(fields) > _MOST_FIELDS:
        raise ValueError(f"{name}: {len(fields)} fields: at most {_MOST_FIELDS}")
    described = tuple(fields.items())
    known = _defined.get(name)
    if known is not None:
        if known[:2] != (described, level):
            raise ValueError(f"{name} is defined already, with other fields or level")
        return known[2]
    point = _make(name, level, described)
    _defined[name] = (described, level, point)
    return point


def _make(name: str, level: int, fields: _Fields) -> Tracepoint:
    if native is None:
        kind_of_point = _Strict if is_strict() else _Nothing
        return kind_of_point(name, {field: kind.__name__ for field, kind in fields})
    provider, _, event = name.partition(":")
    numbered = tuple((field, FIELD_TYPES[kind]) for field, kind in fields)
    point: Tracepoint = native.Tracepoint(provider, event, level, numbered, is_strict())
    return point


def is_name(name: str) -> bool:
    """Tell whether a name has the form ``PROVIDER:NAME``."""
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


def check_name(name: str) -> None:
    """Refuse what is no name of an event.

    Args:
        name: The name, with its provider.

    Raises:
        ValueError: It is none, or is kept for Vestige itself.
    """
    if not is_name(name):
        raise ValueError(
            f"{name!r} names no event: expected PROVIDER:EVENT of letters, digits, "
            f"'_', '.' and '-', at most {_LONGEST_NAME} characters"
        )
    if name.startswith(_OWN_PROVIDER):
        raise ValueError(f"{name!r}: {_OWN_PROVIDER}* are events of Vestige itself")


def _check_field(event: str, field: str, kind: type) -> None:
    if not _FIELD.fullmatch(field):
        raise ValueError(
            f"{event}: {field!r} names no field: expected letters, digits and '_'"
        )
    if kind not in FIELD_TYPES:
        expected = ", ".join(one.__name__ for one in FIELD_TYPES)
        raise ValueError(
            f"{event}: the field '{field}' is {kind!r}: expected one of {expected}"
        )


def _level(level: str | int) -> int:
    if isinstance(level, str):
        number = LOG_LEVELS.get(level.lower())
    else:
        number = level if level in LOG_LEVELS.values() else None
    if number is None:
        raise ValueError(
            f"no log level {level!r}: expected one of {', '.join(LOG_LEVELS)}"
        )
    return number
