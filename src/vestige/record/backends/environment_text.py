"""The environment of a trace in its metadata."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["environment_lines"]


def environment_lines(values: Mapping[str, str | int]) -> Iterable[str]:
    """Yield the entries of an ``env`` block (CTF 1.8, section 7.3).

    Args:
        values: Its entries. What a text must not hold is escaped.

    Yields:
        The line of each entry, with its end.
    """
    for name, value in values.items():
        if isinstance(value, int):
            yield f"\t{name} = {value};\n"
        else:
            yield f'\t{name} = "{"".join(map(_escaped, value))}";\n'


def _escaped(character: str) -> str:
    if character < " ":
        return f"\\{ord(character):03o}"
    return f"\\{character}" if character in '\\"' else character
