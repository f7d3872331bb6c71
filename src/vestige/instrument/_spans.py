"""Spans: an event where something begins, and another where it ends."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar, overload

from ._extension import native
from ._points import Tracepoint, check_name, is_strict, tracepoint

__all__ = ["Span", "span"]

_OWN_FIELDS: dict[str, type] = {"span_id": int, "parent_id": int, "task": str}
"""What each entry has before the fields of the program."""
_EXIT_FIELDS: dict[str, type] = {"span_id": int, "error": str, "waited": int}
"""What each exit has."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Span(Protocol):
    """Something that begins and ends: for a ``with`` statement, or over a function."""

    def __enter__(self) -> Self:
        """Record the entry."""

    def __exit__(self, *failure: object) -> None:
        """Record the exit, also after an exception."""

    @overload
    def __call__(self, function: _Function, /) -> _Function: ...
    @overload
    def __call__(self, /, *values: Any, **named: Any) -> Self: ...


def span(name: str, log_level: str | int = "debug_line", /, **fields: type) -> Span:
    """Define the two events of something that begins and ends.

    Args:
        name: ``PROVIDER:EVENT``; the events are ``PROVIDER:EVENT_entry`` and ``_exit``.
        log_level: As for :func:`tracepoint`.
        fields: Those of the entry, as for :func:`tracepoint`. Before them, each entry
            has ``span_id``, a number; ``parent_id``, that of the span around it in the
            same task or thread, or 0; and ``task``, the name of the asyncio task.
            The exit has ``span_id``; ``error``, the type of the exception that ended
            the span, or nothing; and ``waited``, how long a decorated generator
            waited for its caller, nanoseconds.

    Returns:
        A context manager. Called with values for its fields, it is one with these;
        called with a function, it is a decorator. Over a function, the fields are the
        parameters of the same names, unless values are given.

    Raises:
        ValueError: As for :func:`tracepoint`; a field has the name of one of the
            span's own; or, when a function is decorated, a field has the name of none
            of its parameters.

    Example:
        >>> work = span("app:work", item=int)
        >>> with work(item=3):
        ...     pass
        >>> @span("app:save", path=str)
        ... def save(path): ...
    """
    # The names of its events have more in them, which nobody wrote.
    check_name(name)
    for field in fields:
        if field in _OWN_FIELDS:
            raise ValueError(f"{name}: each span has a field '{field}' of its own")
    entry = tracepoint(f"{name}_entry", log_level, **_OWN_FIELDS, **fields)
    leaving = tracepoint(f"{name}_exit", log_level, **_EXIT_FIELDS)
    if native is None:
        return _Nothing(entry, tuple(fields))
    made: Span = _span_class()(entry, leaving)
    return made


class _Nothing:
    # A span where the extension cannot be loaded.

    def __init__(
        self, entry: Tracepoint, fields: tuple[str, ...], *, has_values: bool = False
    ) -> None:
        self._entry = entry
        self._fields = fields
        self._has_values = has_values

    def __enter__(self) -> Self:
        if self._fields and not self._has_values:
            self._check()
        return self

    def __exit__(self, *failure: object) -> None:
        pass

    def __call__(self, *values: Any, **named: Any) -> Any:
        if _is_decorated(values, named):
            if self._fields and not self._has_values:
                _parameters(self._entry.name, self._fields, values[0])
            return values[0]
        self._check(*values, **named)
        return type(self)(self._entry, self._fields, has_values=True)

    def _check(self, *values: Any, **named: Any) -> None:
        if is_strict():
            self._entry(0, 0, "", *values, **named)


@functools.cache
def _span_class() -> Any:
    class NativeSpan(native.Span):  # type: ignore[misc] # known at run time only
        """A span in a program that may be recorded."""

        __slots__ = ()

        def __call__(self, *values: Any, **named: Any) -> Any:
            if not _is_decorated(values, named):
                return self._with(*values, **named)
            from ._decorator import decorated  # noqa: PLC0415 - not all need it

            fields = () if self.has_values else tuple(self.entry.fields)[3:]
            bound = _parameters(self.entry.name, fields, values[0])
            return decorated(self, values[0], bound)

    return NativeSpan


def _is_decorated(values: tuple[Any, ...], named: dict[str, Any]) -> bool:
    return len(values) == 1 and not named and callable(values[0])


def _parameters(
    entry: str, fields: tuple[str, ...], function: Callable[..., Any]
) -> tuple[tuple[str, int, bool], ...]:
    """Find the parameters that are recorded.

    Args:
        entry: The name of the event.
        fields: Its fields.
        function: What is decorated.

    Returns:
        Name, place and whether it can be given by its name, of each.

    Raises:
        ValueError: A field has the name of no parameter.
    """
    code = getattr(function, "__code__", None)
    count = getattr(code, "co_argcount", 0)
    names = getattr(code, "co_varnames", ())
    named_only = names[count : count + getattr(code, "co_kwonlyargcount", 0)]
    found = []
    for field in fields:
        if field in names[:count]:
            place = names.index(field)
            found.append((field, place, place >= code.co_posonlyargcount))  # type: ignore[union-attr] # it has names
        elif field in named_only:
            found.append((field, -1, True))
        else:
            which = getattr(function, "__qualname__", repr(function))
            raise ValueError(
                f"{entry.removesuffix('_entry')}: no parameter of {which}() has the "
                f"name '{field}': give its value as in @work({field}=...), or rename it"
            )
    return tuple(found)
