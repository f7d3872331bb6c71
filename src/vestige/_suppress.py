"""What :mod:`contextlib` is for, without importing it.

That and what it imports take as long as a third of all modules of a recording. Type
checkers take these for those of the library.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING

__all__ = ["ExitStack", "suppress"]

if TYPE_CHECKING:
    from contextlib import ExitStack, suppress
else:

    class suppress:  # noqa: N801 - as the one of the library
        """Ends the block at one of some errors, and goes on after it."""

        def __init__(self, *errors: type[BaseException]) -> None:
            self._errors = errors

        def __enter__(self) -> None:
            """Begin the block."""

        def __exit__(self, kind: object, _error: object, _traceback: object) -> bool:
            """Take the error, if it is one of them."""
            return kind is not None and issubclass(kind, self._errors)

    class ExitStack:
        """Calls what it was given, the last one first, at the end of the block."""

        def __init__(self) -> None:
            self._calls: list[tuple] = []

        def callback(self, function: object, *arguments: object) -> None:
            """Call a function at the end.

            Args:
                function: The function.
                arguments: What it gets.
            """
            self._calls.append((function, arguments))

        def __enter__(self) -> ExitStack:  # noqa: PYI034 - it is itself
            """Begin the block."""
            return self

        def __exit__(self, *_: object) -> None:
            """Call all of them, whatever some of them raise."""
            while self._calls:
                function, arguments = self._calls.pop()
                try:
                    function(*arguments)
                except BaseException:
                    self.__exit__()
                    raise
