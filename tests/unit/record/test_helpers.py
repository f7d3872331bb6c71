"""Calls of the C library's functions, by preloaded libraries that stand in for them."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

SOURCE = "helped.c"
HELPERS = {"lttng_ust_libc", "lttng_ust_pthread", "lttng_ust_dl"}
SECONDS = 60.0


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that is not instrumented."""
    path = tmp_path_factory.mktemp("helped") / "helped"
    run_tool(
        ["gcc", "-g", "-O1", "-fno-builtin", "-pthread", "-o", path, PROGRAMS / SOURCE]
    )
    return path


def recorded(trace, command, *options):
    """Record a program, which must do as it does otherwise; return its output."""
    plain = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    done = run_recorded(trace, command, *options)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert "no events lost" in done.stderr
    assert "no function calls" not in done.stderr
    return done.stdout


def called(trace):
    """Return the events of calls from the program's source, each with that line."""
    lines = (PROGRAMS / SOURCE).read_text(encoding="utf-8").splitlines()
    found = []
    for event in vestige.open(trace):
        provider, _, name = (event.name or "").partition(":")
        if provider not in HELPERS:
            continue
        place = event.debug_info
        if place.file and Path(place.file).name == SOURCE:
            found.append((name, dict(event.payload), lines[place.line - 1].strip()))
    return found


def test_each_memory_function_is_an_event_with_the_line_of_its_caller(
    tmp_path, program
):
    """Arguments and result, as LTTng-UST's helper has them."""
    recorded(tmp_path / "trace", [program, "each"], "--libc")
    found = called(tmp_path / "trace")

    assert [line for *_, line in found] == [
        "void *one = malloc(1234567);",
        "void *two = calloc(3, 777);",
        "void *three = realloc(two, 99999);",
        "void *four = memalign(64, 4321);",
        "int status = posix_memalign(&five, 128, 8765);",
        "int refused = posix_memalign(&two, 3, 8765);",
        "free(one);",
        "free(three);",
        "free(four);",
        "free(five);",
        "free(malloc(55));",
        "free(malloc(55));",
    ]
    fields = [fields for _, fields, _ in found]
    one, two, three, four, five = (
        fields[index][name]
        for index, name in enumerate(["ptr", "ptr", "ptr", "ptr", "out_ptr"])
    )
    last = fields[10]["ptr"]
    assert [(name, fields) for name, fields, _ in found] == [
        ("malloc", {"size": 1234567, "ptr": one}),
        ("calloc", {"nmemb": 3, "size": 777, "ptr": two}),
        ("realloc", {"in_ptr": two, "size": 99999, "ptr": three}),
        ("memalign", {"alignment": 64, "size": 4321, "ptr": four}),
        (
            "posix_memalign",
            {"out_ptr": five, "alignment": 128, "size": 8765, "result": 0},
        ),
        (
            "posix_memalign",
            {"out_ptr": two, "alignment": 3, "size": 8765, "result": 22},
        ),
        ("free", {"ptr": one}),
        ("free", {"ptr": three}),
        ("free", {"ptr": four}),
        ("free", {"ptr": five}),
        ("malloc", {"size": 55, "ptr": last}),
        ("free", {"ptr": last}),
    ]
    assert four % 64 == five % 128 == 0


def test_mutexes(tmp_path, program):
    """A request and when it was granted; what was tried; with their results."""
    recorded(tmp_path / "trace", [program, "mutexes"], "--pthread")
    found = called(tmp_path / "trace")

    mutex = found[0][1]["mutex"]
    assert [(name, fields) for name, fields, _ in found] == [
        ("pthread_mutex_lock_req", {"mutex": mutex}),
        ("pthread_mutex_lock_acq", {"mutex": mutex, "status": 0}),
        ("pthread_mutex_trylock", {"mutex": mutex, "status": 16}),
        ("pthread_mutex_unlock", {"mutex": mutex, "status": 0}),
        ("pthread_mutex_trylock", {"mutex": mutex, "status": 0}),
        ("pthread_mutex_unlock", {"mutex": mutex, "status": 0}),
    ]


@pytest.mark.parametrize("options", [(), ("--pthread",), ("-e", "ust_baddr:*")])
def test_a_storm_of_allocations_is_counted_exactly(tmp_path, program, options):
    """In several threads, whose ends lose nothing; patterns of events do not matter."""
    printed = recorded(
        tmp_path / "trace", [program, "storm", "8", "5000"], "--libc", *options
    )
    counted = Counter(name for name, *_ in called(tmp_path / "trace"))

    allocated, cleared, resized, freed = map(int, printed.split())
    mutex = 8 if "--pthread" in options else 0
    assert (
        counted
        == Counter(
            {
                "malloc": allocated,
                "calloc": cleared,
                "realloc": resized,
                "free": freed,
                "pthread_mutex_lock_req": mutex,
                "pthread_mutex_lock_acq": mutex,
                "pthread_mutex_unlock": mutex,
            }
        )
        - Counter()
    )
    assert min(allocated, cleared, resized, freed) > 8 * 1000
