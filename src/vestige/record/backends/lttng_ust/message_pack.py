"""Values as programs of LTTng-UST pack them: the part of MessagePack that they use."""

from __future__ import annotations

import struct

__all__ = ["Packed", "unpack"]

Packed = int | float | bytes | list["Packed"] | dict[bytes, "Packed"] | None
"""A value; texts are bytes."""
MOST_NESTED = 8
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_ARRAYS = {0xDC: ">H", 0xDD: ">I"}
_MAPS = {0xDE: ">H", 0xDF: ">I"}
NIL = 0xC0
_FIXED_MAP, _FIXED_ARRAY, _FIXED_TEXT = (
    range(0x80, 0x90),
    range(0x90, 0xA0),
    range(0xA0, 0xC0),
)
_POSITIVE, _NEGATIVE = range(0x80), range(0xE0, 0x100)


def unpack(raw: bytes) -> Packed:
    """Return the value that bytes are.

    Args:
        raw: All of it.

    Raises:
        ValueError: They are none, or something that programs do not use.
    """
    reader = _Reader(raw)
    try:
        value = reader.value(0)
    except (struct.error, IndexError):
        raise ValueError("expected more bytes of a value") from None
    if reader.at != len(raw):
        raise ValueError("expected nothing after a value")
    return value


class _Reader:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.at = 0

    def value(self, depth: int) -> Packed:
        if depth > MOST_NESTED:
            raise ValueError(f"expected up to {MOST_NESTED} levels of values")
        kind = self._raw[self.at]
        self.at += 1
        if kind == NIL:
            return None
        if kind in _POSITIVE or kind in _NEGATIVE:
            return kind if kind in _POSITIVE else kind - 0x100
        if kind in _NUMBERS:
            return self._number(_NUMBERS[kind])
        return self._compound(kind, depth)

    def _compound(self, kind: int, depth: int) -> Packed:
        if kind in _FIXED_TEXT or kind in _TEXTS:
            return self._text(self._count(kind, _FIXED_TEXT, _TEXTS))
        if kind in _FIXED_ARRAY or kind in _ARRAYS:
            count = self._count(kind, _FIXED_ARRAY, _ARRAYS)
            return [self.value(depth + 1) for _ in range(count)]
        if kind in _FIXED_MAP or kind in _MAPS:
            return self._map(self._count(kind, _FIXED_MAP, _MAPS), depth)
        raise ValueError(f"expected no value of kind {kind:#x}")

    def _number(self, layout: str) -> int | float:
        found: int | float = struct.unpack_from(layout, self._raw, self.at)[0]
        self.at += struct.calcsize(layout)
        return found

    def _count(self, kind: int, fixed: range, others: dict[int, str]) -> int:
        """Return how much follows, which cannot be more than there are bytes."""
        if kind in fixed:
            return kind - fixed.start
        count = int(self._number(others[kind]))
        if count > len(self._raw):
            raise ValueError("expected more bytes of a value")
        return count

    def _text(self, size: int) -> bytes:
        found = self._raw[self.at : self.at + size]
        if len(found) < size:
            raise ValueError("expected more bytes of a value")
        self.at += size
        return found

    def _map(self, count: int, depth: int) -> dict[bytes, Packed]:
        found: dict[bytes, Packed] = {}
        for _ in range(count):
            key = self.value(depth + 1)
            if not isinstance(key, bytes):
                raise ValueError("expected texts as keys")  # noqa: TRY004 - of what came
            found[key] = self.value(depth + 1)
        return found
