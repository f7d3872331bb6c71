"""Functions of all kinds that record where they begin and end, at their own place."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

__all__ = ["decorated"]

_IS_GENERATOR, _IS_COROUTINE = 0x20, 0x80
_IS_ITERABLE_COROUTINE, _IS_ASYNC_GENERATOR = 0x100, 0x200
"""Flags of code objects, as :mod:`inspect` has them, which takes long to import."""

_Values = tuple[Any, ...]
_Named = dict[str, Any]
_Opening = Any
"""What the extension has for a span that has begun."""

_MISSING = object()


def decorated(
    span: Any,
    function: Callable[..., Any],
    parameters: tuple[tuple[str, int, bool], ...],
) -> Callable[..., Any]:
    """Return a function that does the same within a span.

    Args:
        span: The span, of the extension.
        function: The function, generator function, coroutine function, or both.
        parameters: Name and place of each that is recorded, and whether it may be given
            by its name.
    """
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    begin = _Beginning(span, function, parameters)
    if flags & _IS_ASYNC_GENERATOR:
        return functools.wraps(function)(_async_generator(begin, function))
    if flags & _IS_COROUTINE:
        return functools.wraps(function)(_coroutine(begin, function))
    if flags & _IS_GENERATOR:
        made = functools.wraps(function)(_generator(begin, function))
        return types.coroutine(made) if flags & _IS_ITERABLE_COROUTINE else made
    return functools.wraps(function)(_function(begin, function))


class _Beginning:
    # Begins the span for a call, if anybody wants it.

    def __init__(
        self,
        span: Any,
        function: Callable[..., Any],
        parameters: tuple[tuple[str, int, bool], ...],
    ) -> None:
        self._span = span
        self._open = span._open  # noqa: SLF001 - of the extension
        self._code = getattr(function, "__code__", None)
        self._function = function
        self._parameters = parameters

    def __call__(self, values: _Values, named: _Named) -> _Opening | None:
        """Return the opening; ``None`` when there is none."""
        if not self._span.is_wanted:
            return None
        if not self._parameters:
            return self._open(self._code)
        given = [self._value(values, named, one) for one in self._parameters]
        if _MISSING in map(_missing_or_not, given):
            # The call fails, and says why.
            return None
        return self._open(self._code, *given)

    def _value(
        self, values: _Values, named: _Named, parameter: tuple[str, int, bool]
    ) -> Any:
        name, place, by_name = parameter
        if 0 <= place < len(values):
            return values[place]
        if by_name and name in named:
            return named[name]
        function: Any = self._function
        if place < 0:
            return (function.__kwdefaults__ or {}).get(name, _MISSING)
        defaults = function.__defaults__ or ()
        index = place - function.__code__.co_argcount
        return defaults[index] if -len(defaults) <= index else _MISSING


def _missing_or_not(value: object) -> object:
    # To compare values of the program could run its code.
    return _MISSING if value is _MISSING else None


def _function(begin: _Beginning, function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*values: Any, **named: Any) -> Any:
        opening = begin(values, named)
        if opening is None:
            return function(*values, **named)
        with opening:
            return function(*values, **named)

    return called


def _coroutine(begin: _Beginning, function: Callable[..., Any]) -> Callable[..., Any]:
    async def awaited(*values: Any, **named: Any) -> Any:
        opening = begin(values, named)
        if opening is None:
            return await function(*values, **named)
        with opening:
            return await function(*values, **named)

    return awaited


def _generator(begin: _Beginning, function: Callable[..., Any]) -> Callable[..., Any]:
    # As "yield from" does it (PEP 380), but what runs while it waits is not within.
    def generated(*values: Any, **named: Any) -> Any:
        opening = begin(values, named)
        if opening is None:
            return (yield from function(*values, **named))
        with opening:
            generator = function(*values, **named)
            step, given = generator.send, None
            while True:
                try:
                    item = step(given)
                except StopIteration as stop:
                    return stop.value
                opening.suspend()
                try:
                    given = yield item
                    step = generator.send
                except GeneratorExit:
                    opening.resume()
                    generator.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - it is the generator's
                    step, given = generator.throw, error
                opening.resume()

    return generated


def _async_generator(
    begin: _Beginning, function: Callable[..., Any]
) -> Callable[..., Any]:
    async def generated(*values: Any, **named: Any) -> Any:
        opening = begin(values, named)
        if opening is None:
            opening = _NO_OPENING
        with opening:
            generator = function(*values, **named)
            step, given = generator.asend, None
            while True:
                try:
                    item = await step(given)
                except StopAsyncIteration:
                    return
                opening.suspend()
                try:
                    given = yield item
                    step = generator.asend
                except GeneratorExit:
                    opening.resume()
                    await generator.aclose()
                    raise
                except BaseException as error:  # noqa: BLE001 - it is the generator's
                    step, given = generator.athrow, error
                opening.resume()

    return generated


class _NoOpening:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *failure: object) -> None:
        pass

    def suspend(self) -> None:
        pass

    def resume(self) -> None:
        pass


_NO_OPENING = _NoOpening()
