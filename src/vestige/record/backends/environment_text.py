"""The environment of a trace in its metadata."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["environment_block", "environment_lines"]

_LONGEST = 16_000
"""Characters of an entry with many texts, about."""


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


def environment_block(
    said: Mapping[str, Iterable[str]], number: int
) -> tuple[str, int]:
    """Return an ``env`` block with many texts, some of them in each entry.

    Args:
        said: Texts without semicolons, by how the names of their entries begin.
        number: The number of the first entry; no two of a trace have the same.

    Returns:
        The block, and the number of the next entry.
    """
    entries = {}
    for name, texts in said.items():
        for text in _joined(texts):
            entries[f"{name}_{number}"] = text
            number += 1
    return f"\nenv {{\n{''.join(environment_lines(entries))}}};\n", number


def _joined(texts: Iterable[str]) -> Iterator[str]:
    some: list[str] = []
    length = 0
    for text in texts:
        some.append(text)
        length += len(text) + 1
        if length > _LONGEST:
            yield ";".join(some)
            some, length = [], 0
    if some:
        yield ";".join(some)


def _escaped(character: str) -> str:
    if character < " ":
        return f"\\{ord(character):03o}"
    return f"\\{character}" if character in '\\"' else character
