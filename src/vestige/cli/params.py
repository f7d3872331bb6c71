"""The language of ``--params``: ``NAME=VALUE[,NAME=VALUE]...``.

It is Babeltrace 2's (man page babeltrace2-convert(1), under ``--params``): a value is
null, a boolean, an integer in one of four bases, a real number, a quoted or a bare
string, an array or a map.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import CommandError
from ..graph.plan import UnsignedInteger

__all__ = ["ParamValue", "parse_params"]

ParamValue = (
    None | bool | int | float | str | list["ParamValue"] | dict[str, "ParamValue"]
)
"""Any value."""

TOKEN = re.compile(
    r"""(?P<blank>[ \t\n]+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_.:-]*)
    |(?P<real>(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    |(?P<integer>0[xX][0-9A-Fa-f]+|0[bB][01]+|[0-9]+)
    |"(?P<text>(?:[^"\\]|\\.)*)"
    |(?P<sign>[-+=,\[\]{}])""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)

WORDS: dict[str, bool | None] = {
    "null": None,
    "NULL": None,
    "nul": None,
    "true": True,
    "TRUE": True,
    "yes": True,
    "YES": True,
    "false": False,
    "FALSE": False,
    "no": False,
    "NO": False,
}
"""Bare words that are no strings."""

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
"""Escape sequences in quoted strings; any other character stands for itself."""

MOST_LEVELS = 64
"""How deep arrays and maps nest at most."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number, a string or a sign."""

    kind: str
    """Name of its group in :data:`TOKEN`; ``end`` after the last one."""
    text: str
    """Its text; of a string what is between the quotes."""
    at: int
    """Index of its first character."""


def parse_params(text: str) -> dict[str, ParamValue]:
    """Parse the argument of ``--params``.

    Args:
        text: The argument.

    Returns:
        The values by their names; of a name that comes twice the last one.

    Raises:
        CommandError: It does not follow the language.
    """
    parser = Parser(text)
    params: dict[str, ParamValue] = {}
    while True:
        name = parser.expect_name("a parameter's name")
        parser.expect_sign("=")
        params[name] = parser.value(0)
        if parser.next.kind == "end":
            return params
        parser.expect_sign(",")


class Parser:
    """Takes tokens from a text, one after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scan()
        self.next = next(self._tokens)
        """The token that is not taken yet."""

    def _scan(self) -> Iterator[Token]:
        at = 0
        while at < len(self._text):
            match = TOKEN.match(self._text, at)
            if match is None or match.lastgroup is None:
                raise self._error("a name or a value", at)
            if match.lastgroup != "blank":
                yield Token(match.lastgroup, match[match.lastgroup], at)
            at = match.end()
        yield Token("end", "", at)

    def _error(self, expected: str, at: int) -> CommandError:
        message = f"--params: expected {expected} at character {at + 1}"
        if "\n" not in self._text:
            message += f"\n    {self._text}\n    {' ' * at}^"
        return CommandError(message, exit_code=2, has_lines=True)

    def take(self) -> Token:
        """Take the next token."""
        token = self.next
        if token.kind != "end":
            self.next = next(self._tokens)
        return token

    def take_sign(self, sign: str) -> bool:
        """Take the next token if it is some sign, and tell whether it was."""
        found = self.next.kind == "sign" and self.next.text == sign
        if found:
            self.take()
        return found

    def expect_sign(self, sign: str) -> None:
        """Take a sign that must be there."""
        if not self.take_sign(sign):
            raise self._error(f"'{sign}'", self.next.at)

    def expect_name(self, what: str) -> str:
        """Take a name that must be there."""
        if self.next.kind != "name":
            raise self._error(what, self.next.at)
        return self.take().text

    def value(self, level: int) -> ParamValue:  # noqa: PLR0911 - a case a kind
        """Take a value.

        Args:
            level: How many arrays and maps it is in.
        """
        if level > MOST_LEVELS:
            raise self._error(f"at most {MOST_LEVELS} nested values", self.next.at)
        token = self.take()
        match token:
            case Token("name", text):
                return WORDS.get(text, text)
            case Token("text", text):
                return re.sub(r"\\(.)", _unescaped, text, flags=re.DOTALL)
            case Token("integer" | "real"):
                return self._number(token)
            case Token("sign", "+") if self.next.kind == "integer":
                return UnsignedInteger(self._number(self.take(), most_bits=64))
            case Token("sign", "-" | "+") if self.next.kind in {"integer", "real"}:
                return self._number(self.take(), negative=token.text == "-")
            case Token("sign", "["):
                return self._array(level)
            case Token("sign", "{"):
                return self._map(level)
        raise self._error("a value", token.at)

    def _number(
        self, token: Token, *, negative: bool = False, most_bits: int = 63
    ) -> int | float:
        if token.kind == "real":
            real = float(token.text)
            return -real if negative else real
        try:
            number = _integer(token.text)
        except ValueError:
            raise self._error("an octal integer after the 0", token.at) from None
        if number.bit_length() > most_bits and not (negative and number == 1 << 63):
            raise self._error("an integer of 64 bits", token.at)
        return -number if negative else number

    def _array(self, level: int) -> list[ParamValue]:
        elements: list[ParamValue] = []
        while not self.take_sign("]"):
            elements.append(self.value(level + 1))
            if not self.take_sign(","):
                self.expect_sign("]")
                break
        return elements

    def _map(self, level: int) -> dict[str, ParamValue]:
        entries: dict[str, ParamValue] = {}
        while not self.take_sign("}"):
            name = self.expect_name("a name in the map")
            self.expect_sign("=")
            entries[name] = self.value(level + 1)
            if not self.take_sign(","):
                self.expect_sign("}")
                break
        return entries


def _integer(text: str) -> int:
    if text[:2].lower() in {"0x", "0b"}:
        return int(text, 0)
    return int(text, 8) if text.startswith("0") else int(text)


def _unescaped(match: re.Match[str]) -> str:
    return ESCAPES.get(match[1], match[1])
