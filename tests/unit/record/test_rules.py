"""Recordings with rules: which tracepoints they hold."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from support.chosen import (
    POINTS,
    SAMPLES,
    build_chosen,
    chosen_events,
    record_with,
)
from support.filter_model import passes, random_filter
from support.recorded import PreparedTrace, run_recorded
from vestige.expressions.code import Operation
from vestige.record import EventRule, RecordingOptions
from vestige.record.rules.encoding import encode_rules
from vestige.record.rules.event_rules import LOG_LEVELS, compile_rules
from vestige.record.summary.tracepoint_classes import tracepoint_classes

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

NUMBERS = list(range(-4, SAMPLES - 4))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program with many tracepoints."""
    return build_chosen(tmp_path_factory.mktemp("chosen"))


def names(trace):
    """Return the names of the program's events, each once."""
    return list(dict.fromkeys(name for name, _ in chosen_events(trace)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-e", "chosen:p05"], ["p05"]),
        (["-e", "chosen:p05,chosen:p07"], ["p05", "p07"]),
        (["-e", "chosen:p05", "-e", "chosen:p0[7-8]"], ["p05", "p07", "p08"]),
        (["-e", "ch*:p*5", "--exclude", "*:p[1-8]*"], ["p05", "p95"]),
        (["-e", "*:p1*", "--exclude=*1,*2", "--except=*:p1[4-9]"], ["p10", "p13"]),
        (["-e", "*:p0[1-4]", "--exclude=chosen:p01,chosen:p03"], ["p02", "p04"]),
        (["-e", r"chosen:\*", "-e", "chosen:p01"], ["p01"]),
        (["-e", "chosen:*", "--loglevel", "CRIT"], ["EMERG", "ALERT", "CRIT"]),
        (["-e", "chosen:*", "--loglevel=TRACE_ALERT"], ["EMERG", "ALERT"]),
        (["-e", "chosen:*", "--loglevel", "0"], ["EMERG"]),
        (["-e", "chosen:*", "--loglevel-only=INFO"], ["INFO"]),
        (["-e", "*", "--loglevel-only=13", "--exclude=*:p*"], ["DEBUG_LINE"]),
        # Rules are independent: a condition holds for the rule before.
        (["-e", "*:p05", "-e", "*", "--loglevel-only=ERR"], ["p05", "ERR"]),
        (["-e", "*:p05", "--loglevel=INFO", "-e", "*:p06"], ["p06"]),
        (["-e", "lttng_ust_cyg_profile*"], []),
        (["--functions"], [f"p{index:02}" for index in range(POINTS)] + [*LOG_LEVELS]),
    ],
)
def test_rules_choose_tracepoints(tmp_path, program, options, expected):
    """By name and log level."""
    done = run_recorded(tmp_path / "trace", [program], *options)

    assert done.returncode == 0
    assert names(tmp_path / "trace") == expected


def test_levels_are_those_of_the_headers(tmp_path, program):
    """Each level and all more severe ones."""
    for number, level in enumerate(LOG_LEVELS):
        trace = tmp_path / level
        run_recorded(trace, [program], "-e", "chosen:[A-Z]*", "--loglevel", level)
        assert names(trace) == list(LOG_LEVELS[: number + 1])


def test_an_event_is_recorded_once(tmp_path, program):
    """Though several rules take it."""
    rules = ["-e", "*:p00", "-e", "chosen:*0", "-e", "*:p00", "--filter", "number > 3"]
    run_recorded(tmp_path / "trace", [program], *rules)
    found = [name for name, _ in chosen_events(tmp_path / "trace")]

    assert found.count("p00") == SAMPLES


def test_any_filter_will_do(tmp_path, program):
    """Of the rules that take an event by its name."""
    rules = ["-e", "*:p00", "--filter=number > 17", "-e", "*:p0*", "--filter=!number"]
    run_recorded(tmp_path / "trace", [program], *rules)
    found = [
        fields["number"]
        for name, fields in chosen_events(tmp_path / "trace")
        if name == "p00"
    ]

    assert found == [0, 18, 19]


