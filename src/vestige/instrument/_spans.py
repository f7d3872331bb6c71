"""Spans: an event where something begins, and another where it ends."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar, overload

from ._extension import native
from ._points import Tracepoint, tracepoint

__all__ = ["Span", "span"]

_IS_GENERATOR, _IS_COROUTINE = 0x20, 0x80
"""Flags of code objects, as :mod:`inspect` has them, which takes long to import."""

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
        fields: Those of the entry, as for :func:`tracepoint`.

    Returns:
        A context manager. Called with values for its fields, it is one with these;
        called with a function, it is a decorator.

    Raises:
        ValueError: As for :func:`tracepoint`.

    Example:
        >>> work = span("app:work", item=int)
        >>> with work(item=3):
        ...     pass
        >>> @span("app:save")
        ... def save(): ...
    """
    entry = tracepoint(f"{name}_entry", log_level, **fields)
    leaving = tracepoint(f"{name}_exit", log_level)
    if native is None:
        return _Nothing()
    return _made(entry, leaving)


class _Nothing:
    # A span where the extension cannot be loaded.
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        pass

    def __call__(self, *values: Any, **_named: Any) -> Any:
        return values[0] if len(values) == 1 and callable(values[0]) else self


def _made(entry: Tracepoint, leaving: Tracepoint) -> Span:
    made: Span = _span_class()(entry, leaving)
    return made


@functools.cache
def _span_class() -> Any:
    class NativeSpan(native.Span):  # type: ignore[misc] # known at run time only
        """A span in a program that may be recorded."""

        __slots__ = ()

        def __call__(self, *values: Any, **named: Any) -> Any:
            if len(values) == 1 and not named and callable(values[0]):
                return _over(self, values[0])
            return self._with(*values, **named)

    return NativeSpan


def _over(one: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that records where it begins and ends, at its own place."""
    code = getattr(function, "__code__", None)
    flags = getattr(code, "co_flags", 0)
    begin, end = one.entry.at, one.exit.at

    if flags & _IS_GENERATOR:

        @functools.wraps(function)
        def generated(*values: Any, **named: Any) -> Any:
            begin(code)
            try:
                return (yield from function(*values, **named))
            finally:
                end(code)

        return generated

    if flags & _IS_COROUTINE:

        @functools.wraps(function)
        async def awaited(*values: Any, **named: Any) -> Any:
            begin(code)
            try:
                return await function(*values, **named)
            finally:
                end(code)

        return awaited

    @functools.wraps(function)
    def called(*values: Any, **named: Any) -> Any:
        begin(code)
        try:
            return function(*values, **named)
        finally:
            end(code)

    return called
