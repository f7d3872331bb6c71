"""What :func:`contextlib.suppress` does, without importing :mod:`contextlib`.

That and what it imports take as long as a third of all modules of a recording. Type
checkers take it for the one of the library.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING

__all__ = ["suppress"]

if TYPE_CHECKING:
    from contextlib import suppress
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
