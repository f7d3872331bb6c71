"""What modules need of :mod:`typing` while they run, without importing it.

That import takes as long as reading a small trace, and most of what it has is for type
checkers alone. These take each name here for the one of :mod:`typing`.
"""

from __future__ import annotations

__all__ = ["TYPE_CHECKING", "NamedTuple", "NewType", "Protocol", "cast"]

TYPE_CHECKING = False
"""What type checkers take for true: they know it by its name."""

if TYPE_CHECKING:
    from collections.abc import Callable
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

    from ._named_tuples import NamedTuple
