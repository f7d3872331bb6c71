"""Rules take the same events as under LTTng, of programs with either headers."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.chosen import POINTS, build_chosen, chosen_events, record_with
from support.compilers import EXECUTABLE_LIBRARIES
from support.filter_model import FILTERS, random_filter
from support.lttng import Channel, LttngEnvironment, Program
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

# Options of both, and those of LTTng that have other names.
RULES = (
    ["chosen:p0*"],
    ["chosen:p05,chosen:p07"],
    ["chosen:*", "--loglevel=INFO"],
    ["chosen:*", "--loglevel=TRACE_ERR"],
    ["chosen:*", "--loglevel-only=DEBUG_LINE"],
    ["chosen:*", "--loglevel-only=WARNING"],
    ["ch*:*5"],
    ["*"],
    [r"chosen:\*"],
    ["chosen:*", "--exclude=chosen:p*"],
    ["chosen:*", "--exclude=chosen:p*1,chosen:*0,chosen:D*"],
    ["chosen:p1*", "--exclude=chosen:p1", "--filter=number > 10"],
)

UNSIGNED_OPERAND = re.compile(
    r"(?:^|&&|\|\||\()[-+~(]*(?:list|ports|quad)\[\d\]\)*(?:$|&&|\|\|)"
)
REAL = re.compile(r"real|narrow|\.|0x1p|[0-9]e[0-9]")
REFUSED = (
    "quad[1] && 1",
    "number && quad[2]",
    "(quad[3]) && (-list[1])",
    "0 || ports[0]",
    "number && ~quad[0]",
    "1.5 > (number & 1)",
    "number & 1 && byte",
    "number << 1 && byte",
    "-1.5 && number",
)


def their_events(
    lttng: LttngEnvironment, output: Path, program: Path, rules: Sequence[Sequence[str]]
) -> list[tuple[str, object]]:
    """Record with LTTng; return names and numbers of the events."""
    channel = Channel(
        sub_buffer_size="4M", sub_buffer_count=2, events=["lttng_ust_nothing:*"]
    )
    with lttng.session(output, [channel], name=output.name) as session:
        where = [f"--session={session}", f"--channel={channel.name}"]
        for rule in rules:
            lttng.run(["lttng", "enable-event", "--userspace", *where, *rule])
        lttng.run_program(Program([program]))
    return numbered(output)


def numbered(trace: Path) -> list[tuple[str, object]]:
    """Return names and numbers of the program's events."""
    return [(name, fields["number"]) for name, fields in chosen_events(trace)]


def is_refused(text: str) -> bool:
    """Tell whether LTTng 2.13 may take an expression for false whatever it is, or for another.

    That is so where && or || stand beside bits, or a real constant with a sign, or have
    elements of an unsigned type as operands, and where a real is compared with bits.
    """
    plain = re.sub(r"&&|\|\|", "", text)
    has_bits = re.search(r"[&|^]|<<|>>", plain)
    if plain == text:
        return bool(has_bits and REAL.search(plain))
    is_operand = UNSIGNED_OPERAND.search(text.replace(" ", ""))
    return bool(has_bits or is_operand or re.search(r"-\(*[0-9.]", plain))


