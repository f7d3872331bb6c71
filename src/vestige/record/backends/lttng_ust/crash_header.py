"""The beginning of a ring: how it is laid out, for whoever finds it after a crash.

LTTng's rings have the same one, so that its lttng-crash(1) reads ours, and we read its.
"""

from __future__ import annotations

import struct

from ...._typing import NamedTuple

__all__ = ["CRASH_HEADER_SIZE", "CrashHeader", "read_crash_header"]

_LAYOUT = struct.Struct("=16sQHHHBB11I8B3IQQQI4x")
CRASH_HEADER_SIZE = _LAYOUT.size
_MAGIC = bytes.fromhex("177bf177bf177bf177bf177bf177bf17")
_BYTE_ORDER, _WORD = 0x1234, 8
_OVERWRITE, _DISCARD = 0, 1
_WORDS = (_WORD,) * 8
_STRIDES = (128, 8, 16)
"""Bytes of an entry: commit counters, use, sub-buffer."""


class CrashHeader(NamedTuple):
    """What a ring says of itself."""

    memory_size: int
    writers: int
    """Where it is said which sub-buffer lies in which part."""

    array: int
    """Where it is said where the sub-buffers are."""

    subbuf_size: int
    num_subbuf: int
    is_overwriting: bool

    def pack(self) -> bytes:
        """Return the bytes of it."""
        offsets = (128, 152, 640, 8, self.writers, 0, self.array, 8, 40, 48, 56)
        return _LAYOUT.pack(
            *(_MAGIC, self.memory_size, _BYTE_ORDER, 0, 0, _WORD, 0),
            *offsets,
            *_WORDS,
            *_STRIDES,
            *(self.subbuf_size * self.num_subbuf, self.subbuf_size, self.num_subbuf),
            _OVERWRITE if self.is_overwriting else _DISCARD,
        )


def read_crash_header(raw: bytes) -> CrashHeader | None:
    """Return what a ring says of itself; ``None`` if that is none.

    Args:
        raw: The first bytes of the file.

    Raises:
        ValueError: It is a ring of another layout.
    """
    if len(raw) < CRASH_HEADER_SIZE or not raw.startswith(_MAGIC):
        return None
    _, memory_size, *numbers, _, size, count, mode = _LAYOUT.unpack_from(raw)
    offsets = numbers[5:16]
    found = CrashHeader(
        memory_size, offsets[4], offsets[6], size, count, mode == _OVERWRITE
    )
    # All that is not said here must be as it is in each of them; only 64 bits wide.
    whole = size * count
    if whole >> 64 or found.pack() != raw[:CRASH_HEADER_SIZE]:
        raise ValueError("expected a ring buffer of LTTng 2.13")
    return found
