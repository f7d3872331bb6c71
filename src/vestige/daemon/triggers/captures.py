"""Captured values as notifications carry them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = ["captured_values"]

MOST_NESTED = 8


def captured_values(captured: object, count: int) -> list[Any]:
    """Return what JSON can say of captured values.

    Args:
        captured: What a program sent: a list of numbers, texts as bytes, lists, and
            dictionaries of enumerations; ``None`` where there was nothing.
        count: How many values were asked for.

    Returns:
        As many values; ``None`` for each that was not there.
    """
    values = captured if isinstance(captured, list) else []
    found = [_value(one) for one in values[:count]]
    return found + [None] * (count - len(found))


def _value(value: object, depth: int = 0) -> Any:
    if isinstance(value, list):
        if depth > MOST_NESTED:
            return None
        return {"type": "array", "value": [_value(one, depth + 1) for one in value]}
    if isinstance(value, dict):
        is_enumeration = value.get(b"type") == b"enum"
        found = _enumeration(value.get(b"value"), value.get(b"labels"))
        return found if is_enumeration else None
    return _plain(value)


def _plain(value: object) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"type": "signed" if value < 0 else "unsigned", "value": value}
    if isinstance(value, float):
        number = value if math.isfinite(value) else _not_finite(value)
        return {"type": "real", "value": number}
    if isinstance(value, bytes):
        return {"type": "string", "value": value.decode(errors="surrogateescape")}
    return None


def _not_finite(value: float) -> str:
    """Return the name of what JSON has no number for."""
    if math.isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"


def _enumeration(value: object, labels: object) -> Any:
    if not isinstance(value, int):
        return None
    names: Sequence[object] = labels if isinstance(labels, list) else ()
    return {
        "type": "signed-enum" if value < 0 else "unsigned-enum",
        "value": value,
        "labels": [
            one.decode(errors="surrogateescape")
            for one in names
            if isinstance(one, bytes)
        ],
    }
