"""Filter expressions become byte code, or are told where they are wrong."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.expressions import compile_filter
from vestige.expressions.code import MOST_INSTRUCTIONS, STACK_SIZE


def code(text):
    """Return an expression as words, with places of skips."""
    return " ".join(_word(one) for one in compile_filter(text)).removesuffix(" RETURN")


def _word(instruction):
    value = instruction.value
    name = instruction.operation.name
    if name in {"INTEGER", "REAL"}:
        return str(value)
    if name.startswith("SKIP"):
        return f"{name[8:]}>{instruction.argument}"
    if isinstance(value, bytes):
        index = f"[{instruction.argument}]" if name == "ELEMENT" else ""
        sign = {"CONTEXT": "$", "TEXT": "'", "MATCHES": "~", "MATCHES_NOT": "!~"}
        return sign.get(name, "") + value.replace(b"\0", b"*").decode() + index
    return name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 & 2 == 2", "2 2 AND 2 EQUAL"),
        ("a | b ^ c & d << e", "a b c d e SHIFT_LEFT AND XOR OR"),
        ("a << b >> c", "a b SHIFT_LEFT c SHIFT_RIGHT"),
        ("a == b < c", "a b c LESS EQUAL"),
        ("a <= b != c", "a b LESS_EQUAL c NOT_EQUAL"),
        ("-a<<!b", "a MINUS b NOT SHIFT_LEFT"),
        ("- - a", "a MINUS MINUS"),
        ("~+a >= 1", "a COMPLEMENT 1 GREATER_EQUAL"),
        ("(a > b) & 1", "a b GREATER 1 AND"),
        ("!a && b", "a NOT FALSE>5 b TO_INTEGER"),
        ("a || b || c", "a TO_INTEGER TRUE>5 b TO_INTEGER TRUE>8 c TO_INTEGER"),
        ("1 || 0 && 1", "1 TRUE>5 0 FALSE>5 1"),
        ("1 && 0 || 1", "1 FALSE>3 0 TRUE>5 1"),
        ("0x1F == 017", "31 15 EQUAL"),
        ("0b101u == 10UL", "5 10 EQUAL"),
        ("18446744073709551615 == -1", "-1 1 MINUS EQUAL"),
        ("a < 17.34e9", "a 17340000000.0 LESS"),
        ("a < .5f && a > 1.", "a 0.5 LESS FALSE>7 a 1.0 GREATER"),
        ("a == 0x1p-1", "a 0.5 EQUAL"),
        ('a == "b*"', "a ~b*"),
        ('"b*" != a', "a !~b*"),
        ('"good*" == "good day*"', "1"),
        ('"good day*" != "good*"', "0"),
        ('"a*" == "b*" || "a*" != "b*"', "0 TRUE>3 1"),
        ('a == "b\\*"', "a 'b* EQUAL"),
        (r'a == "\x41\102\t\""', "a 'AB\t\" EQUAL"),
        ("a == 'b\"'", "a 'b\" EQUAL"),
        ('"" == a', "a ' EQUAL"),
        ("a.b.c[1] == 2", "a.b.c[1] 2 EQUAL"),
        ("a[1].b == 2", "a[1].b 2 EQUAL"),
        ("a[0x2][3] == 2", "a[2][3] 2 EQUAL"),
        ("$ctx.vpid == 1", "$vpid 1 EQUAL"),
        ("$ctx.perf:cpu:stalled-cycles", "$perf:cpu:stalled-cycles"),
        ("$app.server:cur_user == 1", "$$app.server:cur_user 1 EQUAL"),
        (" a\n&&\tb ", "a TO_INTEGER FALSE>5 b TO_INTEGER"),
    ],
)
def test_what_is_written(text, expected):
    """Operands before their operators; what is tighter first."""
    assert code(text) == expected


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "expected a field, .*, not the end"),
        ("a &&", 5, "expected a field, .*, not the end"),
        ("a == == b", 6, "not '=='"),
        ("a b", 3, "expected an operator or the end, not 'b'"),
        ("(a", 3, r"expected an operator or '\)', not the end"),
        ("a)", 2, r"not '\)'"),
        ("a = 1", 3, "expected an operator or the end, not '='"),
        ("a + 1", 3, "arithmetic is not supported"),
        ("a && b % 2", 8, "arithmetic is not supported"),
        ("a ? b : c", 3, r"not '\?'"),
        ("a->b", 2, "not '->'"),
        ("a; b", 2, "expected a field, a constant or an operator, not ';'"),
        ("é == 1", 1, "not 'é'"),
        ("1abc", 1, "expected a number as in C"),
        ("08", 1, "expected a number as in C"),
        ("0x", 1, "expected a number as in C"),
        ("1.5.2", 1, "expected a number as in C"),
        ("a == 18446744073709551616", 6, "expected an integer of up to 64 bits"),
        ('a == "b', 6, 'expected a " at the end of the string'),
        (r'a == "b\q"', 8, "expected .* another escape of C"),
        (r'a == "\0"', 7, "and no zero"),
        ('a == "b\\', 8, "expected .* another escape of C"),
        ('"a"', 1, "expected a condition, not a string"),
        ("1.5", 1, "expected a condition, not a real number"),
        ("-(1.5)", 1, "expected a condition, not a real number"),
        ('a < "b"', 5, "expected a number next to '<', not a string"),
        ('"b" & a', 1, "expected a number next to '&', not a string"),
        ("a & 1.5", 5, "expected an integer next to '&'"),
        ("a << 1.0 == 2", 6, "expected an integer next to '<<'"),
        ("~1.5", 2, "expected an integer after '~'"),
        ('!"a"', 2, "expected a number after '!', not a string"),
        ('a && "b"', 6, "expected no string"),
        ('"a" == 1', 8, "expected a string next to a string"),
        ('1 == "a"', 1, "expected a string next to a string"),
        ('"a*" == "*b"', 9, "expected a pattern on one side only"),
        ('"a**" == "b*"', 10, "expected a pattern on one side only"),
        ("$ctx == 1", 1, r"expected \$ctx.NAME or \$app.PROVIDER:TYPE"),
        ("$env.HOME == 1", 1, r"expected \$ctx.NAME"),
        ("a[-1]", 3, "expected a constant index, not '-'"),
        ("a[b]", 3, "expected a constant index, not 'b'"),
        ("a[1", 4, "expected ']', not the end"),
        ("a.1", 2, ""),
        ("a.[1]", 3, "expected the name of a member"),
    ],
)
def test_what_is_no_expression(text, column, expected):
    """The column is told, and what was expected there."""
    with pytest.raises(SelectionError, match=f"column {column}: .*{expected}"):
        compile_filter(text)


def test_limits():
    """Of nesting and length, so that nothing overflows here or in the tracer."""
    nested = "(" * 50 + "a" + ")" * 50
    assert code(nested) == "a"
    for text in ("(" * 100 + "a", "-" * 5000 + "a", "!(" * 5000):
        with pytest.raises(SelectionError, match="levels of nesting"):
            compile_filter(text)
    operands = "a&(" * (STACK_SIZE - 1) + "b" + ")" * (STACK_SIZE - 1)
    compile_filter(operands)
    with pytest.raises(SelectionError, match="nested operands"):
        compile_filter(f"a&({operands})")
    terms = MOST_INSTRUCTIONS // 3
    compile_filter("||".join(["a"] * terms))
    with pytest.raises(SelectionError, match="operations"):
        compile_filter("||".join(["a"] * (terms + 1)))
