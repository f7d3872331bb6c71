"""Writing messages of protocol buffers: varints, and fields with a length.

See https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["number", "numbers", "text", "varint", "within"]

_LENGTH = 2
"""The wire type of fields with a length."""
_MASK = (1 << 64) - 1


def varint(value: int) -> bytes:
    """Encode a number; negative ones as 64 bits, as ``int64`` has them.

    Args:
        value: The number.
    """
    value &= _MASK
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - seven bits a byte
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """Encode a field with a number; nothing where that is 0, the default.

    Args:
        field: The number of the field.
        value: Its value.
    """
    return varint(field << 3) + varint(value) if value else b""


def within(field: int, message: bytes) -> bytes:
    """Encode a field with a message or bytes.

    Args:
        field: The number of the field.
        message: What is in it.
    """
    return varint(field << 3 | _LENGTH) + varint(len(message)) + message


def numbers(field: int, values: Iterable[int]) -> bytes:
    """Encode a field with numbers, packed.

    Args:
        field: The number of the field.
        values: Its values.
    """
    return within(field, b"".join(map(varint, values)))


def text(field: int, value: str) -> bytes:
    """Encode a field with a text.

    Args:
        field: The number of the field.
        value: The text, without surrogates.
    """
    return within(field, value.encode())
