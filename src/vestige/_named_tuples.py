"""Named tuples as :class:`typing.NamedTuple` makes them, without its import.

:mod:`typing` and :mod:`collections`, which makes them there, take longer to import than
small programs run, and each class is compiled when it is defined. Here a class is
compiled when it has several instances: most of those that a command imports have one or
none. Type checkers take it for the one of :mod:`typing`.
"""

from __future__ import annotations

from _collections import _tuplegetter  # type: ignore[import-not-found]

__all__ = ["NamedTuple"]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

_WORTH_COMPILING = 4
"""Instances of a class after which it is compiled, which takes as long as some 50."""


class _Signature:
    """Tells :mod:`inspect` the arguments of a class; nobody else needs them."""

    def __get__(self, _instance: object, owner: Any) -> object:
        from inspect import signature  # noqa: PLC0415 - see above

        whole = signature(_compiled(owner))
        return whole.replace(parameters=[*whole.parameters.values()][1:])


def _compiled(owner: Any) -> Any:
    """Return the function that makes instances, with all its arguments."""
    names = ", ".join(owner._fields)
    made = eval(  # noqa: S307 - names that Python has accepted
        f"lambda _cls, {names}: _new(_cls, ({names},))",
        {"_new": tuple.__new__, "__builtins__": {}, "__name__": owner.__module__},
    )
    made.__defaults__ = tuple(owner._field_defaults.values())
    made.__name__ = "__new__"
    made.__qualname__ = f"{owner.__name__}.__new__"
    return made


def _maker(fields: tuple[str, ...], defaults: dict[str, object]) -> Any:
    """Return the function that makes the first instances of a class.

    It replaces itself with one that is compiled: for more of them, and where arguments
    are wrong, so that the error is the usual one.
    """
    left = _WORTH_COMPILING

    def __new__(cls: Any, *values: object, **named: object) -> Any:  # noqa: N807
        nonlocal left
        left -= 1
        known = {**defaults, **named}
        rest = fields[len(values) :]
        if left >= 0 and len(values) <= len(fields) and not named.keys() - {*rest}:
            try:
                return tuple.__new__(cls, (*values, *[known[name] for name in rest]))
            except KeyError:
                # One is missing.
                pass
        owner = next(one for one in cls.__mro__ if "_fields" in vars(one))
        owner.__new__ = _compiled(owner)
        return owner.__new__(cls, *values, **named)

    return __new__


def _make(cls: Any, values: Any) -> Any:
    """Make a new one from a sequence or iterable."""
    made: Any = tuple.__new__(cls, values)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _replace(self: Any, /, **changes: object) -> Any:
    """Return a copy with other values in some fields."""
    values = [*map(changes.pop, self._fields, self)]
    if changes:
        raise ValueError(f"Got unexpected field names: {[*changes]!r}")
    return self._make(values)


def _as_dict(self: Any) -> dict[str, object]:
    """Return a dictionary of the fields and their values."""
    return dict(zip(self._fields, self, strict=True))


def _text(self: Any) -> str:
    """Return it as it would be written."""
    fields = zip(self._fields, self, strict=True)
    words = ", ".join(f"{name}={value!r}" for name, value in fields)
    return f"{type(self).__name__}({words})"


def _arguments(self: Any) -> tuple[object, ...]:
    """Return the values, for :mod:`copy` and :mod:`pickle`."""
    return tuple(self)


class _NamedTupleMaker(type):
    """Makes a named tuple of the body of a class."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
    ) -> type:
        if not bases:
            return super().__new__(cls, name, bases, namespace)
        fields: tuple[str, ...] = tuple(namespace["__annotations__"])
        defaults = {one: namespace[one] for one in fields if one in namespace}
        if fields[len(fields) - len(defaults) :] != tuple(defaults):
            raise TypeError(f"{name}: a field without a default follows one with it")
        body = {
            "__doc__": f"{name}({', '.join(fields)})",
            "__new__": _maker(fields, defaults),
            "__getnewargs__": _arguments,
            "__match_args__": fields,
            "__replace__": _replace,
            "__repr__": _text,
            "__signature__": _Signature(),
            "__slots__": (),
            "_asdict": _as_dict,
            "_field_defaults": defaults,
            "_fields": fields,
            "_make": classmethod(_make),
            "_replace": _replace,
            **namespace,
        }
        for place, one in enumerate(fields):
            body[one] = _tuplegetter(place, f"Alias for field number {place}")
        return type(name, (tuple,), body)


class NamedTuple(metaclass=_NamedTupleMaker):
    """The base of named tuples; a class has no other base beside it."""
