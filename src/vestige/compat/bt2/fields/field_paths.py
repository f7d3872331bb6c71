"""Where the field is that tells a length or selects something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["FieldPathScope", "resolve_paths"]


class FieldPathScope:
    """Parts of events and packets in which a path begins."""

    PACKET_CONTEXT = 0
    EVENT_COMMON_CONTEXT = 1
    EVENT_SPECIFIC_CONTEXT = 2
    EVENT_PAYLOAD = 3


class _FieldPathItem:
    """A step of a path."""


class _IndexFieldPathItem(_FieldPathItem):
    """A member of a structure, or an option of a variant.

    Args:
        index: Its index.
    """

    def __init__(self, index: int) -> None:
        self._index = index

    @property
    def index(self) -> int:
        """Its index."""
        return self._index


class _CurrentArrayElementFieldPathItem(_FieldPathItem):
    """The element of an array in which the field is that asks."""


class _CurrentOptionContentFieldPathItem(_FieldPathItem):
    """What is in the option in which the field is that asks."""


class _FieldPathConst(Sequence[_FieldPathItem]):
    """The way to a field.

    Args:
        scope: Where it begins.
        items: Its steps.
    """

    def __init__(self, scope: int, items: Sequence[_FieldPathItem]) -> None:
        self._scope = scope
        self._items = items

    @property
    def root_scope(self) -> int:
        """Where it begins."""
        return self._scope

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]


Scope = tuple[int, Any]
"""A part and its structure, or ``None``."""
_Items = tuple[_FieldPathItem, ...]
_Node = tuple[Any, _Items, "tuple[tuple[Any, _Items], ...]"]
# A field class, the way to it, and the structures around it with the ways to these.

_ROOTS = {
    "stream.packet.context.": FieldPathScope.PACKET_CONTEXT,
    "stream.event.context.": FieldPathScope.EVENT_COMMON_CONTEXT,
    "event.context.": FieldPathScope.EVENT_SPECIFIC_CONTEXT,
    "event.fields.": FieldPathScope.EVENT_PAYLOAD,
}
"""How names begin in metadata that say where a path begins."""


def resolve_paths(scopes: Sequence[Scope], first: int = 0) -> None:
    """Find the fields that tell lengths or select something.

    What a script makes refers to the class of such a field (``_selector``), metadata to
    its name (``_selector_name``).

    Args:
        scopes: The parts, in the order in which they are read.
        first: The index of the first one whose classes need their paths.
    """
    places: dict[int, _FieldPathConst] = {}
    for number, (scope, structure) in enumerate(scopes[first:], first):
        for field_class, _, around in _walk(structure):
            selector = field_class._of("selector")
            name = field_class._of("selector_name")
            path = None
            if selector is not None:
                places = places or {
                    id(one.__dict__): _FieldPathConst(there, items)
                    for there, part in scopes
                    for one, items, _ in _walk(part)
                }
                path = places.get(id(selector.__dict__))
            elif name is not None:
                path = _named(scopes[:number], (scope, around), name)
            if path is not None:
                field_class.__dict__["_selector_field_path"] = path


def _walk(
    field_class: Any, items: _Items = (), around: tuple[Any, ...] = ()
) -> Iterator[_Node]:
    """Go through a class and all that are in it."""
    if field_class is None:
        return
    yield field_class, items, around
    parts = field_class._of("members")
    if parts is not None:
        around = (*around, (field_class, items))
    for index, part in enumerate(parts or field_class._of("options") or ()):
        step = _IndexFieldPathItem(index)
        yield from _walk(part._field_class, (*items, step), around)
    for name, kind in (
        ("element_field_class", _CurrentArrayElementFieldPathItem),
        ("field_class", _CurrentOptionContentFieldPathItem),
    ):
        inner = field_class._of(name)
        if inner is not None:
            yield from _walk(inner, (*items, kind()), around)


def _named(
    before: Sequence[Scope], here: tuple[int, Any], name: str
) -> _FieldPathConst | None:
    """Look for a name: in the structures around, then in the parts before."""
    scope, around = here
    outer = (around[0][0] if around else None, ())
    for root, there in _ROOTS.items():
        if name.startswith(root):
            rest = name.removeprefix(root)
            found = dict([*before, (scope, outer[0])]).get(there)
            return _descended(there, found, (), rest)
    for structure, items in reversed(around):
        path = _descended(scope, structure, items, name)
        if path is not None:
            return path
    for there, structure in reversed(before):
        path = _descended(there, structure, (), name)
        if path is not None:
            return path
    return None


def _descended(
    scope: int, structure: Any, items: _Items, name: str
) -> _FieldPathConst | None:
    """Follow a name through structures."""
    for part in name.split("."):
        members = () if structure is None else structure._of("members") or ()
        for index, member in enumerate(members):
            # TSDL puts an underscore before names that are none of it.
            if part in {member._name, f"_{member._name}"}:
                items = (*items, _IndexFieldPathItem(index))
                structure = member._field_class
                break
        else:
            return None
    return _FieldPathConst(scope, items)
