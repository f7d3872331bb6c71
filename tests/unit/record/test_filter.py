"""Recordings of some functions."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import build_program, counts, run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None, reason="not installed: g++"
)

FLAGS = ["-g", "-O1", "-finstrument-functions", "-fno-inline"]
ALL = {
    "shapes::Circle::Circle()": 10,
    "shapes::Circle::~Circle()": 10,
    "shapes::Circle::area() const": 10,
    "shapes::Circle::operator()(int) const": 10,
    "int shapes::twice<int>(int)": 10,
    "double shapes::twice<double>(double)": 10,
    "shapes::(anonymous namespace)::hidden()": 10,
    "plain": 10,
    "local()": 10,
    "main": 1,
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A C++ program whose functions are instrumented."""
    path = tmp_path_factory.mktemp("filter") / "filtered"
    run_tool(["g++", *FLAGS, "-o", path, PROGRAMS / "filtered.cpp", "-ldl"])
    return path


def plugin(directory, name, first="first"):
    """Build the plugin, whose first function has a name of its own."""
    path = directory / name
    source = PROGRAMS / "filtered_plugin.c"
    flags = ["-fPIC", "-shared", f"-DFIRST={first}"]
    run_tool(["gcc", *FLAGS, *flags, "-o", path, source])
    return path


def called(trace):
    """Return how often each function was called, by the name that readers show."""
    return Counter(
        event.debug_info.function
        for event in vestige.open(trace).events("*:func_entry")
    )


def matching(*words):
    """Return those of the functions whose name has one of the words."""
    return {name: n for name, n in ALL.items() if any(word in name for word in words)}


def without(*words):
    """Return the others."""
    return {name: n for name, n in ALL.items() if name not in matching(*words)}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--include-function=plain"], {"plain": 10}),
        (["--include-function=local"], {"local()": 10}),
        (["--include-function=_Z*"], without("plain", "main")),
        (["--include-function=shapes::*"], matching("shapes::")),
        (
            ["--include-function=shapes::Circle::[!~]*"],
            matching("Circle::C", "::a", "tor()"),
        ),
        (["--include-function=shapes::twice"], matching("twice")),
        (["--include-function=*::operator()"], matching("operator()")),
        (["--include-function=*(anonymous namespace)*"], matching("anonymous")),
        (["--exclude-function=shapes::*"], without("shapes::")),
        (["--exclude-function=nothing*"], ALL),
        (
            ["--include-function=*l*", "--exclude-function=shapes*"],
            matching("plain", "local()"),
        ),
        (
            ["--include-function=plain", "--include-function=main"],
            matching("plain", "main"),
        ),
        (["--include-function=filtered:plain"], {"plain": 10}),
        (["--include-function=other:plain"], {}),
        (["--exclude-function=filt*:plain"], without("plain")),
    ],
)
def test_names_choose_functions(tmp_path, program, options, expected):
    """Qualified ones of C++ without types, and those of the linker."""
    done = run_recorded(tmp_path / "trace", [program], *options)

    assert done.returncode == 0
    assert names(called(tmp_path / "trace")) == names(expected)
    found = counts(tmp_path / "trace")
    assert found["func_entry"] == found["func_exit"]


def names(found):
    """Return the counts by name without types, however much of them readers show."""
    short = Counter()
    for name, count in found.items():
        text = name.replace("operator()", "operator#")
        text = text.replace("(anonymous namespace)", "#")
        word = text.partition("(")[0].partition("<")[0].rpartition(" ")[2]
        short[word] += count
    return short


def test_addresses_choose_functions(tmp_path, program):
    """As nm tells them, of the program unless an object is named."""
    listed = run_tool(["nm", "-S", program]).decode().splitlines()
    [line] = [line for line in listed if line.endswith(" plain")]
    start, size = (int(word, 16) for word in line.split()[:2])
    whole = f"{start:#x}-{start + size:#x}"
    for number, (option, expected) in enumerate(
        [
            (f"--include-function={whole}", {"plain": 10}),
            (f"--include-function={start:#x}", {"plain": 10}),
            (f"--include-function=filtered:{whole}", {"plain": 10}),
            (f"--include-function={start + 1:#x}-{start + size:#x}", {}),
            (f"--include-function=libc.so*:{whole}", {}),
        ]
    ):
        trace = tmp_path / str(number)
        run_recorded(trace, [program], option)
        assert called(trace) == expected, option