def test_rules_hold_in_child_processes(tmp_path, program):
    """And in what they execute."""
    script = f"cd / && {program} & wait; exec {program}"
    run_recorded(tmp_path / "trace", ["sh", "-c", script], "-e", "*:p33")
    found = [name for name, _ in chosen_events(tmp_path / "trace")]

    assert found == ["p33"] * 2 * SAMPLES


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-e", "chosen:q*"], ["no tracepoint was loaded that matches 'chosen:q*'"]),
        (
            ["-e", "chosen:p*", "--loglevel=INFO"],
            [
                (
                    "warning: no tracepoint of the program that matches 'chosen:p*' has that "
                    "level: theirs is DEBUG_LINE (13)"
                ),
                "no tracepoint was loaded that matches 'chosen:p*' and has that level",
            ],
        ),
        (
            ["-e", "*:p*", "--filter=nothing == 1"],
            [
                (
                    "no tracepoint was loaded that matches '*:p*' and has the fields of its "
                    "filter"
                )
            ],
        ),
    ],
)
def test_a_rule_that_took_nothing_is_told(tmp_path, program, options, expected):
    """At the end, whether or not the program could be looked into before."""
    done = run_recorded(
        tmp_path / "trace", [program], "-e", "lttng_ust_lib:*", "-e", "*:INFO", *options
    )
    told = [line for line in done.stderr.splitlines() if "no tracepoint" in line]

    assert told == [f"vestige: {line}" for line in expected]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ["--loglevel=INFO"],
            "argument --loglevel: expected after the -e it belongs to",
        ),
        (["--filter=a"], "argument --filter: expected after the -e"),
        (["--except=a:b"], "argument --exclude/--except: expected after the -e"),
        (["-e", "a:*", "--exclude=a:b,ns::f"], "--exclude-function leaves out"),
        (["-e", "a:*", "--exclude=main"], "'main' is not an event"),
        (["-e", "a:*", "--filter=a", "--filter=b"], "expected once for 'a:*'"),
        (["-e", "a:*", "--loglevel=LOUD"], "no log level 'LOUD'"),
        (["-e", "a:*", "--loglevel=1", "--loglevel-only=2"], "not both"),
        (["-e", "a:*", "--filter=a &&"], "filter 'a &&', column 5: expected a field"),
        (["-e", "ust_baddr:pop", "--filter=baddr"], "expected no filter"),
    ],
)
def test_wrong_rules(tmp_path, program, options, expected):
    """Are told before the program runs."""
    done = run_recorded(tmp_path / "trace", [program], *options)

    assert done.returncode == 2
    assert expected in done.stderr
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("what", ["samples", "contexts"])
def test_filters(tmp_path, program, what):
    """Where LTTng 2.13 has no answer of its own, or another one."""
    first = NUMBERS[0]
    table = {
        # LTTng reads behind the end of sequences; theirs are as long as the text, up
        # to 4.
        "list[3] == 0 || 1": longer_than(3),
        "list[4] == 0 || 1": [],
        "ports[1] == 10 || 1": longer_than(1),
        # There, texts have no elements.
        "word[0] == 101": NUMBERS[1::2],
        "word[7] == 'r'": [],
        # A scale that C++ has, too.
        "number == 0b11": [3],
        r'text == "\x62as\x68"': [n for n in NUMBERS if (n + 4) % 8 == 1],
        "text == 'b\\141s'": [n for n in NUMBERS if (n + 4) % 8 == 2],
    }
    if what == "contexts":
        table = {
            f"$ctx.vuid == {os.getuid()} && $ctx.vegid == {os.getegid()}": NUMBERS,
            f"$ctx.net_ns == {Path('/proc/self/ns/net').stat().st_ino}": NUMBERS,
            "$ctx.ip > 0x1000": NUMBERS,
            "$ctx.vpid == $ctx.vtid && $ctx.pthread_id != 0": NUMBERS,
            "$ctx.cpu_id < 0": [],
            '$ctx.procname == "chosen"': NUMBERS,
            '$ctx.procname == "c*n" && number < -3': [first],
            "$ctx.procname == 3": [],
            "$ctx.vpid[0] == 3 || 1": [],
            "$ctx.vpid.x == 3 || 1": [],
            "$app.x:y == 3 || 1": [],
        }
    assert record_with(tmp_path / "trace", program, list(table)) == table


