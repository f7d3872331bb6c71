"""Tracepoints that are described in a binary.

Provider headers that are compiled with Vestige's ``<lttng/tracepoint.h>`` put a text
for each event into the section ``.vestige.events`` (see
``tracer/include/vestige/list-events.h``). Those of LTTng-UST keep the names only, in a
table that they register: ``struct lttng_ust_tracepoint`` begins with its size and
pointers to the names of provider and event.
"""

from __future__ import annotations

from typing import NamedTuple

from ..log_levels import LEVEL_PREFIXES, LOG_LEVELS
from .elf import ElfImage

__all__ = ["Field", "Tracepoint", "described_tracepoints", "lttng_tracepoints"]

SECTION = ".vestige.events"
DEFAULT_LEVEL = LOG_LEVELS.index("DEBUG_LINE")
_FLAGS = {
    "VESTIGE_HEXADECIMAL": "hexadecimal",
    "VESTIGE_BIG_ENDIAN": "big-endian",
    "VESTIGE_TEXT": "text",
    "VESTIGE_NOT_WRITTEN": "not written",
}
_RELATIVE = {3: 8, 40: 23, 62: 8, 183: 1027, 243: 3, 258: 3}
"""The relocation of each machine that adds the base address, ``R_*_RELATIVE``."""


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
    number, text = _log_level(level[0] if level else str(DEFAULT_LEVEL))
    return Tracepoint(
        names[0],
        names[1],
        number,
        text,
        uri[0] if uri else None,
        None if fields is None else tuple(_fields(fields)),
    )


def _log_level(text: str) -> tuple[int | None, str]:
    """Return the number of a level and its name; a text that is neither stays."""
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


def lttng_tracepoints(image: ElfImage) -> list[Tracepoint]:
    """Return the tracepoints of a binary that was compiled with LTTng-UST's headers.

    Args:
        image: A binary.

    Returns:
        Their names.
    """
    table = image.section("lttng_ust_tracepoints_ptrs") or image.section(
        "__tracepoints_ptrs"
    )
    if table is None:
        return []
    relative = _RELATIVE.get(image.machine)
    bases = {
        fix.place: fix.addend
        for fix in image.relocations()
        if fix.kind == relative and fix.addend
    }

    def pointer(address: int) -> int:
        return bases.get(address) or image.pointer(address)

    size = image.word_size
    names = set()
    for place in range(table.address, table.address + table.size, size):
        point = pointer(place)
        # After the size, which is padded to a pointer. Before LTTng 2.13 there was
        # none, and one pointer to the full name.
        first, second = pointer(point + size), pointer(point + 2 * size)
        if table.name == "__tracepoints_ptrs":
            provider, _, name = _text(image, pointer(point)).partition(":")
        else:
            provider, name = _text(image, first), _text(image, second)
        if provider and name:
            names.add((provider, name))
    return [Tracepoint(provider, name) for provider, name in sorted(names)]


def _text(image: ElfImage, address: int) -> str:
    return image.at(address, 256).partition(b"\0")[0].decode(errors="replace")
