"""From the byte code of a filter to its conditions, and back.

Negations are moved down (De Morgan), so that what must be true beside each other can be
told apart. The order of evaluation stays: where an operand is missing, all is false.
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple
from ....expressions.code import Instruction, Operation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

__all__ = ["Condition", "Term", "conditions", "written"]

_SKIPS = {Operation.SKIP_IF_FALSE: "and", Operation.SKIP_IF_TRUE: "or"}
_ONE = frozenset(
    {
        *(Operation.MINUS, Operation.NOT, Operation.COMPLEMENT, Operation.TO_INTEGER),
        *(Operation.MATCHES, Operation.MATCHES_NOT),
    }
)
"""What takes one operand."""
_PUSHING = frozenset(
    {
        *(Operation.INTEGER, Operation.REAL, Operation.TEXT),
        *(Operation.FIELD, Operation.ELEMENT, Operation.CONTEXT),
    }
)


class Term(NamedTuple):
    """A part of an expression that makes a value."""

    what: Instruction
    """The instruction that makes it."""

    operands: tuple[Term, ...]
    code: tuple[Instruction, ...]
    """All of it; skips lead as far as they lead from where it begins."""


class Condition(NamedTuple):
    """Something that is true or not."""

    kind: Literal["and", "or", "term"]
    parts: tuple[Condition, ...] = ()
    term: Term | None = None
    is_negated: bool = False
    """Of a term: whether it must not be true."""


def conditions(code: Sequence[Instruction]) -> Condition:
    """Take an expression apart.

    Args:
        code: Its byte code, as it was compiled.

    Returns:
        Its conditions; none of the kind ``and`` or ``or`` is directly in one of its
        kind.
    """
    stack: list[Term] = []
    starts: list[int] = []
    skips: list[Instruction] = []
    for place, one in enumerate(code):
        while skips and skips[-1].argument == place:
            skip = skips.pop()
            right, left = stack.pop(), stack.pop()
            starts.pop()
            stack.append(Term(skip, (left, right), _part(code, starts[-1], place)))
        if one.operation is Operation.RETURN:
            break
        if one.operation in _SKIPS:
            skips.append(one)
            continue
        count = 0 if one.operation in _PUSHING else 1 if one.operation in _ONE else 2
        operands = tuple(stack[len(stack) - count :])
        begin = starts[len(starts) - count] if count else place
        if count:
            del stack[-count:], starts[-count:]
        stack.append(Term(one, operands, _part(code, begin, place + 1)))
        starts.append(begin)
    return _normal(stack[0], is_negated=False)


def _part(code: Sequence[Instruction], begin: int, end: int) -> tuple[Instruction, ...]:
    return tuple(_moved(code[begin:end], -begin))


def _moved(code: Sequence[Instruction], by: int) -> list[Instruction]:
    return [
        one._replace(argument=one.argument + by) if one.operation in _SKIPS else one
        for one in code
    ]


def _normal(term: Term, *, is_negated: bool) -> Condition:
    operation = term.what.operation
    if operation is Operation.NOT:
        return _normal(term.operands[0], is_negated=not is_negated)
    if operation is Operation.TO_INTEGER:
        return _normal(term.operands[0], is_negated=is_negated)
    if operation not in _SKIPS:
        return Condition("term", term=term, is_negated=is_negated)
    is_and = (operation is Operation.SKIP_IF_FALSE) is not is_negated
    kind: Literal["and", "or"] = "and" if is_and else "or"
    parts: list[Condition] = []
    for one in term.operands:
        part = _normal(one, is_negated=is_negated)
        parts += part.parts if part.kind == kind else (part,)
    return Condition(kind, tuple(parts))


def written(condition: Condition) -> list[Instruction]:
    """Return the byte code of a condition, which leaves an integer.

    Args:
        condition: The condition.

    Returns:
        Its instructions, without an end.
    """
    if condition.term is not None:
        end = Operation.NOT if condition.is_negated else Operation.TO_INTEGER
        return [*condition.term.code, Instruction(end)]
    is_and = condition.kind == "and"
    skip = Operation.SKIP_IF_FALSE if is_and else Operation.SKIP_IF_TRUE
    code: list[Instruction] = []
    for number, part in enumerate(condition.parts):
        begin = len(code) + bool(number)
        after = _moved(written(part), begin)
        if number:
            code.append(Instruction(skip, begin + len(after)))
        code += after
    return code