def longer_than(length):
    """Return the samples whose sequences have more elements."""
    texts = ("", "bash", "bas", "bash shell", "/bin/ls", "a*b", "lttng-sessiond", "\\")
    return [n for n in NUMBERS if length < min((n + 4) % 5, len(texts[(n + 4) % 8]))]


@pytest.mark.parametrize("seed", range(4))
def test_random_filters(tmp_path, program, seed):
    """Let those events pass that a plain evaluation lets pass."""
    source = random.Random(seed)  # noqa: S311 - no secrets
    run_recorded(tmp_path / "all", [program], "-q", "-e", "chosen:p00")
    samples = [
        {**fields, "hidden": 10 * fields["number"]}
        for _, fields in chosen_events(tmp_path / "all")
    ]
    filters = [random_filter(source) for _ in range(POINTS)]
    made = {one.text: one for one in filters}
    found = record_with(tmp_path / "trace", program, list(made))
    expected = {
        text: [fields["number"] for fields in samples if passes(one, fields)]
        for text, one in made.items()
    }

    assert len(samples) == SAMPLES
    assert found == expected
    assert sum(0 < len(one) < SAMPLES for one in found.values()) > POINTS // 4


FILTER = (
    'number > 2 && (text == "b*" || pair[1] << 2 < 9 || $ctx.vpid && word != text) '
    "|| -real < 1.5"
)


def hostile_rules():
    """Yield rules that the recorder would not write."""
    rules = [EventRule("chosen:*", ("*:p9*",), 13, None, FILTER), EventRule("*:INFO")]
    good = encode_rules(compile_rules(rules))
    source = random.Random(6)  # noqa: S311 - no secrets
    yield good[:-8]
    yield good + bytes(8)
    for _ in range(120):
        data = bytearray(good)
        for _ in range(source.choice((1, 1, 2, 5))):
            place = source.randrange(len(data))
            data[place] = source.choice((0, 1, 0x7F, 0xFF, source.randrange(256)))
        yield bytes(data)
    # Code of all operations with arguments that lead anywhere.
    for _ in range(120):
        code = b"".join(
            struct.pack(
                "=HHIq",
                source.choice([*Operation, 40, 65535]),
                0,
                source.choice((0, 1, 2, 5, 30, 1 << 31, (1 << 32) - 1)),
                source.choice((0, 1, 8, 1 << 32, 3 << 32, -1, 7 << 40)),
            )
            for _ in range(source.randrange(1, 30))
        )
        head = struct.pack(
            "=IiiIIIII", 32 + 16 + len(code) + 8, -1, 99, 1, 16, len(code) // 16, 8, 0
        )
        body = head + b"chosen:*".ljust(16, b"\0") + code + b"number\0\0"
        yield struct.pack("=8sII", b"VESTRUL1", 16 + len(body), 1) + body


def test_damaged_rules(tmp_path, program):
    """Never end the program, whatever is in them."""
    options = RecordingOptions(events=("chosen:*",))
    for index, data in enumerate(hostile_rules()):
        trace = tmp_path / str(index)
        prepared = PreparedTrace(trace, options, data)
        done = subprocess.run(
            [program],
            env=prepared.variables,
            timeout=60,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, data.hex()
        prepared.close()
        shutil.rmtree(trace)


def test_rules_that_cannot_be_read(tmp_path, program):
    """Choose nothing: more than was asked for would be wrong."""
    options = RecordingOptions(events=("chosen:*",))
    prepared = PreparedTrace(tmp_path / "trace", options, b"no rules")
    done = subprocess.run(
        [program], env=prepared.variables, timeout=60, capture_output=True, check=False
    )
    prepared.close()

    assert done.returncode == 0
    assert not tracepoint_classes((tmp_path / "trace" / "metadata").read_text())
