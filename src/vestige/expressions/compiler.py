"""Compiles filter expressions, in one pass.

Each operand is written as soon as it is read, and its operator after both of them, as
a stack machine has it. Bitwise operators bind tighter than comparisons, unlike in C.
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING, NamedTuple
from .code import MOST_INSTRUCTIONS, STACK_SIZE, Instruction, Operation
from .tokens import STAR, Token, fail, tokenize

if TYPE_CHECKING:
    from typing import Literal

    _Type = Literal["integer", "real", "text"]

__all__ = ["compile_filter"]

MOST_NESTED = 60
"""Parentheses and signs around one operand."""
LARGEST_INDEX = (1 << 32) - 1

_LEVELS: tuple[dict[str, Operation], ...] = (
    {"||": Operation.SKIP_IF_TRUE},
    {"&&": Operation.SKIP_IF_FALSE},
    {"==": Operation.EQUAL, "!=": Operation.NOT_EQUAL},
    {
        "<": Operation.LESS,
        "<=": Operation.LESS_EQUAL,
        ">": Operation.GREATER,
        ">=": Operation.GREATER_EQUAL,
    },
    {"|": Operation.OR},
    {"^": Operation.XOR},
    {"&": Operation.AND},
    {"<<": Operation.SHIFT_LEFT, ">>": Operation.SHIFT_RIGHT},
)
"""Binary operators, those that bind least first."""
_LOGICAL, _EQUALITY, _RELATIONAL = 2, 3, 4
"""How many levels are logical, up to equality, up to relational."""
_UNARY = {
    "-": Operation.MINUS,
    "!": Operation.NOT,
    "~": Operation.COMPLEMENT,
    "+": None,
}
_OPERAND = "a field, $ctx.NAME, a number, a \"string\", '(', '-', '+', '!' or '~'"


class _Operand(NamedTuple):
    """What is known of an operand."""

    token: Token
    """Its first word."""
    type: _Type | None = None
    """``None`` where only the field tells."""
    text: bytes | None = None
    """A string; unlike all others it is not written yet."""


def compile_filter(text: str) -> tuple[Instruction, ...]:
    """Compile an expression.

    Args:
        text: The expression.

    Returns:
        Its byte code.

    Raises:
        SelectionError: It is none; the message names the column.
    """
    return _Compiler(text).compile()


class _Compiler:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(tokenize(text))
        self._next = 0
        self._code: list[Instruction] = []
        self._depth = 0
        self._nested = 0

    def compile(self) -> tuple[Instruction, ...]:
        """Compile all of it."""
        operand = self._binary(0)
        last = self._tokens[self._next]
        if last.kind != "end":
            raise self._error(last, f"expected an operator or the end, not {last}")
        if operand.type not in {None, "integer"}:
            raise self._error(
                operand.token, f"expected a condition, not {_name(operand)}"
            )
        self._write(Operation.RETURN)
        return tuple(self._code)

    def _error(self, token: Token, expected: str) -> Exception:
        return fail(self._text, token.column, expected)

    def _take(self) -> Token:
        token = self._tokens[self._next]
        if token.kind != "end":
            self._next += 1
        return token

    def _accept(self, *signs: str) -> Token | None:
        token = self._tokens[self._next]
        if token.kind == "sign" and token.text in signs:
            return self._take()
        return None

    def _write(
        self, operation: Operation, index: int = 0, value: float | bytes = 0
    ) -> int:
        """Add an instruction; return its place."""
        if len(self._code) == MOST_INSTRUCTIONS:
            raise fail(self._text, 1, f"expected up to {MOST_INSTRUCTIONS} operations")
        if operation in _PUSHING:
            self._depth += 1
        elif operation in _TAKING:
            self._depth -= 1
        if self._depth > STACK_SIZE:
            raise fail(self._text, 1, f"expected up to {STACK_SIZE} nested operands")
        self._code.append(Instruction(operation, index, value))
        return len(self._code) - 1

    def _binary(self, level: int) -> _Operand:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while sign := self._accept(*_LEVELS[level]):
            operation = _LEVELS[level][sign.text]
            if level < _LOGICAL:
                left = self._logical(left, operation, level)
            elif level < _EQUALITY:
                left = self._equality(left, operation, level)
            else:
                left = self._numeric(left, sign, operation, level)
        wrong = self._tokens[self._next]
        if wrong.kind == "sign" and wrong.text in {"*", "/", "%", "+", "-"}:
            raise self._error(
                wrong,
                f"expected an operator of filters, not {wrong}: arithmetic is not "
                "supported",
            )
        return left

    def _logical(self, left: _Operand, operation: Operation, level: int) -> _Operand:
        self._write_truth(left)
        skip = self._write(operation)
        self._write_truth(self._binary(level + 1))
        self._code[skip] = Instruction(operation, len(self._code))
        return _Operand(left.token, "integer")

    def _write_truth(self, operand: _Operand) -> None:
        if operand.type == "text":
            raise self._error(operand.token, f"expected no string, {_name(operand)}")
        if operand.type != "integer":
            self._write(Operation.TO_INTEGER)

    def _numeric(
        self, left: _Operand, sign: Token, operation: Operation, level: int
    ) -> _Operand:
        operands = (left, self._binary(level + 1))
        for one in operands:
            if one.type == "text":
                raise self._error(
                    one.token, f"expected a number next to '{sign.text}', not a string"
                )
            if one.type == "real" and level >= _RELATIONAL:
                raise self._error(
                    one.token, f"expected an integer next to '{sign.text}'"
                )
        self._write(operation)
        return _Operand(left.token, "integer")

    def _equality(self, left: _Operand, operation: Operation, level: int) -> _Operand:
        right = self._binary(level + 1)
        pattern, other = left, right
        if _is_pattern(right):
            pattern, other = right, left
        if _is_pattern(other):
            return self._two_patterns(left, right, operation)
        for one, two in ((left, right), (right, left)):
            if one.type == "text" and two.type in {"integer", "real"}:
                raise self._error(two.token, f"expected a string next to {_name(one)}")
        if _is_pattern(pattern):
            self._write_string(other)
            is_same = operation is Operation.EQUAL
            match = Operation.MATCHES if is_same else Operation.MATCHES_NOT
            self._write(match, value=pattern.text or b"")
        else:
            # In any order: both sides are alike.
            self._write_string(left)
            self._write_string(right)
            self._write(operation)
        return _Operand(left.token, "integer")

    def _two_patterns(
        self, left: _Operand, right: _Operand, operation: Operation
    ) -> _Operand:
        """Compare two beginnings, as LTTng does: of one text, one begins the other."""
        beginnings = [(one.text or b"").removesuffix(STAR) for one in (left, right)]
        if any(STAR in one for one in beginnings):
            raise self._error(right.token, "expected a pattern on one side only")
        one, two = beginnings
        can_match = one.startswith(two) or two.startswith(one)
        self._write(
            Operation.INTEGER, value=int(can_match is (operation is Operation.EQUAL))
        )
        return _Operand(left.token, "integer")

    def _write_string(self, operand: _Operand) -> None:
        if operand.text is not None:
            self._write(Operation.TEXT, value=operand.text)

    def _unary(self) -> _Operand:
        sign = self._accept(*_UNARY)
        if sign is None:
            return self._primary()
        self._enter(sign)
        operand = self._unary()
        self._nested -= 1
        if operand.type == "text":
            raise self._error(
                operand.token, f"expected a number after '{sign.text}', not a string"
            )
        if operand.type == "real" and sign.text == "~":
            raise self._error(operand.token, "expected an integer after '~'")
        operation = _UNARY[sign.text]
        if operation is not None:
            self._write(operation)
        is_number = sign.text in {"-", "+"}
        return _Operand(sign, operand.type if is_number else "integer")

    def _enter(self, token: Token) -> None:
        self._nested += 1
        if self._nested > MOST_NESTED:
            raise self._error(token, f"expected up to {MOST_NESTED} levels of nesting")

    def _primary(self) -> _Operand:
        token = self._take()
        if token.kind == "integer":
            self._write(Operation.INTEGER, value=token.value)
            return _Operand(token, "integer")
        if token.kind == "real":
            self._write(Operation.REAL, value=token.value)
            return _Operand(token, "real")
        if token.kind == "text" and isinstance(token.value, bytes):
            return _Operand(token, "text", token.value)
        if token.kind in {"name", "context"}:
            self._name(token)
            return _Operand(token)
        if token.text != "(":
            raise self._error(token, f"expected {_OPERAND}, not {token}")
        self._enter(token)
        operand = self._binary(0)
        self._nested -= 1
        if self._accept(")") is None:
            found = self._tokens[self._next]
            raise self._error(found, f"expected an operator or ')', not {found}")
        return operand._replace(token=token)

    def _name(self, token: Token) -> None:
        path = token.text
        is_context = token.kind == "context"
        if is_context:
            domain, _, path = path.partition(".")
            if domain not in {"$ctx", "$app"} or not path:
                raise self._error(
                    token, f"expected $ctx.NAME or $app.PROVIDER:TYPE, not {token}"
                )
            if domain == "$app":
                # The tracer has none of them; its own have no such names.
                path = token.text
        name = path.encode()
        index: int | None = None
        while sign := self._accept(".", "["):
            if index is not None:
                # What has elements of elements, or members of elements, is nowhere.
                name += b"[%d]" % index
                index = None
            if sign.text == "[":
                index = self._index()
            else:
                name += b"." + self._member()
        if index is None or is_context:
            name += b"" if index is None else b"[%d]" % index
            self._write(
                Operation.CONTEXT if is_context else Operation.FIELD, value=name
            )
        else:
            self._write(Operation.ELEMENT, min(index, LARGEST_INDEX), name)

    def _index(self) -> int:
        token = self._take()
        if token.kind != "integer" or not isinstance(token.value, int):
            raise self._error(token, f"expected a constant index, not {token}")
        close = self._take()
        if close.text != "]":
            raise self._error(close, f"expected ']', not {close}")
        return token.value % (1 << 64)

    def _member(self) -> bytes:
        token = self._take()
        if token.kind != "name":
            raise self._error(token, f"expected the name of a member, not {token}")
        return token.text.encode()


_PUSHING = {
    Operation.INTEGER,
    Operation.REAL,
    Operation.TEXT,
    Operation.FIELD,
    Operation.ELEMENT,
    Operation.CONTEXT,
}
_TAKING = {operation for level in _LEVELS for operation in level.values()} | {
    Operation.RETURN
}


def _is_pattern(operand: _Operand) -> bool:
    return operand.text is not None and STAR in operand.text


def _name(operand: _Operand) -> str:
    names: dict[_Type | None, str] = {
        "integer": "an integer",
        "real": "a real number",
        "text": "a string",
        None: "a field",
    }
    return names[operand.type]
