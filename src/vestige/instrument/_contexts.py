"""Contexts of the program: ``$app.PROVIDER:TYPE`` in filters and in records."""

from __future__ import annotations

from contextvars import ContextVar

from ._extension import native
from ._points import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:  # To import it takes longer than all else in recorded programs.
    from types import TracebackType

    Value = str | int | float | None

__all__ = ["Context", "context"]

_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1
_LONGEST_NAME = 250
"""With its prefix it is as long as LTTng lets names be."""


class Context:
    """Something that the program knows of what it does: whose request it serves.

    Each thread and each asyncio task has a value of its own, as in :mod:`contextvars`.
    """

    def __init__(self, name: str) -> None:
        """Use :func:`context`, which makes one for each name."""
        self._name = name
        self._variable: ContextVar[Value] = ContextVar(name, default=None)
        self._is_added = native is not None and bool(
            native.add_context(name, self._variable)
        )

    @property
    def name(self) -> str:
        """``PROVIDER:TYPE``: rules and recordings call it ``$app.PROVIDER:TYPE``."""
        return self._name

    @property
    def value(self) -> Value:
        """What it is now, here."""
        return self._variable.get()

    def set(self, value: Value) -> None:
        """Set it, until it is set again.

        Args:
            value: A text, of which up to 255 bytes are recorded and nothing after a
                zero; a number; or ``None`` for nothing.

        Raises:
            TypeError: It is something else.
            OverflowError: It is a whole number beyond 64 bits.
        """
        self._check(value)
        self._variable.set(value)
        if self._is_added:
            native.read_contexts()

    def __call__(self, value: Value) -> _Within:
        """Set it within a ``with`` statement; see :meth:`set`."""
        self._check(value)
        return _Within(self, value)

    def __repr__(self) -> str:
        """Say what it is called, and what it is."""
        return f"<context $app.{self._name}: {self.value!r}>"

    def _check(self, value: Value) -> None:
        if isinstance(value, int):
            if not _SMALLEST <= value <= _LARGEST:
                raise OverflowError(f"$app.{self._name}: {value} has more than 64 bits")
        elif value is not None and not isinstance(value, (str, float)):
            raise TypeError(
                f"$app.{self._name}: expected str, int, float or None, "
                f"not {type(value).__name__}"
            )


class _Within:
    # A value for as long as a `with` statement takes.

    def __init__(self, whose: Context, value: Value) -> None:
        self._whose = whose
        self._value = value
        self._former: list[Value] = []

    def __enter__(self) -> Context:
        self._former.append(self._whose.value)
        self._whose.set(self._value)
        return self._whose

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._whose.set(self._former.pop())


_contexts: dict[str, Context] = {}


def context(name: str) -> Context:
    """Define a context, which rules can ask for and records can have.

    Args:
        name: ``PROVIDER:TYPE``, at most 250 characters.

    Returns:
        What holds its value; the same one again for the same name. Up to 16 are seen
        by a recorder.

    Raises:
        ValueError: It is no such name.

    Example:
        >>> user = context("shop:user")
        >>> with user("ada"):
        ...     pass
    """
    if not is_name(name) or len(name) > _LONGEST_NAME:
        raise ValueError(
            f"{name!r} names no context: expected PROVIDER:TYPE of letters, digits, "
            f"'_', '.' and '-', at most {_LONGEST_NAME} characters"
        )
    found = _contexts.get(name)
    if found is None:
        found = _contexts[name] = Context(name)
    return found
