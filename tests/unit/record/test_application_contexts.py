"""Contexts that a program registers, in filters and in records."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter

import pytest

import vestige
from support.instrumented import Sources
from support.recorded import run_recorded
from vestige.errors import SelectionError
from vestige.record import EventRule, RecordingOptions

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

FAST = "lttng_ust_cyg_profile_fast"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program with contexts, a tracepoint and functions."""
    sources = Sources(tmp_path_factory.mktemp("registered"))
    return sources.build("registered", "registered.c", flags=["-finstrument-functions"])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("$app.shop:number > 8", [9, 10, 11]),
        ("$app.shop:number == number && number < 2", [0, 1]),
        ("$app.shop:user == 'ada'", [0, 3, 6, 9]),
        ("$app.shop:user == 'b*' && number > 5", [7, 10]),
        ("$app.shop:user == '(null)'", [2, 5, 8, 11]),
        ("$app.shop:half == 2.5", [5]),
        ("$app.shop:half > $app.shop:number", []),
        ("!$app.shop:number", [0]),
        ("number < 0 || $app.shop:number == 4", [-1, 4]),
        ("$app.shop:user == 3", []),
        ("$app.shop:user & 1", []),
        ("$app.shop:array == 0 || 1", []),
        ("$app.shop:missing == 0 || 1", []),
        ("number > 9 || $app.shop:missing == 0", [10, 11]),
        ("$app.shop:half == $app.shop:number", [0]),
        ("$app.shop:half && $app.shop:number < 3", [2]),
    ],
)
def test_filters_of_tracepoints(tmp_path, program, expression, expected):
    """From when they are there; a context that is not is false, as a field is."""
    options = ["-e", "registered:*", "--filter", expression]
    done = run_recorded(tmp_path / "trace", [program], "-q", *options)

    opened = vestige.open(tmp_path / "trace", debug_info=False)
    found = [
        event["number"]
        for event in opened
        if (event.name or "").startswith("registered:")
    ]
    assert (done.returncode, done.stderr) == (0, "")
    assert found == expected


def test_filters_of_function_calls(tmp_path, program):
    """Also of those that are called to find a context: they are not asked again."""
    options = ["-e", f"{FAST}:*", "--filter", "$app.shop:number == 5"]
    done = run_recorded(tmp_path / "trace", [program], "-q", *options)
    opened = vestige.open(tmp_path / "trace")
    found = Counter(
        (event.name.partition(":")[2], event.debug_info.function)
        for event in opened.events(f"{FAST}:*")
    )

    assert (done.returncode, done.stderr) == (0, "")
    # Its number changes inside of `step`.
    assert found == {("func_exit", "step"): 1, ("func_entry", "step"): 1}


def test_records_have_what_is_asked_for(tmp_path, program):
    """With its type at each event, and nothing before anybody has it."""
    wanted = ("user", "number", "half", "missing")
    contexts = ",".join(f"$app.shop:{name}" for name in wanted)
    options = ["-e", "registered:*", "-e", f"{FAST}:*", "-c", f"vpid,{contexts},cpu_id"]
    done = run_recorded(tmp_path / "trace", [program], "-q", *options)
    opened = vestige.open(tmp_path / "trace", debug_info=False)
    events = [event for event in opened if (event.name or "").startswith("registered:")]
    first, *rest = [[event[f"_app_shop_{name}"] for name in wanted] for event in events]

    assert (done.returncode, done.stderr) == (0, "")
    assert not opened.damage
    assert first == [{}, {}, {}, {}]
    users = ["ada", "bob", "(null)"]
    assert rest == [[users[n % 3], n, n / 2, {}] for n in range(12)]
    tags = ["_string", "_int64", "_double", "_none"]
    assert [events[-1][f"_app_shop_{name}_tag"].label for name in wanted] == tags
    # What is called to find one out has none, and what tells of objects calls nothing.
    asked = [event["_app_shop_number"] for event in opened.events(f"{FAST}:func_entry")]
    assert asked.count({}) > len(wanted) * 12 - 12
    assert asked.count(10) == 1


def test_long_values_are_whole(tmp_path, program):
    """Also where a record is as long as several chunks; what is too long is lost."""
    sizes = [0, 47, 48, 3000, 70_000, 300_000]
    command = [program, *map(str, sizes)]
    options = ["-e", "registered:*", "-c", "$app.shop:long", "--buffer-size", "4M"]
    done = run_recorded(tmp_path / "trace", command, "-q", *options)
    opened = vestige.open(tmp_path / "trace", debug_info=False)
    found = [
        event["_app_shop_long"]
        for event in opened
        if (event.name or "").startswith("registered:") and event["number"] >= 100
    ]

    assert (done.returncode, done.stderr) == (0b111, "")
    assert [len(one) for one in found] == sizes
    assert all(set(one) <= {"x"} for one in found)


@pytest.mark.parametrize(
    ("contexts", "expected"),
    [
        ("$app.shop", "no context '$app.shop': expected $app.PROVIDER:TYPE"),
        ("$app.:user", "no context '$app.:user'"),
        ("$app.shop:a b", "no context '$app.shop:a b'"),
        (f"$app.shop:{'x' * 250}", "with 255 characters or fewer"),
        ("$app.a_b:c,$app.a.b:c", "would be the same field, _app_a_b_c"),
        (
            ",".join(f"$app.a:{number}" for number in range(17)),
            "17 contexts of applications: expected up to 16",
        ),
    ],
)
def test_wrong_names_are_told(contexts, expected):
    """Before anything is started."""
    with pytest.raises(SelectionError, match=re.escape(expected)):
        RecordingOptions(contexts=tuple(contexts.split(",")))


def test_many_operands_are_refused():
    """Of different ones: each may be of each type."""
    six = " && ".join(f"$app.a:{number}" for number in range(6))
    RecordingOptions(events=(EventRule("a:*", filter=f"{six} && $app.a:0 > 1"),))
    with pytest.raises(SelectionError, match="asks for 7 contexts of applications"):
        RecordingOptions(events=(EventRule("a:*", filter=f"{six} && $app.b:0"),))


def test_without_a_recorder(program, tmp_path):
    """Nothing is registered, since nobody asks: there is no session daemon."""
    nowhere = {**os.environ, "VESTIGE_RUNDIR": str(tmp_path)}
    assert subprocess.run([program], env=nowhere, check=False).returncode == 0b111


def test_a_function_that_is_asked_may_jump_away(tmp_path):
    """Its event is not recorded, and those after it are asked for again."""
    sources = Sources(tmp_path)
    sources.write(
        "leaving_context.c",
        """
        #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #include "registered_tp.h"
        #include <setjmp.h>
        #include <vestige/context.h>

        static int number;
        static sigjmp_buf back;

        static void get_number(void *data, struct vestige_value *value)
        {
            (void) data;
            if (number == 3)
                siglongjmp(back, 1);
            value->as.integer = number;
        }

        int main(void)
        {
            static const struct vestige_context context = {
                sizeof(context), VESTIGE_INTEGER, "shop:number", get_number, 0};

            vestige_add_context(&context);
            for (number = 0; number < 6; number++)
                if (!sigsetjmp(back, 1))
                    lttng_ust_tracepoint(registered, step, number);
            return 0;
        }
        """,
    )
    program = sources.build("leaving_context", "leaving_context.c")
    options = ["-e", "registered:*", "--filter", "$app.shop:number >= 0"]
    done = run_recorded(tmp_path / "trace", [program], "-q", *options)
    found = [event["number"] for event in vestige.open(tmp_path / "trace")
             if (event.name or "").startswith("registered:")]  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert found == [0, 1, 2, 4, 5]