def test_verbose_events_are_chosen_too(tmp_path, program):
    """By the same patterns."""
    run_recorded(
        tmp_path / "trace", [program], "--include-function=plain", "--functions=verbose"
    )

    assert called(tmp_path / "trace") == {"plain": 10}


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--include-function=helper", {"helper": 2}),
        (
            "--include-function=libplugin.so:*",
            {"first": 2, "helper": 2, "plugin_entry": 2},
        ),
        ("--include-function=libplugin.so.1:first", {"first": 2}),
        ("--include-function=libother.so:*", {}),
    ],
)
def test_functions_of_plugins_are_chosen(tmp_path, program, option, expected):
    """Although nobody knew of them before: static ones, and by the object."""
    path = plugin(tmp_path, "libplugin.so.1")
    done = run_recorded(tmp_path / "trace", [program, path, path], option)
    found = counts(tmp_path / "trace")

    assert done.stderr.count("vestige: error") == 0
    assert found["func_entry"] == found["func_exit"] == sum(expected.values())


def test_a_plugin_in_the_place_of_another_is_judged_anew(tmp_path, program):
    """What is at an address may change with each dlopen()."""
    paths = [plugin(tmp_path, f"{name}.so", name) for name in ("first", "other")]
    run_recorded(
        tmp_path / "trace", [program, *paths, *paths], "--include-function=other"
    )
    bases = {
        event["baddr"]
        for event in vestige.open(tmp_path / "trace").events("lttng_ust_lib:load")
        if event["path"].endswith(("first.so", "other.so"))
    }

    assert counts(tmp_path / "trace")["func_entry"] == 2
    assert len(bases) == 1, "the plugins were not loaded to the same place"


def test_programs_that_are_executed_are_filtered(tmp_path, program):
    """Each by its own symbol table."""
    command = ["sh", "-c", '"$@"; exec "$@"', "sh", program]
    run_recorded(tmp_path / "trace", command, "--include-function=plain")

    assert called(tmp_path / "trace") == {"plain": 20}


def test_a_program_without_symbols(tmp_path, program):
    """Has the names that the dynamic linker knows; the others match no pattern."""
    stripped = tmp_path / "stripped"
    run_tool(["strip", "-o", stripped, program])
    for number, (option, expected) in enumerate(
        [("--include-function=*", 0), ("--exclude-function=*", sum(ALL.values()))]
    ):
        trace = tmp_path / str(number)
        run_recorded(trace, [stripped], option)
        assert counts(trace)["func_entry"] == expected


def test_a_pattern_that_names_no_function_is_refused(tmp_path, program):
    """Before the program runs."""
    done = run_recorded(tmp_path / "trace", [program], "--include-function=f(int)")

    assert done.returncode == 2
    assert "without parameters" in done.stderr
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    ("what", "number", "expected"),
    [
        ("threads", 2000, 16_000),
        ("fork", 30, 300),
    ],
)
def test_threads_and_children_judge_alike(tmp_path, what, number, expected):
    """Also when all of them call a function for the first time together."""
    program = build_program(tmp_path)
    done = run_recorded(
        tmp_path / "trace", [program, what, str(number)], "--include-function=l*"
    )
    found = counts(tmp_path / "trace")

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    assert (found["func_entry"], found["func_exit"]) == (expected, expected)


def test_signal_handlers_may_interrupt_the_judge(tmp_path):
    """And call functions that were never judged."""
    program = build_program(tmp_path)
    done = run_recorded(
        tmp_path / "trace", [program, "signals", "300000"], "--exclude-function=leaf"
    )
    handled = int(done.stdout.split()[0])

    assert handled > 0
    # main, work, two calls that switch the timer, and the handlers.
    assert counts(tmp_path / "trace")["func_entry"] == 4 + 2 * handled


def test_functions_are_judged_when_their_file_can_be_read(tmp_path):
    """Not for all time by what was possible at their first call."""
    program = build_program(tmp_path, "undescribed")
    done = run_recorded(
        tmp_path / "trace", [program, "5000"], "--include-function=leaf"
    )
    found = counts(tmp_path / "trace")

    assert done.returncode == 0
    assert 3000 < found["func_entry"] <= 5000
    assert abs(found["func_entry"] - found["func_exit"]) <= 1


@pytest.mark.parametrize(
    ("options", "expected", "name"),
    [
        (["--include=plain"], {"plain": 10}, "--include-function"),
        (["--exclude=shapes::*"], without("shapes::"), "--exclude-function"),
        (["--exclude=shapes::*", "-e", "*"], without("shapes::"), "--exclude-function"),
    ],
)
def test_old_names_still_mean_functions(tmp_path, program, options, expected, name):
    """And a line tells the new one."""
    done = run_recorded(tmp_path / "trace", [program], *options)

    assert called(tmp_path / "trace") == expected
    warnings = [line for line in done.stderr.splitlines() if "warning" in line]
    assert len(warnings) == 1
    assert warnings[0].endswith(f"the option is {name} now")
