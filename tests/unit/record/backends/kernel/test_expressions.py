"""What the kernel's filters take of LTTng's: both parts together are the whole."""

from __future__ import annotations

import random
import re

import pytest

from support.kernel_tracer import why_not
from vestige.errors import SelectionError
from vestige.expressions import compile_filter
from vestige.expressions.code import Operation
from vestige.record.backends.kernel.conditions import conditions, written
from vestige.record.backends.kernel.expressions import split, whole
from vestige.record.backends.kernel.formats import read_format
from vestige.record.backends.kernel.tracefs import Instance, Tracefs

SWITCH = read_format(
    "sched",
    "sched_switch",
    """\
ID: 3
	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:int prev_prio;	offset:28;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
""",
)
WRITE = read_format(
    "syscalls",
    "sys_enter_write",
    """\
ID: 4
	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:unsigned int fd;	offset:16;	size:8;	signed:0;
	field:const char * buf;	offset:24;	size:8;	signed:0;
	field:size_t count;	offset:32;	size:8;	signed:0;
""",
)
OPEN = read_format(
    "syscalls",
    "sys_enter_open",
    """\
ID: 5
	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:const char * filename;	offset:16;	size:8;	signed:0;
	field:int flags;	offset:24;	size:8;	signed:0;
""",
)
OPEN_WITH_TEXT = read_format(
    "syscalls",
    "sys_enter_open",
    """\
ID: 5
	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:const char * filename;	offset:16;	size:8;	signed:0;
	field:__data_loc char[] __filename_val;	offset:24;	size:4;	signed:0;
""",
)
SOFTIRQ = read_format(
    "irq",
    "softirq_entry",
    "ID: 6\n\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n",
)
BITS = 1 << 64


@pytest.mark.parametrize(
    ("event", "text", "kernel"),
    [
        (SWITCH, "prev_tid == 5", "prev_pid == 5"),
        (SWITCH, "7 > prev_tid && -1 != prev_tid", "prev_pid < 7 && prev_pid != -1"),
        (SWITCH, "prev_prio < 20", "prev_prio < 120"),
        (
            SWITCH,
            "!(prev_tid < 5 || prev_prio == 0)",
            "prev_pid >= 5 && prev_prio != 100",
        ),
        (SWITCH, 'prev_comm == "sh"', 'prev_comm == "sh"'),
        (SWITCH, "prev_comm == 'a\"b'", "prev_comm == 'a\"b'"),
        (SWITCH, '"ab*" != prev_comm', '!(prev_comm ~ "ab*")'),
        (SWITCH, "prev_state & 0x100", "prev_state & 0x100"),
        (SWITCH, "(prev_state & (1 << 8)) == 0", "!(prev_state & 0x100)"),
        (SWITCH, "prev_state & 2 == 2", "prev_state & 0x2"),
        (SWITCH, r'prev_comm == "a\*"', 'prev_comm == "a*"'),
        (SWITCH, "!prev_state", "prev_state == 0"),
        (SWITCH, "$ctx.tid == 3", "common_pid == 3"),
        (SWITCH, '$ctx.procname == "a*"', 'COMM ~ "a*"'),
        (SWITCH, "$ctx.cpu_id == 1", "CPU == 1"),
        (WRITE, "count == 0", "count == 0"),
        (WRITE, "count > 100", f"(count > 100 && count <= {BITS // 2 - 1})"),
        (WRITE, "count < -3", f"(count < {BITS - 3} && count > {BITS // 2 - 1})"),
        (OPEN, 'filename == "/etc/*"', 'filename.ustring ~ "/etc/*"'),
        (OPEN_WITH_TEXT, 'filename == "/etc/*"', '__filename_val ~ "/etc/*"'),
    ],
)
def test_what_the_kernel_can_compare_it_compares(event, text, kernel):
    """Under its own names, with its own priorities."""
    assert split([text], event) == (kernel, None)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (SWITCH, "prev_tid == prev_prio"),
        (SWITCH, "prev_tid & 3 == 3"),
        (SWITCH, "prev_tid == 5000000000"),
        (SWITCH, 'prev_comm == "*sh"'),
        (SWITCH, 'prev_comm == "a?c*"'),
        (SWITCH, 'prev_comm == "0123456789abcdef"'),
        (SWITCH, 'prev_comm == "ü"'),
        (SWITCH, "prev_tid == 1.5"),
        (SWITCH, "prev_tid == 5 || $ctx.pid == 7"),
        (WRITE, "buf == 0x7fff"),
        # Registers of programs have more bits than an int.
        (WRITE, "fd == 1"),
        (OPEN, "flags & 1"),
        (SOFTIRQ, "vec == 3"),
    ],
)
def test_what_the_kernel_compares_otherwise_is_left(event, text):
    """It would cut numbers, or look at what follows a text."""
    assert split([text], event) == (None, compile_filter(text))


