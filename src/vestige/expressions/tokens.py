"""The words of filter expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import SelectionError

if TYPE_CHECKING:
    from typing import Literal

    TokenKind = Literal["integer", "real", "text", "name", "context", "sign", "end"]

__all__ = ["STAR", "Token", "fail", "tokenize"]

STAR = b"\0"
"""What stands for a star in the bytes of a string, where no zero can be."""

_SPACE = re.compile(r"[ \t\r\n]*")
_REAL = re.compile(
    r"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
    r"|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
)
_INTEGER = re.compile(r"0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*")
_INTEGER_SUFFIX = re.compile(r"(?:[uU](?:ll?|LL?)?|(?:ll?|LL?)[uU]?)?(?![\w.])")
_REAL_SUFFIX = re.compile(r"[fFlL]?(?![\w.])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTEXT = re.compile(r"\$[A-Za-z_]\w*(?:\.[A-Za-z_][\w:-]*)?", re.ASCII)
_SIGN = re.compile(r"\|\||&&|==|!=|<=|>=|<<|>>|->|[-+!~|^&<>()\[\].*/%?:=,]")
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPED = dict(zip("abfnrtv'\"?\\*", b"\a\b\f\n\r\t\v'\"?\\*", strict=True))
_LARGEST = (1 << 64) - 1


class Token(NamedTuple):
    """A word of an expression."""

    kind: TokenKind
    text: str
    """As it is written; empty at the end."""
    column: int
    """Where it begins, from 1."""
    value: int | float | bytes = 0
    """What a constant is: an integer as one with a sign, a string with its stars."""

    def __str__(self) -> str:
        """Return the word for people."""
        return f"'{self.text}'" if self.text else "the end"


def fail(text: str, column: int, expected: str) -> SelectionError:
    """Return the error of an expression.

    Args:
        text: The expression.
        column: Where the error is, from 1.
        expected: What would have been right.

    Returns:
        The error, to be raised.
    """
    return SelectionError(f"filter '{text}', column {column}: {expected}")


def tokenize(text: str) -> Iterator[Token]:
    """Take an expression apart.

    Args:
        text: The expression.

    Yields:
        Its words, and one for its end.

    Raises:
        SelectionError: There is something that is no word.
    """
    position = 0
    while True:
        space = _SPACE.match(text, position)
        position = space.end() if space else position
        if position == len(text):
            yield Token("end", "", position + 1)
            return
        token = _word(text, position)
        yield token
        position += len(token.text)


def _word(text: str, start: int) -> Token:
    column = start + 1
    if text[start] in "\"'":
        return _string(text, start)
    if found := _REAL.match(text, start):
        end = _suffix(text, found, _REAL_SUFFIX)
        real = found[0]
        number = float.fromhex(real) if real[:2] in {"0x", "0X"} else float(real)
        return Token("real", text[start:end], column, number)
    if found := _INTEGER.match(text, start):
        end = _suffix(text, found, _INTEGER_SUFFIX)
        return Token("integer", text[start:end], column, _integer(text, found))
    if found := _CONTEXT.match(text, start):
        return Token("context", found[0], column)
    if found := _NAME.match(text, start):
        return Token("name", found[0], column)
    if found := _SIGN.match(text, start):
        return Token("sign", found[0], column)
    raise fail(
        text,
        column,
        f"expected a field, a constant or an operator, not '{text[start]}'",
    )


def _suffix(text: str, number: re.Match[str], pattern: re.Pattern[str]) -> int:
    """Return where a number ends, with what says its type in C."""
    found = pattern.match(text, number.end())
    if found is None:
        raise fail(text, number.start() + 1, "expected a number as in C")
    return found.end()


def _integer(text: str, found: re.Match[str]) -> int:
    digits = found[0]
    is_octal = digits[0] == "0" and digits.isdigit()
    number = int(digits, 8 if is_octal else 0)
    if number > _LARGEST:
        raise fail(text, found.start() + 1, "expected an integer of up to 64 bits")
    return number - (1 << 64) if number >> 63 else number


def _string(text: str, start: int) -> Token:
    quote = text[start]
    position = start + 1
    parts: list[bytes] = []
    while position < len(text) and text[position] != quote:
        if text[position] == "\\":
            found = _ESCAPE.match(text, position)
            parts.append(_escaped(text, position, found))
            position = found.end() if found else position + 1
            continue
        if text[position] == "\0":
            raise fail(text, position + 1, "expected no character of code 0")
        # As os.fsdecode() keeps the bytes of arguments that are no UTF-8.
        plain = text[position].encode(errors="surrogateescape")
        parts.append(STAR if plain == b"*" else plain)
        position += 1
    if position >= len(text):
        raise fail(text, start + 1, f"expected a {quote} at the end of the string")
    word = text[start : position + 1]
    return Token("text", word, start + 1, b"".join(parts))


def _escaped(text: str, position: int, found: re.Match[str] | None) -> bytes:
    code: int | None = None
    if found is not None:
        octal, hexadecimal, letter = found.groups()
        if octal:
            code = int(octal, 8)
        elif hexadecimal:
            code = int(hexadecimal, 16)
        else:
            code = _ESCAPED.get(letter)
    if code is None or not 0 < code < 1 << 8:
        raise fail(
            text,
            position + 1,
            r"expected \\, \*, \", \n, \t or another escape of C, and no zero",
        )
    return bytes([code])
