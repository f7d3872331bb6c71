"""Values of probes as the tracer takes them."""

from __future__ import annotations

import struct

from ...._typing import NamedTuple
from ..._agreement import PROBE_PLACES, PROBE_TYPES, PROBE_VALUE_FORMAT
from ...rules.probes import GENERAL, ProbeType, ProbeValue
from .calling_convention import VECTORS

__all__ = ["PlacedValue", "placed"]

_PLACES = {name: number for number, name in PROBE_PLACES.items()}
_TYPES = {name: number for number, name in PROBE_TYPES.items()}
_KINDS = {
    "int": "SIGNED",
    "uint": "UNSIGNED",
    "bool": "UNSIGNED",
    "ptr": "POINTER",
    "float": "FLOAT",
    "str": "TEXT",
}
_NOT_KEPT = {3, 7}
"""General registers with a value that is not copied: rbx and rsp."""
_SIZES = {1, 2, 4, 8}
_FLOATS = {4, 8}
_VALUE = struct.Struct("=" + PROBE_VALUE_FORMAT)

Row = tuple[str, tuple[str, int], str, int]
"""A parameter, as the core describes it."""


class PlacedValue(NamedTuple):
    """A value and where it is."""

    name: str
    type: ProbeType
    place: str
    """One of the names of ``probe_place``."""

    number: int = 0
    """Of a register."""

    offset: int = 0
    """On the stack, or what a constant is."""

    def to_bytes(self) -> bytes:
        """Return it as the tracer reads it."""
        kind = _TYPES[_KINDS[self.type.kind]]
        place = _PLACES[self.place]
        name = self.name.encode()
        return _VALUE.pack(
            place, kind, self.type.size, self.number, 0, self.offset, name
        )

    @classmethod
    def written(cls, value: ProbeValue) -> PlacedValue:
        """Take a value whose place and type were written down.

        Args:
            value: The value.

        Returns:
            The same.
        """
        kind = value.type or ProbeType("ptr", 8)
        if value.place.startswith("stack+"):
            return cls(value.name, kind, "STACK", 0, int(value.place[6:]))
        if value.place.startswith("xmm"):
            return cls(value.name, kind, "VECTOR", int(value.place[3:]))
        return cls(value.name, kind, "REGISTER", GENERAL.index(value.place))

    @classmethod
    def result(
        cls, value: ProbeValue, described: tuple[str, int] | None
    ) -> PlacedValue | str:
        """Take what a function returns.

        Args:
            value: What was asked for.
            described: The type of the result, if debug information has one.

        Returns:
            The value; otherwise why it cannot be recorded.
        """
        kind = value.type or _recordable(described or ("other", 0))
        if kind is None:
            return "is of a type that cannot be recorded"
        return cls(value.name, kind, "RESULT")


def placed(
    name: str, row: Row, conventional: str | int | None, wanted: ProbeType | None
) -> PlacedValue | str:
    """Find out where a parameter is.

    Args:
        name: Its name.
        row: What debug information says of it.
        conventional: Where the calling convention has it.
        wanted: The type that was asked for; ``None``: that of the parameter.

    Returns:
        The value; otherwise why it cannot be recorded.
    """
    _, described, place, number = row
    kind = wanted or _recordable(described)
    if kind is None:
        return "is of a type that cannot be recorded"
    if place == "conventional":
        if conventional is None:
            return "is where a structure before it leaves room, which is not known"
        is_there = isinstance(conventional, int)
        place = "register" if is_there else "frame"
        number = int(str(conventional).removeprefix("stack+"))
    found = _PLACES_OF.get(place, _nowhere)(number)
    if isinstance(found, str):
        return found
    return PlacedValue(name, kind, *found)


def _register(number: int) -> tuple[str, int, int] | str:
    if number in VECTORS:
        return "VECTOR", number - VECTORS[0], 0
    if number < len(GENERAL) and number not in _NOT_KEPT:
        return "REGISTER", number, 0
    return "is in a register that is not kept"


def _frame(offset: int) -> tuple[str, int, int] | str:
    # Below the return address are no arguments.
    return ("STACK", 0, offset) if offset >= 0 else "is nowhere at the entry"


def _constant(value: int) -> tuple[str, int, int] | str:
    return "NOTHING", 0, value


def _missing(_: int) -> tuple[str, int, int] | str:
    return "was optimized out"


def _nowhere(_: int) -> tuple[str, int, int] | str:
    return "is in several parts"


_PLACES_OF = {
    "register": _register,
    "frame": _frame,
    "constant": _constant,
    "missing": _missing,
}


def _recordable(described: tuple[str, int]) -> ProbeType | None:
    kind, size = described
    if kind not in _KINDS or size not in _SIZES:
        return None
    if kind == "float" and size not in _FLOATS:
        return None
    return ProbeType("uint" if kind == "bool" else kind, size)