def under_lttng(
    lttng: LttngEnvironment, output: Path, program: Path, filters: Sequence[str]
) -> dict[str, list[int]]:
    """Record a tracepoint for each filter with LTTng; return which samples passed."""
    rules = [
        [f"chosen:p{index:02}", f"--filter={one}"] for index, one in enumerate(filters)
    ]
    passed: dict[str, list[int]] = {one: [] for one in filters}
    for name, number in their_events(lttng, output, program, rules):
        assert isinstance(number, int)
        passed[filters[int(name[1:])]].append(number)
    return passed


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The program with our tracepoints, and with theirs."""
    return (
        build_chosen(tmp_path_factory.mktemp("ours")),
        build_chosen(tmp_path_factory.mktemp("theirs"), *EXECUTABLE_LIBRARIES),
    )


@pytest.mark.parametrize("start", range(0, len(FILTERS), POINTS // 2))
def test_the_same_events_pass(
    tmp_path: Path, lttng: LttngEnvironment, programs: tuple[Path, Path], start: int
) -> None:
    """Of each expression."""
    filters = FILTERS[start : start + POINTS // 2]
    theirs = under_lttng(lttng, tmp_path / f"filters-{start}", programs[1], filters)

    assert any(theirs.values())
    for number, program in enumerate(programs):
        assert record_with(tmp_path / f"trace-{number}", program, filters) == theirs


def test_what_is_never_true_under_lttng(
    tmp_path: Path, lttng: LttngEnvironment, programs: tuple[Path, Path]
) -> None:
    """Its manual page does not say so; docs/reference/record.md has the list."""
    theirs = under_lttng(lttng, tmp_path / "refused", programs[1], REFUSED)
    ours = record_with(tmp_path / "ours-0", programs[0], REFUSED)

    assert all(is_refused(one) for one in REFUSED)
    assert not any(theirs.values())
    assert all(ours.values())
    assert ours == record_with(tmp_path / "ours-1", programs[1], REFUSED)


def test_random_filters(
    tmp_path: Path, lttng: LttngEnvironment, programs: tuple[Path, Path]
) -> None:
    """Of which nobody thought."""
    source = random.Random(2013)  # noqa: S311 - no secrets
    made = (random_filter(source).text for _ in range(3 * POINTS))
    filters = [one for one in dict.fromkeys(made) if not is_refused(one)][:POINTS]
    theirs = under_lttng(lttng, tmp_path / "random-filters", programs[1], filters)

    assert sum(map(bool, theirs.values())) > POINTS // 4
    for number, program in enumerate(programs):
        assert record_with(tmp_path / f"trace-{number}", program, filters) == theirs


@pytest.mark.parametrize("number", range(len(RULES)))
def test_the_same_events_are_taken(
    tmp_path: Path, lttng: LttngEnvironment, programs: tuple[Path, Path], number: int
) -> None:
    """By name and level."""
    rule = RULES[number]
    theirs = their_events(lttng, tmp_path / f"rule-{number}", programs[1], [rule])

    for index, program in enumerate(programs):
        trace = tmp_path / f"trace-{index}"
        run_recorded(trace, [program], "-e", *rule)
        assert numbered(trace) == theirs


def test_a_program_compiled_with_lttng(
    tmp_path: Path, lttng: LttngEnvironment, programs: tuple[Path, Path]
) -> None:
    """Its tracepoints obey the same rules, as it is."""
    source = random.Random(14)  # noqa: S311 - no secrets
    made = (random_filter(source).text for _ in range(POINTS))
    filters = [one for one in dict.fromkeys(made) if not is_refused(one)][:POINTS]
    theirs = under_lttng(lttng, tmp_path / "their-program", programs[1], filters)
    ours = record_with(tmp_path / "trace", programs[1], filters)

    assert any(theirs.values())
    assert ours == theirs


@pytest.mark.parametrize("number", [0, 2, 4, 9, 10, 11])
def test_rules_of_a_program_compiled_with_lttng(
    tmp_path: Path, lttng: LttngEnvironment, programs: tuple[Path, Path], number: int
) -> None:
    """Names, exclusions and levels."""
    rule = RULES[number]
    theirs = their_events(lttng, tmp_path / f"theirs-{number}", programs[1], [rule])
    run_recorded(tmp_path / "trace", [programs[1]], "-e", *rule)

    assert numbered(tmp_path / "trace") == theirs


def test_contexts_of_a_program_compiled_with_lttng(
    tmp_path: Path, lttng: LttngEnvironment, programs: tuple[Path, Path]
) -> None:
    """Whether records have them or not."""
    filters = [one for one in FILTERS if "$ctx" in one]
    theirs = under_lttng(lttng, tmp_path / "contexts", programs[1], filters)
    ours = record_with(tmp_path / "trace", programs[1], filters)

    assert any(theirs.values())
    assert ours == theirs
