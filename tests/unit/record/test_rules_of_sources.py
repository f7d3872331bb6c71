"""Rules hold for function calls, helpers and calls of Python functions."""

from __future__ import annotations

import shutil
import sys
from collections import Counter

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

FAST, VERBOSE = "lttng_ust_cyg_profile_fast", "lttng_ust_cyg_profile"
PYTHON = """
import asyncio, logging, threading
def inner(): pass
async def step(): await asyncio.sleep(0)
threading.Thread(target=inner).start()
inner()
asyncio.run(step())
logging.getLogger("shop").warning("sold")
logging.getLogger("shop.cart").error("empty")
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose functions have the same addresses in each run."""
    path = tmp_path_factory.mktemp("ruled") / "ruled"
    flags = ["-g", "-O1", "-fno-builtin", "-no-pie", "-finstrument-functions"]
    run_tool(["gcc", *flags, "-o", path, PROGRAMS / "ruled.c"])
    return path


def address_of(program, function):
    """Return where a function is."""
    lines = run_tool(["nm", program]).decode().splitlines()
    return next(
        f"0x{words[0]}" for words in map(str.split, lines) if words[-1] == function
    )


def record(output, command, *options):
    """Record a program; return how often each event that is no state dump is there."""
    done = run_recorded(output, command, "-q", *options)
    assert (done.returncode, done.stderr) == (0, "")
    opened = vestige.open(output, debug_info=False)
    assert not opened.damage
    return Counter(
        event.name
        for event in opened
        if not (event.name or "").startswith(("lttng_ust_statedump", "lttng_ust_lib:"))
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-e", f"{FAST}:*", "--filter", "addr == {inner}"], {"fast:func_entry": 24}),
        (
            ["-e", f"{VERBOSE}:*", "--filter", "addr == {inner}"],
            {"profile:func_entry": 24, "profile:func_exit": 24},
        ),
        (
            ["--functions=verbose", "-e", f"{FAST}:*", "--filter", "addr == {outer}"],
            {"profile:func_entry": 12, "profile:func_exit": 12},
        ),
        (
            ["-e", f"{FAST}:*", "--filter", "$ctx.ip == {inner}"],
            {"fast:func_entry": 24, "fast:func_exit": 24},
        ),
        (["-e", f"{FAST}:*", "--filter", "$ctx.vpid != $ctx.vtid"], {}),
        (
            [
                *("-e", f"{FAST}:func_entry", "--filter", "addr == {inner}"),
                *("-e", f"{FAST}:func_entry", "--filter", "addr == {outer}"),
            ],
            {"fast:func_entry": 36},
        ),
        (
            ["--include-function=outer", "-e", f"{FAST}:*", "--filter", "addr > 0"],
            {"fast:func_entry": 12},
        ),
        (
            ["--functions", "-e", "*", "--filter", "size > 3", "--exclude", "l*:f*"],
            None,
        ),
    ],
)
def test_filters_of_function_calls(tmp_path, program, options, expected):
    """Those that are not true make no record."""
    names = {name: address_of(program, name) for name in ("inner", "outer")}
    words = [word.format_map(names) for word in options]
    found = record(tmp_path / "trace", [program], *words)
    short = {}
    for name, count in found.items():
        provider, _, event = name.partition(":")
        short[f"{provider.rpartition('_')[2]}:{event}"] = count

    if expected is None:
        assert short["fast:func_entry"] == short["fast:func_exit"] > 0
    else:
        assert short == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-e", "lttng_ust_libc:malloc", "--filter", "size > 6000"], {"malloc": 5}),
        (
            ["--libc", "-e", "lttng_ust_libc:*c", "--exclude", "*:m*", "-e", "app:x"],
            {"calloc": 12, "realloc": 12},
        ),
        (["--libc", "-e", "app:x", "-e", "lttng_ust_libc:*", "--loglevel", "3"], {}),
    ],
)
def test_rules_for_helpers(tmp_path, program, options, expected):
    """They bring the helper, and choose among its events."""
    command = run_recorded(tmp_path / "trace", [program], "-q", *options)
    opened = vestige.open(tmp_path / "trace")
    found = Counter(
        (event.name or "").partition(":")[2]
        for event in opened
        if (event.name or "").startswith("lttng_ust_libc:")
        and event.debug_info.binary.host_path.endswith("/ruled")
    )

    assert command.returncode == 0
    assert found == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-e", "vestige_python:func_entry"], {"func_entry": 3}),
        (
            ["-e", "vestige_python:*", "--filter", "$ctx.vpid == $ctx.vtid"],
            {
                "func_entry": 2,
                "func_exit": 2,
                "coroutine_entry": 2,
                "coroutine_exit": 2,
            },
        ),
        (
            [
                "--python-functions",
                "-e",
                "*:coroutine_*",
                "--filter",
                "is_resumed == 1",
            ],
            {"coroutine_entry": 1},
        ),
        (["--python-functions", "-e", "vestige_python:*", "--loglevel", "5"], {}),
        (
            ["--python", "-e", "shop*", "--exclude", "shop", "--loglevel", "ERROR"],
            {"event": 1},
        ),
        (
            [
                *("-e", "*:event", "--filter"),
                'logger_name == "shop" && $ctx.vpid == $ctx.vtid',
            ],
            {"event": 1},
        ),
        (
            [
                *("-e", "vestige_python:*", "--exclude", "vestige_python:*y"),
                *("--filter", "addr > 0"),
            ],
            {"func_exit": 3, "coroutine_exit": 2},
        ),
    ],
)
def test_rules_for_programs_in_python(tmp_path, options, expected):
    """Calls of functions, steps of coroutines, and records of loggers."""
    script = tmp_path / "program.py"
    script.write_text(PYTHON, encoding="utf-8")
    has_calls = any(one.startswith(("vestige_py", "--python-f")) for one in options)
    words = ["--only-my-code"] if has_calls else []
    done = run_recorded(
        tmp_path / "trace", [sys.executable, script], "-q", *words, *options
    )
    opened = vestige.open(tmp_path / "trace", debug_info=False)
    found = Counter((event.name or "").partition(":") for event in opened)
    named = {
        name: count
        for (provider, _, name), count in found.items()
        if provider in {"vestige_python", "lttng_python"}
        and name != "code"
        and not name.startswith("gc_")
    }

    assert done.returncode == 0
    assert named == expected


