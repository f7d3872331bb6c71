"""Field classes that components make, as those of CTF 2.

What has no length or selector of its own there gets one that nobody is shown.
"""

from __future__ import annotations

import sys
from typing import Any

from ....errors import GraphError
from . import made_field_classes as classes

__all__ = ["Scope"]

HIDDEN = {"vestige:hidden": True}
_ORDER = "little-endian" if sys.byteorder == "little" else "big-endian"
_BYTE = {"length": 8, "alignment": 8, "byte-order": _ORDER}

Json = dict[str, Any]


class Scope:
    """A part of what is encoded, and where those before it have which fields.

    Args:
        origin: Its name in field locations.
        places: Where the fields of other parts are, by their classes.
    """

    def __init__(self, origin: str, places: dict[int, Json] | None = None) -> None:
        self._origin = origin
        self._places = places or {}
        self._first = 0

    def behind(self, origin: str) -> Scope:
        """Return a part that comes later.

        Args:
            origin: Its name in field locations.
        """
        return Scope(origin, dict(self._places))

    def structure(self, field_class: Any, first: int = 0) -> Json | None:
        """Return the structure of this part.

        Args:
            field_class: Its class; ``None`` if it has none.
            first: The number of members that come before its own.
        """
        self._first = first
        return None if field_class is None else self._structure(field_class, ())

    def _structure(self, field_class: Any, path: tuple[str, ...] | None) -> Json:
        members: list[Json] = []
        for member in field_class._members:
            name = member._name
            below = None if path is None else (*path, name)
            hidden: list[Json] = []
            lowered = self._lowered(member._field_class, below, hidden, name)
            members += hidden
            member._index = self._first + len(members) if not path else len(members)
            members.append({"name": name, "field-class": lowered})
            if below is not None:
                location = {"origin": self._origin, "path": [*below]}
                self._places[id(member._field_class)] = location
        return {"type": "structure", "member-classes": members}

    def _lowered(
        self,
        field_class: Any,
        path: tuple[str, ...] | None,
        hidden: list[Json] | None,
        name: str,
    ) -> Json:
        """Return a class; what it needs before it is added to ``hidden``."""
        match field_class:
            case classes._StructureFieldClass():
                return self._structure(field_class, path)
            case classes._StaticArrayFieldClass():
                element = self._element(field_class, name)
                kind = "static-length-array"
                length = field_class._of("length")
                return {
                    "type": kind,
                    "length": length,
                    "element-field-class": element,
                }
            case classes._DynamicArrayFieldClass():
                given = field_class._of("selector")
                return {
                    "type": "dynamic-length-array",
                    "length-field-location": self._location(
                        given, hidden, f"{name} length", _integer(64)
                    ),
                    "element-field-class": self._element(field_class, name),
                }
            case classes._OptionFieldClass():
                return self._option(field_class, hidden, name)
            case classes._VariantFieldClass():
                return self._variant(field_class, hidden, name)
            case _:
                return _leaf(field_class)

    def _element(self, field_class: Any, name: str) -> Json:
        return self._lowered(field_class._element_field_class, None, None, name)

    def _location(
        self, given: Any, hidden: list[Json] | None, name: str, made: Json
    ) -> Json:
        if given is not None:
            if id(given) not in self._places:
                raise GraphError(f"the length or selector of '{name}' is not before it")
            return self._places[id(given)]
        if hidden is None:
            raise GraphError(
                f"'{name}': an array, option or variant without a length or selector "
                "field cannot stand in another one; put it into a structure"
            )
        hidden.append({"name": name, "field-class": made, "attributes": HIDDEN})
        return {"path": [name]}

    def _option(self, field_class: Any, hidden: list[Json] | None, name: str) -> Json:
        selector = field_class._of("selector")
        if field_class._of("selector_is_reversed"):
            selector = None
        boolean = {"type": "fixed-length-boolean", **_BYTE}
        found: Json = {
            "type": "optional",
            "selector-field-location": self._location(
                selector, hidden, f"{name} is there", boolean
            ),
            "field-class": self._lowered(
                field_class._field_class, None, hidden, f"{name} field"
            ),
        }
        ranges = field_class._of("ranges")
        if ranges is not None:
            found["selector-field-ranges"] = [[*pair] for pair in ranges]
        return found

    def _variant(self, field_class: Any, hidden: list[Json] | None, name: str) -> Json:
        selector = field_class._selector
        location = self._location(selector, hidden, f"{name} option", _integer(16))
        options = []
        for index, option in enumerate(field_class._options):
            ranges = [(index, index)]
            if selector is not None:
                ranges = option._ranges
            options.append(
                {
                    "name": option._name,
                    "field-class": self._lowered(
                        option._field_class, None, None, f"{name}.{option._name}"
                    ),
                    "selector-field-ranges": [[*pair] for pair in ranges],
                }
            )
        return {
            "type": "variant",
            "selector-field-location": location,
            "options": options,
        }


def _integer(size: int) -> Json:
    return {
        "type": "fixed-length-unsigned-integer",
        **_BYTE,
        "length": size,
    }


def _leaf(field_class: Any) -> Json:
    match field_class:
        case classes._BoolFieldClass():
            return {"type": "fixed-length-boolean", **_BYTE}
        case classes._BitArrayFieldClass():
            return {
                "type": "fixed-length-bit-array",
                **_BYTE,
                "length": field_class._of("length"),
            }
        case classes._IntegerFieldClass():
            return _number(field_class)
        case classes._RealFieldClass():
            return {
                "type": "fixed-length-floating-point-number",
                **_BYTE,
                "length": field_class._size,
            }
        case classes._StringFieldClass():
            return {"type": "null-terminated-string"}
    raise GraphError(f"{type(field_class).__name__} is no field class")


def _number(field_class: Any) -> Json:
    sign = "signed" if field_class._is_signed else "unsigned"
    found = {
        "type": f"fixed-length-{sign}-integer",
        **_BYTE,
        "length": field_class._field_value_range,
        "preferred-display-base": field_class._preferred_display_base,
    }
    if (
        isinstance(field_class, classes._EnumerationFieldClass)
        and field_class._mappings
    ):
        found["mappings"] = {
            label: [[*pair] for pair in ranges]
            for label, ranges in field_class._mappings.items()
        }
    return found
