"""Tracepoints of a binary that was compiled with LTTng-UST's headers.

Nothing names the providers of LTTng-UST 2.13 and later in a binary that was stripped.
But each has a description, which begins with its size and leads to all else: ``struct
ust_provider`` and what it points to, in ``tracer/lttng/abi.h``. The places where
tracepoints happen are in a table that they register.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .elf import DYNAMIC_SYMBOLS, NO_BITS, ElfImage
from .tracepoints import DEFAULT_LEVEL, Field, Tracepoint, log_level

__all__ = ["lttng_tracepoints"]

_RELATIVE = {3: 8, 40: 23, 62: 8, 183: 1027, 243: 3, 258: 3}
"""The relocation of each machine that adds the base address, ``R_*_RELATIVE``."""
_ABSOLUTE = {62: 1, 183: 257, 243: 2, 258: 2}
"""That which adds the address of a symbol, ``R_*_64``."""
_TABLE, _OLD_TABLE = "lttng_ust_tracepoints_ptrs", "__tracepoints_ptrs"
"""Since 2.13, and before."""
_PROVIDER = re.compile(
    rb"\x28\0\0\0\0\0\0\0(?s:.{16}).{4}[\3\4]\0\0\0\0\0\0\0", re.DOTALL
)
"""Size, two pointers, a count, the versions 3 or 4 and 0."""
_MESSAGES = re.compile(
    rb"lttng_ust_tracepoint_(lttng_ust_tracef|lttng_ust_tracelog)___(\w+)"
)
"""Places of messages, which are LTTng's library's, and so symbols."""
_MOST = 1 << 16
"""Events, fields: more are none."""
(_INTEGER, _STRING, _FLOAT, _ENUM, _ARRAY, _SEQUENCE, _FIXED_BLOB, _VARIABLE_BLOB) = (
    0,
    1,
    2,
    4,
    5,
    6,
    8,
    9,
)
_HEXADECIMAL = 16


def lttng_tracepoints(image: ElfImage) -> list[Tracepoint]:
    """Return the tracepoints of a binary that was compiled with LTTng-UST's headers.

    Args:
        image: A binary.

    Returns:
        Those with providers, and then the places where they happen, by their names.

    Raises:
        ValueError: The binary is damaged.
    """
    table = image.section(_TABLE) or image.section(_OLD_TABLE)
    symbols = [symbol.name for symbol in image.symbols(DYNAMIC_SYMBOLS)]
    messages = [found for found in map(_MESSAGES.fullmatch, symbols) if found]
    if table is None and b"lttng_ust_probe_register" not in symbols and not messages:
        return []
    memory = _Memory(image)
    places = {
        (one[1].decode(), one[2].decode()): Tracepoint(
            one[1].decode(), one[2].decode(), has_provider=False
        )
        for one in messages
    }
    if table is not None:
        for address in range(table.address, table.address + table.size, memory.word):
            point = _place(memory, memory.pointer(address), table.name == _OLD_TABLE)
            if point.provider and point.name:
                places.setdefault((point.provider, point.name), point)
    events = {(one.provider, one.name): one for one in _events(memory)}
    return [
        *(events[names] for names in sorted(events)),
        *(places[names] for names in sorted(places)),
    ]


class _Memory:
    """A binary as it is once it is loaded, at address 0."""

    def __init__(self, image: ElfImage) -> None:
        self.image = image
        self.word = image.word_size
        relative, absolute = _RELATIVE.get(image.machine), _ABSOLUTE.get(image.machine)
        values = {
            symbol.name: symbol.value
            for symbol in image.symbols(DYNAMIC_SYMBOLS)
            if symbol.is_defined
        }
        self._bases = {}
        for fix in image.relocations():
            if fix.kind == relative and fix.addend:
                self._bases[fix.place] = fix.addend
            elif fix.kind == absolute and fix.symbol in values:
                self._bases[fix.place] = values[fix.symbol] + fix.addend

    def pointer(self, address: int) -> int:
        return self._bases.get(address) or self.image.pointer(address)

    def number(self, address: int) -> int:
        """Return an ``unsigned int``."""
        return int.from_bytes(self.image.at(address, 4), "little")

    def text(self, address: int, most: int = 256) -> str:
        found = self.image.at(address, most) if address else b""
        return found.partition(b"\0")[0].decode(errors="replace")

    def pointers(self, address: int, count: int) -> Iterator[int]:
        for index in range(min(count, _MOST)):
            yield self.pointer(address + index * self.word)


def _place(memory: _Memory, point: int, is_old: bool) -> Tracepoint:  # noqa: FBT001 - one caller
    """Describe a place; before 2.13 there was one pointer to the full name."""
    if is_old:
        provider, _, name = memory.text(memory.pointer(point)).partition(":")
        return Tracepoint(provider, name, is_recorded=False, has_provider=False)
    word = memory.word
    return Tracepoint(
        memory.text(memory.pointer(point + word)),
        memory.text(memory.pointer(point + 2 * word)),
        has_provider=False,
        # Behind the state, the probes and a reference.
        signature=memory.text(memory.pointer(point + 6 * word), 4096) or None,
    )


def _events(memory: _Memory) -> Iterator[Tracepoint]:
    """Return what providers describe, on little-endian machines of 64 bits."""
    image = memory.image
    if not image.is_64 or not image.is_little_endian:
        return
    for section in image.sections:
        if not section.address or section.kind == NO_BITS or not section.is_data:
            continue
        for found in _PROVIDER.finditer(image.content(section)):
            address = section.address + found.start()
            if address % memory.word == 0:
                yield from _of_provider(memory, address)


def _of_provider(memory: _Memory, address: int) -> Iterator[Tracepoint]:
    name = memory.text(memory.pointer(address + 8))
    events, count = memory.pointer(address + 16), memory.number(address + 24)
    for event in memory.pointers(events, count):
        # Each leads back; so nothing else is taken for a provider.
        if memory.pointer(event + 16) != address:
            return
        yield _event(memory, name, event)


def _event(memory: _Memory, provider: str, event: int) -> Tracepoint:
    event_class = memory.pointer(event + 24)
    level = memory.pointer(event + 32)
    uri = memory.pointer(event + 40)
    number = memory.number(memory.pointer(level)) if level else DEFAULT_LEVEL
    fields = memory.pointer(event_class + 8)
    count = memory.number(event_class + 16)
    return Tracepoint(
        provider,
        memory.text(memory.pointer(event + 8)),
        *log_level(str(number)),
        memory.text(memory.pointer(uri), 4096) if uri else None,
        tuple(_fields(memory, list(memory.pointers(fields, count)))),
        signature=memory.text(memory.pointer(event_class + 32), 4096) or None,
    )


def _fields(memory: _Memory, places: list[int]) -> Iterator[Field]:
    length = ""
    for place, following in pairwise([*places, 0]):
        kind = memory.number(memory.pointer(place + 16))
        next_kind = memory.number(memory.pointer(following + 16)) if following else None
        if kind == _INTEGER and next_kind in {_SEQUENCE, _VARIABLE_BLOB}:
            length = _integer(memory, memory.pointer(place + 16))[0]
            continue
        yield _field(memory, place, kind, length)


def _field(memory: _Memory, place: int, kind: int, length: str) -> Field:
    name, of = memory.text(memory.pointer(place + 8)), memory.pointer(place + 16)
    flags = ["not written"] if memory.number(place + 24) & 1 else []
    if kind == _STRING:
        return Field(name, "string", "const char *", "", tuple(flags))
    if kind == _FLOAT:
        wide = memory.number(of + 8) + memory.number(of + 12) > 32  # noqa: PLR2004 - bits
        return Field(name, "float", "double" if wide else "float", "", tuple(flags))
    if kind in {_FIXED_BLOB, _VARIABLE_BLOB}:
        detail = str(memory.number(of + 8)) if kind == _FIXED_BLOB else length
        shape = "array" if kind == _FIXED_BLOB else "sequence"
        return Field(name, shape, "uint8_t", detail, ("hexadecimal", *flags))
    element, detail, shape = of, "", "integer"
    if kind == _ENUM:
        element, shape = memory.pointer(of + 16), "enum"
        detail = memory.text(memory.pointer(memory.pointer(of + 8) + 8))
    elif kind == _ARRAY:
        element, shape = memory.pointer(of + 8), "array"
        detail = str(memory.number(of + 16))
        flags += ["text"] if memory.number(of + 24) else []
    elif kind == _SEQUENCE:
        element, shape, detail = memory.pointer(of + 16), "sequence", length
        flags += ["text"] if memory.number(of + 28) else []
    elif kind != _INTEGER:
        return Field(name, "unknown", "unknown", "", tuple(flags))
    kind_of_element, its_flags = _integer(memory, element)
    return Field(name, shape, kind_of_element, detail, (*its_flags, *flags))


def _integer(memory: _Memory, of: int) -> tuple[str, tuple[str, ...]]:
    """Return the type in C, and what else is said of it."""
    bits, packed = memory.number(of + 8), memory.number(of + 12)
    is_signed, is_reversed = packed >> 16 & 1, packed >> 17 & 1
    flags = ["hexadecimal"] if memory.number(of + 16) == _HEXADECIMAL else []
    flags += ["big-endian"] if is_reversed else []
    return f"{'' if is_signed else 'u'}int{bits}_t", tuple(flags)