def test_conditions_beside_each_other_are_told_apart():
    """One that the kernel cannot say keeps no other from it."""
    kernel, rest = split(
        ["$ctx.pid == 7 && (fd == 1 || count == 2) && count > 0"], WRITE
    )

    assert kernel == f"(count > 0 && count <= {BITS // 2 - 1})"
    assert rest is not None
    names = {one.value for one in rest if isinstance(one.value, bytes)}
    assert names == {b"pid", b"fd", b"count"}


def test_of_two_rules_one_must_be_true():
    """The kernel gets what both leave out, and nothing where one has no filter."""
    assert split(["prev_tid == 1", "prev_tid == 2"], SWITCH) == (
        "(prev_pid == 1) || (prev_pid == 2)",
        None,
    )
    both = ["prev_tid == 1 && $ctx.pid == 3", "prev_tid == 2"]
    assert split(both, SWITCH) == ("(prev_pid == 1) || (prev_pid == 2)", whole(both))
    assert split(["prev_tid == 1", "$ctx.pid == 3"], SWITCH).kernel is None
    assert split(["prev_tid == 1", None], SWITCH) == (None, None)
    assert split(["prev_tid == 1", "prev_tid == 1"], SWITCH) == ("prev_pid == 1", None)


def test_a_filter_that_is_too_long_is_left():
    """The kernel takes a page."""
    many = " && ".join(f"prev_tid != {number}" for number in range(100_000, 100_300))
    kernel, rest = split([many], SWITCH)

    assert kernel is not None
    assert len(kernel) < 4096
    assert rest is not None
    assert (f"prev_pid != {100_000}" in kernel, len(rest) > 4) == (True, True)


def test_what_is_no_filter_is_refused():
    """With its column."""
    with pytest.raises(SelectionError, match="column 3"):
        split(["1 +"], SWITCH)


