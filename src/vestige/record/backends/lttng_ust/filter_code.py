"""Filters as LTTng-UST's virtual machine runs them, translated from our own byte code.

Both are stack machines in postfix order, with jumps forward over the right side of
logical operators. The numbers are those of its public header (MIT licence).
"""

from __future__ import annotations

import struct

from ...._typing import NamedTuple
from ....errors import SelectionError
from ....expressions import compile_filter
from ....expressions.code import Instruction, Operation
from ....expressions.tokens import STAR

__all__ = ["FilterCode", "capture_code", "filter_code"]


LARGEST_CODE = 65536
"""Bytes that a program takes."""

RETURN = 1
FIELD_REF, CONTEXT_REF = 59, 70
"""Load a field or a context by its whole name. To look for it step by step takes longer
at each event, and is needed for elements only."""
LOAD_STRING, LOAD_S64, LOAD_DOUBLE, CAST_TO_S64 = 64, 65, 66, 67
LOAD_STAR_GLOB_STRING = 76
CONTEXT_ROOT, APP_CONTEXT_ROOT, PAYLOAD_ROOT, GET_SYMBOL = 79, 80, 81, 82
GET_INDEX_U64, LOAD_FIELD = 85, 86
AND, OR = 57, 58
UNKNOWN = 0xFFFF
"""Programs write there where the field is."""
_PLAIN = {
    Operation.RETURN: RETURN,
    Operation.SHIFT_RIGHT: 7,
    Operation.SHIFT_LEFT: 8,
    Operation.AND: 9,
    Operation.OR: 10,
    Operation.XOR: 11,
    Operation.EQUAL: 12,
    Operation.NOT_EQUAL: 13,
    Operation.GREATER: 14,
    Operation.LESS: 15,
    Operation.GREATER_EQUAL: 16,
    Operation.LESS_EQUAL: 17,
    Operation.MINUS: 49,
    Operation.NOT: 50,
    Operation.COMPLEMENT: 98,
    Operation.TO_INTEGER: CAST_TO_S64,
}
_MATCHES = {Operation.MATCHES: 12, Operation.MATCHES_NOT: 13}
_SKIPS = {Operation.SKIP_IF_FALSE: AND, Operation.SKIP_IF_TRUE: OR}


class FilterCode(NamedTuple):
    """What a program gets of a filter."""

    code: bytes
    """Instructions, and the names that they refer to."""

    names_at: int
    """Where the names begin."""


def filter_code(text: str) -> FilterCode:
    """Return the byte code of a filter.

    Args:
        text: The expression.

    Raises:
        SelectionError: It is none, or too large.
    """
    return _Translator(compile_filter(text)).run()


_ROOTS = {
    "payload-field": PAYLOAD_ROOT,
    "channel-context": CONTEXT_ROOT,
    "app-context": APP_CONTEXT_ROOT,
}


def capture_code(kind: str, name: str, index: int | None) -> FilterCode:
    """Return the byte code that captures a field.

    Args:
        kind: ``payload-field``, ``channel-context`` or ``app-context``.
        name: Of the field; ``PROVIDER:NAME`` of a program's context.
        index: Of an element of it; ``None`` for the whole.
    """
    root = bytes([_ROOTS[kind]])
    symbol = struct.pack("=BH", GET_SYMBOL, 2)
    element = b"" if index is None else struct.pack("=BQ", GET_INDEX_U64, index)
    code = root + symbol + element + bytes([RETURN])
    names = struct.pack("=H", len(root)) + name.encode(errors="replace") + b"\0"
    return FilterCode(code + names, len(code))


class _Translator:
    def __init__(self, code: tuple[Instruction, ...]) -> None:
        self._source = code
        self._code = bytearray()
        self._names = bytearray()
        self._name_places: list[int] = []
        self._skips: list[tuple[int, int]] = []
        """Where a target is to be written, and the instruction that it is."""

    def run(self) -> FilterCode:
        places = []
        for one in self._source:
            places.append(len(self._code))
            self._translate(one)
        if len(self._code) + len(self._names) >= LARGEST_CODE:
            raise SelectionError(f"expected up to {LARGEST_CODE:,} bytes of byte code")
        for at, target in self._skips:
            struct.pack_into("=H", self._code, at, places[target])
        names_at = len(self._code)
        return FilterCode(bytes(self._code + self._names), names_at)

    def _translate(self, one: Instruction) -> None:
        operation, value = one.operation, one.value
        if operation in _PLAIN:
            self._code.append(_PLAIN[operation])
        elif operation in _SKIPS:
            self._code.append(_SKIPS[operation])
            self._skips.append((len(self._code), one.argument))
            self._code += b"\0\0"
        elif operation in _MATCHES and isinstance(value, bytes):
            self._string(LOAD_STAR_GLOB_STRING, value)
            self._code.append(_MATCHES[operation])
        elif operation is Operation.TEXT and isinstance(value, bytes):
            self._string(LOAD_STRING, value)
        elif operation is Operation.INTEGER and isinstance(value, int):
            self._code += struct.pack("=Bq", LOAD_S64, value)
        elif operation is Operation.REAL and isinstance(value, float):
            self._code += struct.pack("=Bd", LOAD_DOUBLE, value)
        elif isinstance(value, bytes):
            self._field(operation, value, one.argument)
        else:
            raise SelectionError(f"expected no operation {operation.name} in a filter")

    def _string(self, load: int, value: bytes) -> None:
        """Write a string: only stars of a pattern stay stars."""
        escaped = value.replace(b"\\", b"\\\\").replace(b"*", b"\\*")
        self._code += bytes([load]) + escaped.replace(STAR, b"*") + b"\0"

    def _field(self, operation: Operation, name: bytes, index: int) -> None:
        if operation is Operation.ELEMENT:
            self._code.append(PAYLOAD_ROOT)
            self._name(GET_SYMBOL, len(self._names) + 2, name)
            self._code += struct.pack("=BQ", GET_INDEX_U64, index)
            self._code.append(LOAD_FIELD)
        elif operation is Operation.CONTEXT:
            is_whole = name.startswith(b"$app.")
            self._name(CONTEXT_REF, UNKNOWN, name if is_whole else b"$ctx." + name)
        else:
            self._name(FIELD_REF, UNKNOWN, name)

    def _name(self, operation: int, operand: int, name: bytes) -> None:
        """Refer to a name, which stands after the place of the instruction."""
        self._names += struct.pack("=H", len(self._code)) + name + b"\0"
        self._code += struct.pack("=BH", operation, operand)
