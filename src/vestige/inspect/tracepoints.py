"""Tracepoints that are described in a binary.

Provider headers that are compiled with Vestige's ``<lttng/tracepoint.h>`` put a text
for each event into the section ``.vestige.events`` (see
``tracer/include/vestige/list-events.h``).
"""

from __future__ import annotations

from typing import NamedTuple

from ..log_levels import LEVEL_PREFIXES, LOG_LEVELS
from .elf import ElfImage

__all__ = [
    "DEFAULT_LEVEL",
    "Field",
    "Tracepoint",
    "described_tracepoints",
    "log_level",
]

SECTION = ".vestige.events"
DEFAULT_LEVEL = LOG_LEVELS.index("DEBUG_LINE")
_FLAGS = {
    "VESTIGE_HEXADECIMAL": "hexadecimal",
    "VESTIGE_BIG_ENDIAN": "big-endian",
    "VESTIGE_TEXT": "text",
    "VESTIGE_NOT_WRITTEN": "not written",
}


class Field(NamedTuple):
    """A field of a tracepoint."""

    name: str
    kind: str
    """``integer``, ``float``, ``string``, ``array``, ``sequence`` or ``enum``."""
    type: str
    """In C: that of an element, where there are several."""
    detail: str
    """The length of an array, the type of that of a sequence, the enumeration."""
    flags: tuple[str, ...]
    """``hexadecimal``, ``big-endian``, ``text``, ``not written``."""


class Tracepoint(NamedTuple):
    """A tracepoint."""

    provider: str
    name: str
    log_level: int | None = None
    """``None`` where the binary does not say, or has no number."""
    log_level_text: str | None = None
    """Its name, or how the program wrote it."""
    model_emf_uri: str | None = None
    fields: tuple[Field, ...] | None = None
    """``None`` where the binary does not tell."""
    has_provider: bool = True
    """Whether there is what records it, or only the place where it happens."""
    signature: str | None = None
    """Types and names of its arguments, where LTTng-UST's headers tell."""
    is_recorded: bool = True
    """Whether ``vestige record`` can record it: not where a place has other arguments
    than the provider, or headers are of LTTng-UST 2.12 and before."""


def described_tracepoints(image: ElfImage) -> list[Tracepoint]:
    """Return the tracepoints that Vestige's headers describe.

    Args:
        image: A binary.

    Returns:
        Those with providers, and then those that only happen in it, by their names.
    """
    section = image.section(SECTION)
    if section is None:
        return []
    entries: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for text in image.content(section).decode(errors="replace").split("\0"):
        head, *lines = text.split("\n")
        kind, *words = head.split("\t")
        if len(words) >= 2:  # noqa: PLR2004 - provider and name
            names = (words[0], words[1])
            entries.setdefault(kind, {})[names] = lines or words[2:]
    events = entries.get("event", {})
    points = entries.get("point", {})
    found = [
        _tracepoint(names, class_names, entries)
        for names, class_names in sorted(events.items())
    ]
    found += [
        Tracepoint(names[0], names[1], has_provider=False)
        for names in sorted(points)
        if names not in events
    ]
    return found


def _tracepoint(
    names: tuple[str, ...],
    class_names: list[str],
    entries: dict[str, dict[tuple[str, ...], list[str]]],
) -> Tracepoint:
    level = entries.get("level", {}).get(names)
    uri = entries.get("uri", {}).get(names)
    fields = entries.get("class", {}).get(tuple(class_names))
    number, text = log_level(level[0] if level else str(DEFAULT_LEVEL))
    return Tracepoint(
        names[0],
        names[1],
        number,
        text,
        uri[0] if uri else None,
        None if fields is None else tuple(_fields(fields)),
    )


def log_level(text: str) -> tuple[int | None, str]:
    """Find a log level by how the program wrote it.

    Args:
        text: A name of lttng-ust(3), or a number.

    Returns:
        Its number and its name; a text that is neither stays.
    """
    word = text.strip("() ")
    for prefix in LEVEL_PREFIXES:
        word = word.removeprefix(prefix)
    if word in LOG_LEVELS:
        return LOG_LEVELS.index(word), word
    try:
        number = int(word, 0)
    except ValueError:
        return None, text
    return number, LOG_LEVELS[number] if 0 <= number < len(LOG_LEVELS) else word


def _fields(lines: list[str]) -> list[Field]:
    found = []
    for line in lines:
        kind, *words = line.split("\t")
        if len(words) != 4:  # noqa: PLR2004 - type, name, detail, flags
            continue
        flags = tuple(
            _FLAGS[flag]
            for flag in (part.strip() for part in words[3].split("|"))
            if flag in _FLAGS
        )
        found.append(Field(words[1], kind, words[0], words[2], flags))
    return found
