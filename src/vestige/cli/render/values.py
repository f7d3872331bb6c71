"""Values as lines of text, as ``babeltrace2 query`` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

__all__ = ["value_lines"]

STEP = "  "
"""How far the parts of a value stand to the right of it."""


def value_lines(value: object, indent: str = "") -> Iterator[str]:
    """Return the lines of a value.

    Args:
        value: A map, an array or a scalar value.
        indent: What the lines begin with.

    Yields:
        The lines, without line breaks at their ends.
    """
    if isinstance(value, Mapping):
        heads = [(f"{name}: ", value[name]) for name in sorted(value)]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        heads = [("- ", one) for one in value]
    else:
        yield indent + _scalar(value)
        return
    if not heads:
        yield indent + _empty(value)
    for head, part in heads:
        if _is_scalar(part):
            yield indent + head + _scalar(part)
        elif part:
            yield indent + head
            yield from value_lines(part, indent + STEP)
        else:
            yield indent + head + _empty(part)


def _is_scalar(value: object) -> bool:
    return isinstance(value, str) or not isinstance(value, Mapping | Sequence)


def _empty(value: object) -> str:
    return "{ }" if isinstance(value, Mapping) else "[ ]"


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:f}" if isinstance(value, float) else str(value)
