"""What ``VESTIGE_STRICT=1`` refuses where the extension cannot be loaded.

The extension has the same rules, for all other programs.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["check"]

_LIMIT = 1 << 63


def check(
    name: str,
    fields: Mapping[str, str],
    values: Sequence[Any],
    named: Mapping[str, Any],
) -> None:
    """Refuse values that a tracepoint could not record.

    Args:
        name: The event.
        fields: The types of its fields, by their names.
        values: Values in the order of the fields.
        named: Values by the names of the fields.

    Raises:
        TypeError: A value does not fit, is missing, or has no field.
        OverflowError: A number is beyond 64 bits.
        ValueError: A number with a fraction is given to an ``int`` field.
    """
    given = dict(zip(fields, values, strict=False))
    for one in named:
        if one not in fields:
            raise TypeError(f"{name}: no field has the name '{one}'")
    if len(values) > len(fields) or given.keys() & named.keys():
        count = len(values) + len(named)
        raise TypeError(f"{name}: {count} values for {len(fields)} fields")
    given.update(named)
    for field, kind in fields.items():
        if field not in given:
            raise TypeError(f"{name}: no value for the field '{field}'")
        value = given[field]
        try:
            _CHECKS[kind](value)
        except _MisfitError as misfit:
            which = f"{name}: the field '{field}' ({kind})"
            raise misfit.kind(
                f"{which}{misfit.text.format(type(value).__name__)}"
            ) from None
        except Exception as error:
            raise TypeError(
                f"{name}: the field '{field}' ({kind}) takes no {type(value).__name__}"
            ) from error


class _MisfitError(Exception):
    def __init__(self, kind: type[Exception], text: str) -> None:
        self.kind = kind
        self.text = text


def _check_int(value: Any) -> None:
    try:
        number = operator.index(value)
    except TypeError:
        real = float(_no_text(value))
        if math.isnan(real):
            raise
        if not -_LIMIT <= real < _LIMIT:
            raise _MisfitError(OverflowError, ": this {} is too large") from None
        number = int(value)
        if number != value:
            raise _MisfitError(ValueError, ": this {} is no whole number") from None
    if not -_LIMIT <= number < _LIMIT:
        raise _MisfitError(OverflowError, ": this {} is too large")


def _check_float(value: Any) -> None:
    try:
        float(_no_text(value))
    except OverflowError:
        raise _MisfitError(OverflowError, ": this {} is too large") from None


def _no_text(value: Any) -> Any:
    """Refuse what :class:`float` would parse."""
    if isinstance(value, str | bytes | bytearray | memoryview):
        raise TypeError
    return value


def _check_str(value: Any) -> None:
    if not isinstance(value, bytearray | memoryview):
        os.fspath(value)


def _check_bytes(value: Any) -> None:
    if isinstance(value, str):
        value.encode(errors="surrogateescape")
        return
    try:
        memoryview(value)
    except TypeError:
        os.fspath(value)


_CHECKS: dict[str, Callable[[Any], object]] = {
    "int": _check_int,
    "float": _check_float,
    "str": _check_str,
    "bytes": _check_bytes,
    "bool": bool,
}