NUMBERS = [0, 1, 2, 5, -1, 100, 119, 255, 256, BITS // 2 - 1, -BITS // 2]
REGISTERS = [*range(7), 100, 255, 256, BITS - 1, BITS // 2, BITS // 2 - 1]


def word(numbers):
    """Return a short text."""
    return "".join(numbers.choices("ab", k=numbers.randrange(4)))


def leaf(numbers):
    """Return a comparison of a field or a context."""
    one = numbers.choice
    name = one(["count", "buf", "fd", "$ctx.tid", "$ctx.pid"])
    number, sign = one(NUMBERS), one(["<", "<=", ">", ">=", "==", "!="])
    mask = one([1, 2, 4, 3, 1 << 40])
    end = one(["", " == 0", " != 0", f" == {mask}"])
    pattern = word(numbers) + one(["", "*", "*b"])
    return one(
        [
            f"{name} {sign} {number}",
            f"{number} {sign} {name}",
            f"({name} & {mask}){end}",
            name,
            f'$ctx.procname {one(["==", "!="])} "{pattern}"',
        ]
    )


def expression(numbers, depth=4):
    """Return a filter of any shape."""
    kind = numbers.randrange(4) if depth else 0
    if kind == 0:
        return leaf(numbers)
    one = expression(numbers, depth - 1)
    if kind == 1:
        return f"!({one})"
    sign = "&&" if kind == 2 else "||"
    return f"({one} {sign} {expression(numbers, depth - 1)})"


def record_of(numbers):
    """Return what a record of the kernel holds, and whose it is."""
    return {
        **{name: numbers.choice(REGISTERS) for name in ("count", "buf", "fd")},
        **{name: numbers.randrange(7) for name in ("tid", "pid")},
        "procname": word(numbers),
    }


def signed(value, bits=64):
    """Return a number as one with a sign."""
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


TWO = {
    Operation.LESS: int.__lt__,
    Operation.LESS_EQUAL: int.__le__,
    Operation.GREATER: int.__gt__,
    Operation.GREATER_EQUAL: int.__ge__,
    Operation.EQUAL: lambda one, other: one == other,
    Operation.NOT_EQUAL: lambda one, other: one != other,
    Operation.AND: int.__and__,
}
ONE = {
    Operation.MINUS: lambda one: signed(-one),
    Operation.NOT: lambda one: int(one == 0),
    Operation.TO_INTEGER: lambda one: one,
}


def matches(pattern, text):
    """Tell whether it is the pattern of a text; a zero is its star."""
    parts = pattern.decode().split("\0")
    return re.fullmatch(".*".join(map(re.escape, parts)), text) is not None


def value_of(instruction, record):
    """Return what an instruction pushes; ``None``: it pushes nothing."""
    if instruction.operation is Operation.INTEGER:
        return instruction.value
    if instruction.operation is Operation.TEXT:
        return instruction.value.decode()
    if instruction.operation not in {Operation.FIELD, Operation.CONTEXT}:
        return None
    name = instruction.value.decode()
    if name == "fd":
        return record[name] & 0xFFFFFFFF
    return record[name] if name == "procname" else signed(record[name])


def run(code, record):
    """Run a filter for the fields that LTTng has of a record."""
    stack, place = [], 0
    while (one := code[place]).operation is not Operation.RETURN:
        place += 1
        kind = one.operation
        if (value := value_of(one, record)) is not None:
            stack.append(value)
        elif kind in ONE:
            stack.append(ONE[kind](stack.pop()))
        elif kind in {Operation.MATCHES, Operation.MATCHES_NOT}:
            is_same = matches(one.value, stack.pop())
            stack.append(int(is_same is (kind is Operation.MATCHES)))
        elif kind in TWO:
            right, left = stack.pop(), stack.pop()
            stack.append(int(TWO[kind](left, right)))
        elif bool(stack.pop()) is (kind is Operation.SKIP_IF_TRUE):
            stack.append(int(kind is Operation.SKIP_IF_TRUE))
            place = one.argument
    return bool(stack.pop())


def lets_pass(text, record):
    """Run a filter of the kernel for what it has of a record."""
    values = {**record, "common_pid": record["tid"], "COMM": record["procname"]}
    text = re.sub(
        r'(\w+) ~ "([^"]*)"',
        lambda one: str(
            re.fullmatch(one[2].replace("*", ".*"), values[one[1]]) is not None
        ),
        text,
    )
    text = re.sub(r"!\(", " not (", text)
    text = re.sub(r"(\w+ & 0x[0-9a-f]+)", r"(\1)", text)
    text = text.replace("&&", "and").replace("||", "or")
    return bool(eval(text, {"__builtins__": {}}, values))  # noqa: S307 - of ours


def both(filters, record):
    """Tell whether the kernel and the collector let a record pass."""
    kernel, rest = split(filters, WRITE)
    passes = kernel is None or lets_pass(kernel, record)
    return passes and (rest is None or run(rest, record))


def test_both_parts_are_the_whole():
    """Of any expression and of any two of them, for any record."""
    numbers = random.Random(21)  # noqa: S311 - tests
    pushed = 0
    for _ in range(1500):
        filters = [expression(numbers) for _ in range(numbers.choice([1, 1, 2]))]
        pushed += split(filters, WRITE).kernel is not None
        for _ in range(4):
            record = record_of(numbers)
            wanted = any(run(compile_filter(one), record) for one in filters)
            assert both(filters, record) is wanted, (filters, record)
    assert pushed > 300


def test_conditions_are_written_as_they_were():
    """Whatever was negated."""
    numbers = random.Random(22)  # noqa: S311 - tests
    for _ in range(1000):
        text, record = expression(numbers), record_of(numbers)
        code = compile_filter(text)
        again = [*written(conditions(code)), code[-1]]
        assert run(again, record) is run(code, record), (text, record)


REASON = why_not()


@pytest.mark.skipif(REASON is not None, reason=f"no kernel tracer: {REASON}")
def test_the_kernel_takes_what_is_for_it():
    """Each of the texts above and more, for the real events."""
    texts = [
        (
            ("sched", "sched_switch"),
            'prev_tid == 5 && prev_comm == "a*" && !prev_state',
        ),
        (("sched", "sched_switch"), '!(next_prio < 5 || next_comm == "x") && $ctx.tid'),
        (("sched", "sched_switch"), "(prev_state & 0x100) == 0 && $ctx.cpu_id != 77"),
        (
            ("sched", "sched_switch"),
            '$ctx.procname != \'a"b\' && $ctx.procname != "c*d"',
        ),
        (("syscalls", "sys_enter_write"), "count > 100 || count < -3"),
        (("syscalls", "sys_enter_openat"), 'filename == "/etc/*" || filename != "x*y"'),
        (("syscalls", "sys_exit_write"), "ret < 0 && ret != -11"),
        (("sched", "sched_process_exec"), 'filename == "/bin/*" && tid > 2'),
    ]
    tracefs = Tracefs()
    try:
        instance = Instance(tracefs, "test-filters")
        try:
            for (system, name), text in texts:
                place = f"events/{system}/{name}"
                event = read_format(system, name, tracefs.read(f"{place}/format"))
                parts = split([text], event)
                assert parts.rest is None, text
                instance.write(f"{place}/filter", parts.kernel)
        finally:
            instance.remove()
    finally:
        tracefs.close()
