"""What the kernel says of its events in their files ``format``."""

from __future__ import annotations

import re
from functools import cache

from ...._typing import NamedTuple

__all__ = ["EventFormat", "FieldFormat", "read_format"]

_ID = re.compile(r"^ID: (\d+)$", re.MULTILINE)
_FIELD = re.compile(
    r"^\tfield:([^;]+);\s*offset:(\d+);\s*size:(\d+);(?:\s*signed:(\d+);)?$",
    re.MULTILINE,
)
_DECLARATION = re.compile(r"(.*?)\s*\b(\w+)((?:\[[^\]]*\])*)$")
_OWN, _BEHIND = "\n\n", "\n\nprint fmt:"
"""What stands before an event's own fields, and behind them."""
COMMON = "common_"
"""How the names of fields begin that all events have."""


class FieldFormat(NamedTuple):
    """A field of an event."""

    name: str
    c_type: str
    """Its type, without the brackets of an array behind the name."""

    array: str
    """Those brackets; empty: it is none."""

    at: int
    """Bytes from the beginning of the record."""

    bytes: int
    is_signed: bool


class EventFormat(NamedTuple):
    """An event of the kernel."""

    system: str
    name: str
    id: int
    """Its number in this boot."""

    fields: tuple[FieldFormat, ...]
    """Its own fields, without the common ones."""

    def at(self, name: str) -> int | None:
        """Return where a field is; ``None``: it has no such field."""
        return next((one.at for one in self.fields if one.name == name), None)


def read_format(system: str, name: str, text: str) -> EventFormat:
    """Read a file ``format``.

    Args:
        system: The system of the event.
        name: Its name there.
        text: The file.

    Returns:
        What it says.

    Raises:
        ValueError: It is none.
    """
    number = _ID.search(text)
    if number is None:
        raise ValueError(f"{system}:{name}: its format has no ID")
    return EventFormat(system, name, int(number[1]), _fields(_told(text)))


def _told(text: str) -> str:
    """Return the part of a file that is of the event's own fields, as a rule."""
    begin = text.find(_OWN)
    end = text.find(_BEHIND, begin)
    return text if min(begin, end) < 0 else text[begin:end]


@cache
def _fields(text: str) -> tuple[FieldFormat, ...]:
    """Return the own fields of an event; half of all events have another's."""
    found = (_field(*one.groups()) for one in _FIELD.finditer(text))
    return tuple(one for one in found if not one.name.startswith(COMMON))


@cache
def _field(declaration: str, at: str, size: str, signed: str | None) -> FieldFormat:
    found = _DECLARATION.fullmatch(declaration.strip())
    if found is None:
        raise ValueError(f"{declaration}: no declaration of a field")
    c_type, name, array = found.groups()
    return FieldFormat(name, c_type, array, int(at), int(size), signed == "1")
