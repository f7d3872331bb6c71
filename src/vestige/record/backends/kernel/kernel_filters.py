"""Conditions in the language of the kernel's filters, where they mean the same there.

See ``Documentation/trace/events.rst``, section 5. What it takes, but compares in
another way, is left to the collector: numbers that do not fit a field are cut there,
and patterns that do not begin with a plain letter look at what follows a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...._typing import TYPE_CHECKING
from ....expressions.code import Operation
from ....expressions.tokens import STAR
from .filter_fields import KernelField, kernel_context, kernel_field

if TYPE_CHECKING:
    from .conditions import Condition, Term
    from .formats import EventFormat

__all__ = ["kernel_filter"]

_COMPARISONS = {
    Operation.LESS: "<",
    Operation.LESS_EQUAL: "<=",
    Operation.GREATER: ">",
    Operation.GREATER_EQUAL: ">=",
    Operation.EQUAL: "==",
    Operation.NOT_EQUAL: "!=",
}
_OTHER_SIDE = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_CONSTANTS: dict[Operation, Callable[..., int]] = {
    Operation.MINUS: int.__neg__,
    Operation.COMPLEMENT: int.__invert__,
    Operation.AND: int.__and__,
    Operation.OR: int.__or__,
    Operation.XOR: int.__xor__,
    Operation.SHIFT_LEFT: int.__lshift__,
}
_BITS = 64
"""Of numbers."""
_ALL = (1 << 64) - 1
_MOST = (1 << 63) - 1
"""The largest number with a sign."""
LONGEST_TEXT = 200
"""Bytes of a constant; older kernels take 256."""
_PLAIN_PATTERN = re.compile(rb"[^\0!*?\[\]\\0-9][^?\[\]\\]*")
"""What kernels take as LTTng does, ``\\0`` being the star; digits at the beginning are
the number of a function."""


def kernel_filter(condition: Condition, event: EventFormat) -> str | None:
    """Write a condition as the kernel's filters have it.

    Args:
        condition: The condition.
        event: What the kernel says of the event.

    Returns:
        Its text; ``None``: it cannot be said there.
    """
    if condition.term is not None:
        return _of_term(condition.term, event, is_negated=condition.is_negated)
    texts = [kernel_filter(one, event) for one in condition.parts]
    sign = " && " if condition.kind == "and" else " || "
    said = [one for one in texts if one is not None]
    return f"({sign.join(said)})" if len(said) == len(texts) else None


def _of_term(term: Term, event: EventFormat, *, is_negated: bool) -> str | None:
    operation = term.what.operation
    if operation in _COMPARISONS:
        sign = _COMPARISONS[operation]
        left, right = term.operands
        if _constant(left) is not None or left.what.operation is Operation.TEXT:
            left, right, sign = right, left, _OTHER_SIDE[sign]
        return _comparison(left, _NEGATED[sign] if is_negated else sign, right, event)
    if operation in {Operation.MATCHES, Operation.MATCHES_NOT}:
        pattern = term.what.value
        is_wanted = (operation is Operation.MATCHES) is not is_negated
        field = _field(term.operands[0], event)
        if field is None or not isinstance(pattern, bytes):
            return None
        return _match(field, pattern, is_wanted=is_wanted)
    if operation is Operation.AND:
        return _bits(term, event, is_wanted=not is_negated)
    field = _field(term, event)
    if field is None or field.kind != "integer":
        return None
    return _number(field, "==" if is_negated else "!=", 0)


def _field(term: Term, event: EventFormat) -> KernelField | None:
    name = term.what.value
    if not isinstance(name, bytes):
        return None
    if term.what.operation is Operation.FIELD:
        return kernel_field(event, name)
    if term.what.operation is Operation.CONTEXT:
        return kernel_context(name)
    return None


def _constant(term: Term) -> int | None:
    """Return what a term is that needs no record, as a number of 64 bits."""
    operation = term.what.operation
    if operation is Operation.INTEGER:
        return term.what.value if isinstance(term.what.value, int) else None
    values = [_constant(one) for one in term.operands]
    known = [one for one in values if one is not None]
    function = _CONSTANTS.get(operation)
    if function is None or len(known) != len(values):
        return None
    is_shift = operation is Operation.SHIFT_LEFT
    return None if is_shift and not 0 <= known[1] < _BITS else _signed(function(*known))


def _signed(value: int) -> int:
    value &= _ALL
    return value - (1 << 64) if value > _MOST else value


def _comparison(left: Term, sign: str, right: Term, event: EventFormat) -> str | None:
    field = _field(left, event)
    text = right.what.value
    if right.what.operation is Operation.TEXT and isinstance(text, bytes):
        if field is None or sign not in {"==", "!="}:
            return None
        return _text(field, text, is_wanted=sign == "==")
    value = _constant(right)
    if value is None:
        return None
    if left.what.operation is Operation.AND and sign in {"==", "!="}:
        mask = _mask(left)
        is_bit = value == mask and mask & (mask - 1) == 0
        if value == 0 or is_bit:
            return _bits(left, event, is_wanted=(sign == "==") is not (value == 0))
    if field is None or field.kind != "integer":
        return None
    return _number(field, sign, value)


def _number(field: KernelField, sign: str, value: int) -> str | None:
    value += field.added
    bits = field.bytes * 8
    if bits == _BITS and not field.is_signed:
        return _unsigned(field.text, sign, value)
    lowest, highest = -(1 << bits - 1), (1 << bits - 1) - 1
    if not field.is_signed:
        lowest, highest = 0, (1 << bits) - 1
    return f"{field.text} {sign} {value}" if lowest <= value <= highest else None


def _unsigned(name: str, sign: str, value: int) -> str:
    """Compare as numbers with a sign, as LTTng does, what has none in the kernel."""
    text = f"{name} {sign} {value & _ALL}"
    if sign in {"==", "!="}:
        return text
    is_upper = sign in {"<", "<="}
    half = f"{name} {'>' if is_upper else '<='} {_MOST}"
    # Those above the half are below zero.
    is_both = (value < 0) is is_upper
    return f"({text} {'&&' if is_both else '||'} {half})"


def _mask(term: Term) -> int | None:
    """Return the constant of a term that is an AND of bits."""
    return next(
        (value for one in term.operands if (value := _constant(one)) is not None), None
    )


def _bits(term: Term, event: EventFormat, *, is_wanted: bool) -> str | None:
    mask = _mask(term)
    fields = [found for one in term.operands if (found := _field(one, event))]
    if mask is None or len(fields) != 1:
        return None
    [field] = fields
    if field.kind != "integer" or field.added or field.text == "CPU":
        return None
    highest = min(1 << field.bytes * 8, 1 << 63) - 1
    if not 0 < mask <= highest:
        return None
    text = f"{field.text} & {mask:#x}"
    return text if is_wanted else f"!({text})"


def _text(field: KernelField, text: bytes, *, is_wanted: bool) -> str | None:
    if field.kind == "integer" or (field.kind == "array" and len(text) >= field.bytes):
        return None
    quoted = _quoted(text)
    if quoted is None:
        return None
    return f"{field.text} {'==' if is_wanted else '!='} {quoted}"


def _match(field: KernelField, pattern: bytes, *, is_wanted: bool) -> str | None:
    # The end of an array is that of its room, not of its text.
    has_end = field.kind in {"user", "located"}
    rest = pattern.lstrip(b"\0") if has_end else pattern
    if field.kind == "integer" or not _PLAIN_PATTERN.fullmatch(rest):
        return None
    stars = re.sub(rb"\0+", b"*", pattern)
    if b"*" in pattern:
        # One that was escaped.
        return None
    quoted = _quoted(stars)
    if quoted is None:
        return None
    text = f"{field.text} ~ {quoted}"
    return text if is_wanted else f"!({text})"


def _quoted(text: bytes) -> str | None:
    """Return a constant; the kernel knows no escapes."""
    if not text or len(text) > LONGEST_TEXT or not text.isascii():
        return None
    plain = text.decode("ascii")
    if STAR in text or not plain.isprintable():
        return None
    quote = next((one for one in "\"'" if one not in plain), None)
    return None if quote is None else f"{quote}{plain}{quote}"
