"""What all objects of traces have in common: their state, and who only reads it.

An object and its read-only view have one ``__dict__``: whoever builds something sees
and changes the same that others read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

__all__ = ["IrObject", "view_as"]

_T = TypeVar("_T")


class IrObject:
    """An object of a trace."""

    def __init__(self, **state: Any) -> None:
        for name, value in state.items():
            self.__dict__[f"_{name}"] = value

    @property
    def addr(self) -> int:
        """A number of its own among the objects that live."""
        return id(self.__dict__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IrObject) and self.__dict__ is other.__dict__

    def __hash__(self) -> int:
        return id(self.__dict__)

    def _of(self, name: str, default: Any = None) -> Any:
        """Return a part of the state."""
        return self.__dict__.get(f"_{name}", default)

    @property
    def user_attributes(self) -> Mapping[str, Any]:
        """What its maker added to it."""
        from .values.value import const_value  # noqa: PLC0415 - values need nothing of this

        return const_value(self._of("user_attributes") or {})  # type: ignore[no-any-return]


def view_as(kind: type[_T], one: Any) -> _T | None:
    """Return a view of an object.

    Args:
        kind: The class of the view.
        one: The object, or ``None``.
    """
    if one is None:
        return None
    if type(one) is kind:
        return one
    view = kind.__new__(kind)
    object.__setattr__(view, "__dict__", one.__dict__)
    return view