TRACEPOINTS = """
from vestige.instrument import tracepoint
sold = tracepoint("shop:sold", "info", item=str, price=float)
moved = tracepoint("shop:moved", item=str)
for number in range(6):
    sold(item=f"item {number}", price=number / 2)
    moved(item=f"item {number}")
"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-e", "shop:s*"], {"sold": 6}),
        (["-e", "shop:*", "--exclude", "shop:s*"], {"moved": 6}),
        (["-e", "shop:*", "--loglevel", "INFO"], {"sold": 6}),
        (["-e", "shop:*", "--filter", "price >= 1.5"], {"sold": 3}),
        (
            ["-e", "shop:*", "--filter", "item == '*5' && $ctx.vpid == $ctx.vtid"],
            {"sold": 1, "moved": 1},
        ),
    ],
)
def test_rules_for_python_tracepoints(tmp_path, options, expected):
    """As for those of other programs."""
    script = tmp_path / "program.py"
    script.write_text(TRACEPOINTS, encoding="utf-8")
    done = run_recorded(tmp_path / "trace", [sys.executable, script], "-q", *options)
    opened = vestige.open(tmp_path / "trace", debug_info=False)
    found = Counter(
        (event.name or "").partition(":")[2]
        for event in opened
        if (event.name or "").startswith("shop:")
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert found == expected


@pytest.mark.parametrize(
    ("options", "is_there"),
    [
        (["ust_baddr:init"], True),
        (["ust_baddr:pop"], True),
        (["ust_*:*", "--exclude", "*:init"], True),
        (["ust_*:*", "--exclude", "ust_baddr:*"], False),
        (["ust_baddr:*", "--loglevel-only", "DEBUG_LINE"], True),
        (["ust_baddr:*", "--loglevel", "INFO"], False),
    ],
)
def test_rules_for_base_addresses(tmp_path, program, options, is_there):
    """All of them are recorded where a rule takes one."""
    done = run_recorded(tmp_path / "trace", [program], "-q", "-e", *options)
    opened = vestige.open(tmp_path / "trace", debug_info=False)

    assert done.returncode == 0
    assert bool(list(opened.events("ust_baddr:init"))) == is_there
