"""Names of the functions of a fold, of which the core knows addresses alone."""

from __future__ import annotations

from collections.abc import Mapping as Fields
from collections.abc import Sequence
from dataclasses import replace

from .. import core
from .._typing import Protocol
from ..debuginfo import Mapping, Place, Resolver, Unresolved
from ..units import Address
from .function_names import without_appended
from .functions import Function
from .place_names import function_name

__all__ = ["SeenFunctions", "named_functions"]


class SeenFunctions(Protocol):
    """What is known of functions before they have names."""

    @property
    def functions(self) -> Sequence[tuple[int, int, int]]:
        """Process space, process and address of each function of the fold."""

    @property
    def mappings(self) -> Sequence[Mapping | Unresolved]:
        """The object at each of them, when it was seen first."""

    @property
    def called(self) -> Fields[tuple[str, bytes | None, int], str]:
        """Names by which functions are called: object, build ID, and where in it."""


def _called_name(
    seen: SeenFunctions, mapping: Mapping, address: int, place: Place | Unresolved
) -> str | None:
    """Return the name by which a function of a library is called, if symbols differ."""
    where = (mapping.path, mapping.build_id, address - mapping.base)
    name = seen.called.get(where)
    if name is None:
        return None
    if not isinstance(place, Unresolved) and name in {
        place.function,
        place.linkage_name,
    }:
        return None
    return core.demangle(name) or name


def named_functions(seen: SeenFunctions, resolver: Resolver) -> list[Function]:
    """Name the functions; the same one has the same object, whatever its address.

    Args:
        seen: What was seen of them.
        resolver: Looks addresses up in object and debug files.
    """
    addresses = [Address(address) for _, _, address in seen.functions]
    places = resolver.resolve_many(zip(seen.mappings, addresses, strict=True))
    known: dict[tuple[object, ...], Function] = {}
    functions: list[Function] = []
    folded = _Clones()
    rows = zip(seen.functions, seen.mappings, places, strict=True)
    for (space, vpid, address), mapping, place in rows:
        if isinstance(mapping, Unresolved):
            key: tuple[object, ...] = (space, vpid, address)
        else:
            offset = address - mapping.base
            key = (mapping.path, mapping.build_id, mapping.code, offset)
        function = known.get(key)
        if function is None:
            name = function_name(place, address)
            if not isinstance(mapping, Unresolved):
                name = _called_name(seen, mapping, address, place) or name
            function = known[key] = Function(name, place, Address(address))
            folded.add(key[:2], function)
        functions.append(function)
    return [folded.original(one) for one in functions]


class _Clones:
    """Copies and parts that compilers made of functions, by what they are of."""

    def __init__(self) -> None:
        self._originals: dict[tuple[object, ...], Function | None] = {}
        self._clones: dict[Function, tuple[object, ...]] = {}

    def add(self, where: tuple[object, ...], function: Function) -> None:
        """Take a function into account.

        Args:
            where: The object that it is in.
            function: The function.
        """
        name = without_appended(function.name)
        key = (*where, name)
        if name != function.name:
            self._clones[function] = key
        else:
            # Of two functions of one name, nobody knows whose a copy is.
            self._originals[key] = None if key in self._originals else function

    def original(self, function: Function) -> Function:
        """Return what a function is a copy of; itself if it is none."""
        key = self._clones.get(function)
        if key is None:
            return function
        found = self._originals.get(key)
        if found is None:
            found = replace(function, name=str(key[-1]))
            self._originals.setdefault(key, found)
            self._clones[function] = key
        return found
