"""Recordings of functions with their arguments and results."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections import Counter

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None,
    reason="needs x86-64 and gcc",
)

VALUES = {
    "tiny": -1,
    "byte": 200,
    "small": -300,
    "word": 60000,
    "number": -70000,
    "count": 4000000000,
    "large": -5000000000,
    "most": 2**64 - 1,
    "is_on": 1,
    "color": -3,
    "place": 0x1234,
    "single": 1.5,
    "real": -2.25,
}
"""Of all() in probed.c, in its order."""
PLACES = {
    "rdi": ("i8", -1),
    "rsi": ("u8", 200),
    "rdx": ("i16", -300),
    "rcx": ("u16", 60000),
    "r8": ("int", -70000),
    "r9": ("uint", 4000000000),
    "stack+0": ("long", -5000000000),
    "stack+8": ("ulong", 2**64 - 1),
    "stack+16": ("bool", 1),
    "stack+24": ("int", -3),
    "stack+32": ("ptr", 0x1234),
    "xmm0": ("float", 1.5),
    "xmm1": ("double", -2.25),
}
"""The same by the calling convention."""
TEXTS = [
    "plain",
    "given back",
    "(null)",
    "",
    "end",
    "yyyyyyyy",
    "(unreadable: 0x",
    "(unreadable: 0x10)",
    "(unreadable: 0x8000000000000000)",
    "x" * 255,
    "caf\u00e9 ",
]
"""What text() in probed.c is given, as far as it can be read."""


def build(directory, *flags, compiler="gcc"):
    """Compile probed.c."""
    path = directory / "probed"
    source = PROGRAMS / "probed.c"
    run_tool([compiler, "-g", "-pthread", *flags, "-o", path, source])
    return path


def probed(directory, program, *options):
    """Record a program with options; return its events by name."""
    expected = subprocess.run([program], capture_output=True, timeout=60, check=False)
    done = run_recorded(directory / "trace", [program], *options)
    output = expected.stdout.decode()
    assert (done.returncode, done.stdout) == (expected.returncode, output), done.stderr
    found = {}
    for event in vestige.open(directory / "trace").events("vestige_probe:*"):
        name = event.name.partition(":")[2]
        found.setdefault(name, []).append(dict(event.payload))
    return found


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O2", "-gdwarf-4"], ["-Os"]])
def test_parameters_are_where_debug_information_says(tmp_path, flags):
    """Of all kinds and sizes, also where the compiler describes only later places."""
    found = probed(
        tmp_path,
        build(tmp_path, *flags),
        f"--probe=all({', '.join(VALUES)}, $return)",
        "--probe=behind(number, $return)",
    )
    assert found["all"] == [VALUES]
    [result] = found["all_return"]
    total = sum(float(value) for name, value in VALUES.items() if name != "place") + 1
    assert result["return"] == pytest.approx(total)
    assert found["behind"] == [{"number": 42}]
    assert found["behind_return"] == [{"return": 47}]


@pytest.mark.skipif(shutil.which("clang") is None, reason="not installed: clang")
@pytest.mark.parametrize("flags", [["-O0"], ["-O2"]])
def test_other_compilers_describe_the_same(tmp_path, flags):
    """The base of a frame may be another register."""
    # Optimized code has no place at the entry for some that are on the stack.
    left = {"most", "is_on", "color", "place"} if "-O2" in flags else set()
    wanted = {name: value for name, value in VALUES.items() if name not in left}
    found = probed(
        tmp_path,
        build(tmp_path, *flags, compiler="clang"),
        f"--probe=all({', '.join(wanted)})",
    )
    assert found["all"] == [wanted]


def test_places_need_no_debug_information(tmp_path):
    """Registers and the stack, with types."""
    program = build(tmp_path, "-O2")
    run_tool(["strip", "-g", program])
    values = ", ".join(f"{place}:{kind}" for place, (kind, _) in PLACES.items())
    found = probed(tmp_path, program, f"--probe=all({values}, $return:double)")
    expected = {place.replace("+", "_"): value for place, (_, value) in PLACES.items()}
    assert found["all"] == [expected]
    assert len(found["all_return"]) == 1


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"]])
def test_texts_are_read_safely(tmp_path, flags):
    """Those at the end of memory, without an end, and pointers that lead nowhere."""
    program = build(tmp_path, *flags)
    found = probed(tmp_path, program, "--probe=text(given, size, $return)")
    texts = [values["given"] for values in found["text"]]
    assert len(texts) == len(TEXTS)
    for text, expected in zip(texts, TEXTS, strict=True):
        assert text.startswith(expected), text
    assert texts[9] == TEXTS[9]
    results = [values["return"] for values in found["text_return"]]
    assert results == ["(null)", "given back", *["(null)"] * 9]


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"]])
def test_results_have_the_width_of_their_type(tmp_path, flags):
    """Of floats, small and negative integers, and truth values, in all threads."""
    found = probed(
        tmp_path,
        build(tmp_path, *flags),
        "--probe=halved(value, $return)",
        "--probe=negative(value, $return)",
        "--probe=is_odd($return)",
        "--probe=nothing",
        "--probe=recursive(depth, $return)",
    )
    assert found["halved"] == [{"value": 3.0}]
    assert found["halved_return"] == [{"return": 1.5}]
    values = Counter(row["value"] for row in found["negative"])
    assert values == {0: 100, 1: 100, 2: 100, 3: 100, 5: 1}
    values = Counter(row["return"] for row in found["negative_return"])
    assert values == {0: 100, -1: 100, -2: 100, -3: 100, -5: 1}
    assert [row["return"] for row in found["is_odd_return"]] == [1, 0, 1]
    assert found["is_odd"] == [{}] * 3
    assert found["nothing"] == [{}]
    # The compiler may make a loop of it, in part.
    depths = [row["depth"] for row in found["recursive"]]
    assert depths[0] == 10
    assert found["recursive_return"][-1] == {"return": 55}
    assert len(depths) == len(found["recursive_return"])


def test_all_parameters_are_recorded_without_a_list(tmp_path):
    """Those that debug information describes; of others nothing is said."""
    found = probed(tmp_path, build(tmp_path, "-O2"), "--probe=all", "--probe=behind")
    assert found["all"] == [VALUES]
    assert found["behind"] == [{"number": 42}]


def test_filters_see_the_values(tmp_path):
    """As those of any other event."""
    found = probed(
        tmp_path,
        build(tmp_path, "-O2"),
        "--probe=negative(value, $return)",
        "--probe=text(given)",
        "-e",
        "vestige_probe:negative",
        "--filter=value > 2",
        "-e",
        "vestige_probe:text",
        '--filter=given == "e*"',
    )
    assert Counter(row["value"] for row in found["negative"]) == {3: 100, 5: 1}
    assert found["text"] == [{"given": "end"}]
    # No rule has a word about it.
    assert len(found["negative_return"]) == 401


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ([], ["--patch"]),
        (["-fpatchable-function-entry=5"], []),
        ([], ["--patch", "--functions=verbose"]),
        ([], ["--patch", "--library-calls", "-c", "ip,vpid,vtid"]),
    ],
)
def test_calls_are_recorded_besides(tmp_path, flags, options):
    """A function may have both events of calls and a probe."""
    program = build(tmp_path, "-O2", *flags)
    found = probed(tmp_path, program, "--probe=negative(value, $return)", *options)
    assert len(found["negative"]) == len(found["negative_return"]) == 401
    called = Counter(
        (event.name.partition(":")[2], event.debug_info.function)
        for event in vestige.open(tmp_path / "trace").events("*:func_*")
    )
    assert called["func_entry", "negative"] == 401
    assert called["func_exit", "negative"] in {401, 0}
    assert called["func_entry", "nothing"] == 1


@pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")
def test_exceptions_pass_through_probes(tmp_path):
    """A function that is left by one has no event at its exit."""
    source = tmp_path / "thrown.cpp"
    source.write_text(
        "namespace shop { struct Cart { int count; __attribute__((noinline)) int add(int n)"
        " { if (n > 2) throw n; return count += n; } }; }\n"
        "int main() { shop::Cart cart{1}; int caught = 0;\n"
        "for (int n = 0; n < 5; n++) try { cart.add(n); } catch (int) { caught++; }\n"
        "return cart.count * 10 + caught; }\n"
    )
    program = tmp_path / "thrown"
    run_tool(["g++", "-g", "-O1", "-o", program, source])
    found = probed(tmp_path, program, "--probe=shop::Cart::add(this, n, $return)")
    assert [row["n"] for row in found["shop_Cart_add"]] == [0, 1, 2, 3, 4]
    assert [row["return"] for row in found["shop_Cart_add_return"]] == [1, 2, 4]


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="not installed: sqlite3")
def test_functions_of_system_libraries_have_probes(tmp_path):
    """As they are, without debug information."""
    command = ["sqlite3", ":memory:", "select 40 + 2"]
    done = run_recorded(
        tmp_path / "trace",
        command,
        "--probe=libsqlite3.so:sqlite3_prepare_v2(rsi:str, $return:int)",
        "--probe=sqlite3_step(rdi:ptr, $return:int)",
    )
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    events = vestige.open(tmp_path / "trace").events("vestige_probe:*")
    found = [(event.name.partition(":")[2], dict(event.payload)) for event in events]
    assert ("sqlite3_prepare_v2", {"rsi": "select 40 + 2"}) in found
    assert ("sqlite3_step_return", {"return": 100}) in found


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        ("negativ(value)", "no such function in probed.*there are 'negative'"),
        ("negative(valu)", "no parameter 'valu': there is 'value'"),
        ("behind(first)", "'first' is of a type that cannot be recorded"),
        ("nothing($return)", "it returns nothing"),
        ("write(rdi:int)", "libc.so.6 was left alone"),
        ("_start()", "it cannot be recorded: "),
        ("negative(", r"expected \[OBJECT:\]FUNCTION"),
        ("negative(rdi:text)", "no type 'text': expected one of int, "),
        ("negative(rbx:int)", "rbx cannot be recorded"),
        ("negative(xmm0:int)", "expected float or double in xmm0"),
        ("negative($return, $return)", "expected .return once"),
        ("negative(value, value)", "expected 'value' once"),
    ],
)
def test_what_is_wrong_is_said_before_the_program_starts(tmp_path, probe, reason):
    """With the names that there are, and why a function cannot be recorded."""
    program = build(tmp_path, "-O2")
    done = run_recorded(tmp_path / "trace", [program], f"--probe={probe}")
    assert done.returncode not in {0, 4}
    assert not done.stdout
    [line] = [line for line in done.stderr.splitlines() if "error: --probe" in line]
    assert re.search(reason, line), line
