"""Rules that can take no event are told, with what is near."""

from __future__ import annotations

import shutil

import pytest

from support.chosen import build_chosen
from support.compilers import PROGRAMS, BuildError, run_tool
from support.recorded import run_recorded
from vestige.record.rules.event_rules import EventRule, compile_rules
from vestige.record.rules.impossible import impossible_rules
from vestige.record.rules.program_rules import doubtful_rules


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            EventRule("lttng_ust_libc:maloc"),
            (
                "no event matches 'lttng_ust_libc:maloc': there are "
                "'lttng_ust_libc:malloc', "
            ),
        ),
        (
            EventRule("lttng_ust_libc:*", level="INFO"),
            (
                "no event matches 'lttng_ust_libc:*' with that level: theirs is "
                "DEBUG_LINE (13)"
            ),
        ),
        (
            EventRule("lttng_ust_libc:malloc", filter="siz > 3"),
            (
                "the filter for 'lttng_ust_libc:malloc' is never true: no such event has "
                "a field 'siz'; there are 'size', 'ptr'"
            ),
        ),
        (
            EventRule("lttng_ust_cyg_profile_fast:func_exit", filter="addr > 3"),
            (
                "the filter for 'lttng_ust_cyg_profile_fast:func_exit' is never true: no "
                "such event has a field 'addr'; there is none"
            ),
        ),
        (
            EventRule("lttng_ust_dl:*", filter="nsid > 3 && crc > 1"),
            (
                "the filter for 'lttng_ust_dl:*' is never true: no such event has all of "
                "its fields; there are "
            ),
        ),
        (
            EventRule("app:*", filter="$ctx.vtd == 3"),
            (
                "the filter for 'app:*' is never true: there is no context $ctx.vtd; there "
                "are 'vtid', "
            ),
        ),
    ],
)
def test_what_can_never_match_is_told(rule, expected):
    """Before the program starts."""
    (line,) = impossible_rules(compile_rules([rule]))

    assert line.startswith(expected)


@pytest.mark.parametrize(
    "rule",
    [
        EventRule("lttng_ust_libc:*", filter="size > 3 && $ctx.vtid > 1"),
        EventRule("*", filter="whatever == 1"),
        EventRule("app:*", level="EMERG"),
        EventRule("app:*", filter="$app.shop:user == 'x' || $ctx.perf:thread:faults"),
        EventRule("some.logger", is_logger=True, level="INFO"),
        EventRule("lttng_python:event", filter="int_loglevel > 20"),
    ],
)
def test_what_may_match_is_not_told(rule):
    """Programs may have any tracepoint."""
    assert impossible_rules(compile_rules([rule])) == []


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program with tracepoints."""
    if shutil.which("gcc") is None:
        pytest.skip("not installed: gcc")
    return build_chosen(tmp_path_factory.mktemp("chosen"))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            EventRule("chossen:p05"),
            ["no tracepoint of the program matches 'chossen:p05'; there are "],
        ),
        (
            EventRule("chosen:p05", filter="numbr == 1"),
            [
                (
                    "no tracepoint of the program that matches 'chosen:p05' has the field "
                    "'numbr' of its filter; there are 'number' and "
                )
            ],
        ),
        (
            EventRule("chosen:INFO", level="ALERT"),
            [
                (
                    "no tracepoint of the program that matches 'chosen:INFO' has that "
                    "level: theirs is INFO (6)"
                )
            ],
        ),
        (EventRule("chosen:*", only_level="ALERT"), []),
        (EventRule("chosen:p*", filter="number == 1"), []),
        (EventRule("plugin:loaded"), []),
        (EventRule("lttng_ust_libc:malloc"), []),
    ],
)
def test_what_the_program_almost_has_is_told(program, rule, expected):
    """A library may have the rest."""
    found = doubtful_rules(compile_rules([rule]), str(program))

    assert len(found) == len(expected)
    assert all(map(str.startswith, found, expected))


@pytest.fixture(scope="module")
def lttng_program(tmp_path_factory):
    """A program that was compiled with LTTng-UST's headers."""
    if shutil.which("gcc") is None:
        pytest.skip("not installed: gcc")
    program = tmp_path_factory.mktemp("greeting") / "greeting"
    build = ["gcc", f"-I{PROGRAMS}", "-o", program, PROGRAMS / "greeting.c"]
    try:
        run_tool([*build, "-llttng-ust", "-ldl"])
    except BuildError as error:
        pytest.skip(f"not installed: LTTng-UST for development: {error}")
    return program


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            EventRule("greeting:sade"),
            (
                "no tracepoint of the program matches 'greeting:sade'; "
                "there is 'greeting:said'"
            ),
        ),
        (
            EventRule("greeting:said", filter="numbr == 1"),
            (
                "no tracepoint of the program that matches 'greeting:said' has the field "
                "'numbr' of its filter; there are 'number', 'text'"
            ),
        ),
        (
            EventRule("greeting:*", level="ALERT"),
            (
                "no tracepoint of the program that matches 'greeting:*' has that level: "
                "theirs is INFO (6)"
            ),
        ),
        (EventRule("greeting:said", filter="number == 1", level="INFO"), None),
    ],
)
def test_programs_of_lttng_ust_are_looked_at(lttng_program, rule, expected):
    """Its events are there twice: with their providers, and where they happen."""
    found = doubtful_rules(compile_rules([rule]), str(lttng_program))

    assert found == ([] if expected is None else [expected])


def test_scripts_and_missing_programs_are_not_looked_at(tmp_path):
    """What they are is told when they are started."""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    rules = compile_rules(["app:*"])

    assert doubtful_rules(rules, str(script)) == []
    assert doubtful_rules(rules, str(tmp_path / "missing")) == []


def test_the_command_warns(tmp_path, program):
    """Once, and records."""
    done = run_recorded(tmp_path / "trace", [program], "-e", "lttng_ust_dl:dlopn", "-q")

    assert done.returncode == 0
    assert done.stderr.startswith("vestige: warning: no event matches")
    assert done.stderr.count("\n") == 1
