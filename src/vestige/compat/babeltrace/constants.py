"""Numbers that have names."""

from __future__ import annotations

__all__ = [
    "SCOPES",
    "ByteOrder",
    "CTFScope",
    "CTFStringEncoding",
    "CTFTypeId",
    "ClockType",
]


class _Named:
    """Numbers with names."""

    @classmethod
    def _name(cls, number: int, unknown: str) -> str:
        for name, value in vars(cls).items():
            if value == number and name.isupper():
                return name
        return unknown


class ClockType:
    """What a time is told in."""

    CLOCK_CYCLES = 0
    CLOCK_REAL = 1


class CTFStringEncoding:
    """Encodings of text."""

    NONE = 0
    UTF8 = 1
    ASCII = 2
    UNKNOWN = 3


class ByteOrder:
    """Byte orders."""

    BYTE_ORDER_NATIVE = 0
    BYTE_ORDER_LITTLE_ENDIAN = 1
    BYTE_ORDER_BIG_ENDIAN = 2
    BYTE_ORDER_NETWORK = 3
    BYTE_ORDER_UNKNOWN = 4


class CTFTypeId(_Named):
    """Kinds of fields."""

    UNKNOWN = 0
    INTEGER = 1
    FLOAT = 2
    ENUM = 3
    STRING = 4
    STRUCT = 5
    UNTAGGED_VARIANT = 6
    VARIANT = 7
    ARRAY = 8
    SEQUENCE = 9
    NR_CTF_TYPES = 10

    @staticmethod
    def type_name(number: int) -> str:
        """Return the name of a kind.

        Args:
            number: The kind.
        """
        return CTFTypeId._name(number, "UNKNOWN_TYPE")


class CTFScope(_Named):
    """Scopes of events."""

    TRACE_PACKET_HEADER = 0
    STREAM_PACKET_CONTEXT = 1
    STREAM_EVENT_HEADER = 2
    STREAM_EVENT_CONTEXT = 3
    EVENT_CONTEXT = 4
    EVENT_FIELDS = 5

    @staticmethod
    def scope_name(number: int) -> str:
        """Return the name of a scope.

        Args:
            number: The scope.
        """
        return CTFScope._name(number, "UNKNOWN_SCOPE")


SCOPES = (
    CTFScope.EVENT_FIELDS,
    CTFScope.EVENT_CONTEXT,
    CTFScope.STREAM_EVENT_CONTEXT,
    CTFScope.STREAM_EVENT_HEADER,
    CTFScope.STREAM_PACKET_CONTEXT,
    CTFScope.TRACE_PACKET_HEADER,
)
"""All scopes, in the order in which fields are looked for."""
