"""Random filter expressions, and what they are for an event by the plain rules.

The rules are those of lttng-enable-event(1): integers have 64 bits and a sign, bitwise
operators bind tighter than comparisons, what is absent makes all of it false.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

__all__ = ["FILTERS", "Expression", "passes", "random_filter"]

Fields = Mapping[str, Any]

FILTERS = (
    'text == "bash"',
    "$ctx.vtid == 1988 || $ctx.vtid == 1534",
    "$app.retriever:cur_msg_id > 3",
    'text == "*/ls"',
    'other == "bash"',
    "number == 3 && wide >= 0",
    '$ctx.procname == "cho*" && (!number || number < 4)',
    "$app.my_provider:my_context == 17.34e9 || shade >= 1",
    '$ctx.cpu_id >= 0 && text != "*.log"',
    "huge & 0xff7 == 0x240 && pair[1] >> 4 <= 0x1234",
    "2 & 2 == 2",
    "number",
    "!number",
    "!!number",
    "-number > 2",
    "+number > 2",
    "~number == 2",
    "- - number == 5",
    "~tiny & 1",
    "byte > 200",
    "tiny < -100",
    "tiny == byte",
    "wide == huge",
    "huge < 0",
    "huge > 9223372036854775807",
    "huge == 0xffffffffffffffff",
    "huge == 18446744073709551615",
    "wide == -1",
    "wide >> 60 == 15",
    "wide >> 63",
    "wide << 1 == 0",
    "1 << wide",
    "1 << wide != 0 || 1",
    "1 >> number",
    "number << 62 < 0",
    "number | 1 == number",
    "number ^ 5 == 0",
    "number & 1 | 2 == 3",
    "number & 6 ^ 6",
    "number < 3 == 1",
    "number == 3 == 0",
    "number != 3 != 0",
    "0 < number < 2",
    "number > 1 && number < 5 || number == -3",
    "number == -3 || number > 1 && number < 5",
    "(number == -3 || number > 1) && number < 5",
    "017 == number",
    "0x0A == number",
    "10 == number",
    "10u == number",
    "10UL == number",
    "port == 9000",
    "port < 0",
    "address == 0x80000001",
    "address > 0x90000001",
    "hidden == 50",
    "real == 0.5",
    "real == 17.34e9",
    "real > .25",
    "real < 1.",
    "-real > 0.1",
    "real && 1",
    "real || 0",
    "!real",
    "narrow == 0.5",
    "narrow == real",
    "narrow > number",
    "real >= number",
    "number < 2.5",
    "real == 1",
    "real != 1",
    "real",
    "real & 1",
    "~real",
    "text == other",
    "text != other",
    'text == ""',
    'text == "*"',
    'text != "*"',
    'text == "bas*"',
    'text == "b*h"',
    'text == "*s*l*"',
    'text == "a\\*b"',
    'text == "a*b"',
    'text == "\\\\"',
    '"bash" == text',
    '"*bash*" == text',
    '"bash*" == "bash -c*"',
    '"bash -c*" != "bash*"',
    '"a*" == "b*" || "a*" != "b*"',
    "text == word",
    'word == "five5"',
    'word == "eight*"',
    'word == "eightchr"',
    "piece == text",
    'piece == "bas"',
    "text > 3",
    "text == 3",
    "text && 1",
    'shade == "RED"',
    "shade == 2",
    "pair[0] == -2",
    "pair[1] > 3000",
    "pair[2] == 0",
    "pair[2] == 0 || 1",
    "pair == 1",
    "list[0] == 0",
    "1 || list[3] == 1",
    "quad[3] == 0",
    "quad[1] >= 1536 && number > 3",
    "-quad[1] < 0",
    "!quad[1] && number",
    "halves[2] < 0",
    "halves[2] && number",
    "halves[7] == quad[0]",
    "halves == 1",
    "missing == 1",
    "missing == 1 || 1",
    "1 || missing == 1",
    "number.member == 1",
    "number[0] == 1",
    "$ctx.missing == 1 || 1",
    "$ctx.tid == 1988 || number == 3",
    "$ctx.vpid == $ctx.vtid",
    "$ctx.vpid > 0 && $ctx.pthread_id",
    "$ctx.mnt_ns > 0 && $ctx.vuid == $ctx.veuid",
    '$ctx.procname != "x*"',
    "(number || 0) == 4",
    "(2 && number) == 4",
    "(number && 2) == 1",
    "(0 || number) == 4",
    "(number || 5) == 1",
)
"""Of lttng-enable-event(1), and of each row of the grammar."""

INTEGERS = (
    "number",
    "tiny",
    "byte",
    "wide",
    "huge",
    "port",
    "address",
    "hidden",
    "shade",
)
REALS = ("real", "narrow")
TEXTS = ("text", "other", "word", "piece")
STRINGS = ("", "bash", "bas", "/bin/ls", "five5", "eightchr", "(null)")
PATTERNS = ("*", "b*", "*s", "*a*s*", "bas*sh*", "**", "five*", "a\\*b")
CONSTANTS = (0, 1, 2, 3, 7, 10, 63, 64, 200, 0x240, 4096, (1 << 63) - 1, (1 << 64) - 1)
REAL_CONSTANTS = ("0.5", ".25", "1.", "17.34e9", "2e0", "0x1p-1")
ELEMENTS = (
    ("pair", 0),
    ("pair", 1),
    # Of sequences that may be empty, the first: LTTng 2.13 reads behind the end of them.
    ("list", 0),
    ("ports", 0),
    *(("quad", index) for index in range(4)),
    *(("halves", index) for index in range(1, 8, 2)),
)
UNARY, SHIFT, AND, XOR, OR, RELATION, EQUALITY, ALL, ANY = range(9, 0, -1)
"""How tight operators bind."""
RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
EQUALITIES: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
BITS: Mapping[str, tuple[int, Callable[[int, int], int]]] = {
    "&": (AND, lambda a, b: a & b),
    "^": (XOR, lambda a, b: a ^ b),
    "|": (OR, lambda a, b: a | b),
}


class AbsentError(Exception):
    """What an expression names is not there."""


class Expression(NamedTuple):
    """A part of an expression, and its value for an event."""

    text: str
    level: int
    value: Callable[[Fields], Any]


def passes(expression: Expression, fields: Fields) -> bool:
    """Tell whether an event passes."""
    try:
        return bool(expression.value(fields))
    except AbsentError:
        return False


def random_filter(source: random.Random, depth: int = 4) -> Expression:
    """Make an expression that is a condition."""
    kind = source.randrange(8) if depth else 0
    if kind < 3:
        return _comparison(source, depth)
    if kind < 6:
        return _logical(source, depth)
    if kind == 6:
        return _unary(source, random_filter(source, depth - 1), "!")
    return _integer(source, depth)


def _signed(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _whole(number: float) -> int:
    fits = -(2.0**63) <= number < 2.0**63
    return int(number) if fits else -(1 << 63)


def _put(source: random.Random, part: Expression, level: int) -> str:
    is_needed = part.level < level
    if is_needed or not source.randrange(6):
        return f"({part.text})"
    return part.text


def _join(
    source: random.Random,
    sides: tuple[Expression, Expression],
    sign: str,
    level: int,
    value: Callable[[Fields], Any],
) -> Expression:
    space = source.choice(("", " "))
    left = _put(source, sides[0], level)
    right = _put(source, sides[1], level + 1)
    return Expression(f"{left}{space}{sign}{space}{right}", level, value)


def _logical(source: random.Random, depth: int) -> Expression:
    left, right = (_truth(source, depth - 1) for _ in range(2))
    if source.randrange(2):
        return _join(
            source, (left, right), "&&", ALL, lambda f: left.value(f) and right.value(f)
        )
    return _join(
        source,
        (left, right),
        "||",
        ANY,
        lambda f: 1 if left.value(f) else right.value(f),
    )


def _truth(source: random.Random, depth: int) -> Expression:
    """Make an operand of && and ||, where reals become integers."""
    if source.randrange(5):
        return random_filter(source, depth)
    real = _real(source)
    return Expression(real.text, real.level, lambda f: _whole(real.value(f)))


def _comparison(source: random.Random, depth: int) -> Expression:
    kind = source.randrange(4)
    if kind == 0:
        return _text_comparison(source)
    if kind == 1:
        sides = [_real(source), source.choice((_real(source), _integer(source, depth)))]
        source.shuffle(sides)
    else:
        sides = [_integer(source, depth), _integer(source, depth)]
    left, right = sides
    is_relation = bool(source.randrange(2))
    sign, compare = source.choice(
        list((RELATIONS if is_relation else EQUALITIES).items())
    )

    def value(fields: Fields) -> int:
        one, two = left.value(fields), right.value(fields)
        if isinstance(one, float) or isinstance(two, float):
            one, two = float(one), float(two)
        return int(compare(one, two))

    return _join(
        source, (left, right), sign, RELATION if is_relation else EQUALITY, value
    )


def _text_comparison(source: random.Random) -> Expression:
    name = source.choice(TEXTS)
    left = Expression(name, UNARY, lambda f: f[name])
    sign = source.choice(("==", "!="))
    other = source.choice((*STRINGS, *PATTERNS, None))
    if other is None:
        field = source.choice(TEXTS)
        right = Expression(field, UNARY, lambda f: f[field])
        same: Callable[[Fields], bool] = lambda f: f[name] == f[field]  # noqa: E731
    else:
        parts = [
            re.escape(p) for p in re.split(r"(?<!\\)\*", other.replace("\\*", "\0"))
        ]
        pattern = re.compile(".*".join(parts).replace("\0", r"\*"), re.DOTALL)
        right = Expression(f'"{other}"', UNARY, lambda f: None)  # noqa: ARG005
        same = lambda f: pattern.fullmatch(f[name]) is not None  # noqa: E731
    sides = (left, right) if source.randrange(2) else (right, left)
    return _join(
        source, sides, sign, EQUALITY, lambda f: int(same(f) == (sign == "=="))
    )


def _real(source: random.Random) -> Expression:
    if source.randrange(2):
        name = source.choice(REALS)
        made = Expression(name, UNARY, lambda f: float(f[name]))
    else:
        text = source.choice(REAL_CONSTANTS)
        number = float.fromhex(text) if "x" in text else float(text)
        made = Expression(text, UNARY, lambda f: number)  # noqa: ARG005
    if source.randrange(4):
        return made
    return Expression(f"-{made.text}", UNARY, lambda f: -made.value(f))


def _unary(source: random.Random, operand: Expression, sign: str) -> Expression:
    changes: Mapping[str, Callable[[int], int]] = {
        "!": lambda n: int(not n),
        "~": lambda n: ~n,
        "-": lambda n: _signed(-n),
        "+": lambda n: n,
    }
    text = f"{sign}{_put(source, operand, UNARY)}"
    return Expression(text, UNARY, lambda f: changes[sign](operand.value(f)))


def _integer(source: random.Random, depth: int) -> Expression:
    kind = source.randrange(6) if depth > 0 else source.randrange(3)
    if kind == 0:
        return _constant(source)
    if kind == 1:
        return _element(source)
    if kind == 2:
        name = source.choice(INTEGERS)
        return Expression(name, UNARY, lambda f: _signed(int(f[name])))
    if kind == 3:
        return _unary(source, _integer(source, depth - 1), source.choice("~-+!"))
    left, right = (_integer(source, depth - 1) for _ in range(2))
    if kind == 4:
        sign, (level, bits) = source.choice(list(BITS.items()))
        return _join(
            source,
            (left, right),
            sign,
            level,
            lambda f: bits(left.value(f), right.value(f)),
        )
    sign = source.choice(("<<", ">>"))

    def shift(fields: Fields) -> int:
        number, count = left.value(fields) % (1 << 64), right.value(fields)
        if not 0 <= count < 64:
            raise AbsentError
        return _signed(number << count if sign == "<<" else number >> count)

    return _join(source, (left, right), sign, SHIFT, shift)


def _constant(source: random.Random) -> Expression:
    number = source.choice(CONSTANTS)
    octal = f"0{number:o}" if number else "0"
    text = source.choice((str(number), hex(number), octal))
    return Expression(text, UNARY, lambda f: _signed(number))  # noqa: ARG005


def _element(source: random.Random) -> Expression:
    name, index = source.choice(ELEMENTS)

    def value(fields: Fields) -> int:
        if index >= len(fields[name]):
            raise AbsentError
        return int(fields[name][index])

    return Expression(f"{name}[{index}]", UNARY, value)
