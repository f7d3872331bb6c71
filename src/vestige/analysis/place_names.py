"""Naming functions by their places."""

from __future__ import annotations

from ..debuginfo import Mapping, Place, Unresolved
from ..units import Address
from .functions import Function

__all__ = ["code_mapping", "function_at", "function_name", "place_name"]


def code_mapping(row: tuple[int, int, str, str, int]) -> Mapping:
    """Return a code object as :class:`vestige.core.CallFold` tells of it.

    Args:
        row: First address, number of addresses, source file, function, first line.
    """
    base, size, path, function, line = row
    return Mapping(Address(base), size, path, is_pic=True, code=(function, line))


def place_name(place: Place | Unresolved, address: int) -> str:
    """Return the name of what is at an address, as well as it is known.

    Args:
        place: What was found there.
        address: The address.
    """
    if isinstance(place, Unresolved):
        return f"0x{address:x}"
    if place.function is None:
        name = place.binary.mapping.path.rpartition("/")[2]
        return f"{name}+0x{place.binary.offset:x}"
    return f"{place.function}+0x{place.offset:x}" if place.offset else place.function


def function_name(place: Place | Unresolved, address: int) -> str:
    """Return the name of the function that begins at an address.

    Args:
        place: What was found there. What begins within another function, as tables have
            it, has no name: symbols of the rest were taken away.
        address: The address.
    """
    if isinstance(place, Unresolved) or not place.offset or place.binary.mapping.code:
        return place_name(place, address)
    name = place.binary.mapping.path.rpartition("/")[2]
    return f"{name}+0x{place.binary.offset:x}"


def function_at(place: Place | Unresolved, address: int) -> Function:
    """Return a function, or the line of one, at an address.

    Args:
        place: What was found there.
        address: The address.
    """
    return Function(place_name(place, address), place, Address(address))
