"""What modules need of :mod:`typing` while they run, without importing it.

That import takes as long as reading a small trace, and most of what it has is for type
checkers alone. These take each name here for the one of :mod:`typing`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable

__all__ = ["TYPE_CHECKING", "NamedTuple", "NewType", "Protocol", "cast"]

TYPE_CHECKING = False
"""What type checkers take for true: they know it by its name."""

if TYPE_CHECKING:
    from typing import NamedTuple, NewType, Protocol, cast
else:

    def cast(_kind: object, value: object) -> object:
        """Return a value; type checkers take it to be of that kind."""
        return value

    def NewType(name: str, _kind: type) -> Callable[[object], object]:  # noqa: N802
        """Return what tells type checkers the type of a value, and leaves it alone."""

        def same(value: object) -> object:
            return value

        same.__name__ = same.__qualname__ = name
        return same

    class Protocol:
        """The base of classes that say what others have, and do nothing."""

    class _NamedTupleMaker(type):
        """Makes a named tuple of the body of a class.

        The one of :mod:`typing` also compiles each annotation, which takes longer than
        all the rest. Nobody evaluates them: they stay the text that they are.
        """

        def __new__(
            cls, name: str, bases: tuple[type, ...], namespace: dict[str, object]
        ) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = namespace["__annotations__"]
            made = namedtuple(  # noqa: PYI024 - this is what makes the typed ones
                name,
                fields,
                defaults=[namespace[one] for one in fields if one in namespace],
                module=namespace["__module__"],
            )
            for key, value in namespace.items():
                if key not in fields:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_NamedTupleMaker):
        """The base of named tuples; a class has no other base beside it."""
