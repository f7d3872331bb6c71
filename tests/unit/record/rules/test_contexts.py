"""Contexts of event records."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict

import pytest

import vestige
from support.chosen import HEADERS
from support.compilers import PROGRAMS, run_tool
from support.recorded import record_command, run_recorded
from vestige.record import CONTEXTS
from vestige.record.backends.in_process.tracer import library_path
from vestige.record.rules.contexts import (
    CONTEXT_CLASSES,
    COUNTERS,
    COUNTERS_OF_KERNEL,
    MOST_COUNTERS,
)

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

IDS = ("vuid", "vgid", "veuid", "vegid", "vsuid", "vsgid")
NAMESPACES = tuple(name for name in CONTEXTS if name.endswith("_ns"))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that changes what it is."""
    path = tmp_path_factory.mktemp("owned") / "owned"
    source = PROGRAMS / "owned.c"
    flags = [f"-I{HEADERS}", f"-I{PROGRAMS}", "-pthread", "-ldl"]
    run_tool(["gcc", "-O1", "-o", path, source, *flags])
    return path


def events(trace):
    """Return the events of the program."""
    return [
        event
        for event in vestige.open(trace, debug_info=False)
        if event.name == "owned:now"
    ]


def test_what_changes_is_asked_again(tmp_path, program):
    """After calls that change it, in threads and in children."""
    run_recorded(tmp_path / "trace", [program], "-q", "-c", ",".join(CONTEXTS))
    found = events(tmp_path / "trace")
    steps = [event["step"] for event in found]

    assert {"start", "thread", "child", "thread again"} <= set(steps)
    for event in found:
        assert [event[name] for name in IDS] == list(event["ids"]), event["step"]
        inodes = [event[name] for name in NAMESPACES]
        assert inodes == list(event["inodes"]), event["step"]
        assert event["vpid"] == event["pid"]
        assert event["vtid"] == event["tid"]
        assert event["pthread_id"] == event["thread"]
    if os.geteuid() == 0:
        assert {"setuid", "setgid", "setresuid", "setregid"} <= set(steps)
        assert len({tuple(event["ids"]) for event in found}) > 5


def test_filters_see_what_changes(tmp_path, program):
    """Also where no record has it."""
    run_recorded(tmp_path / "all", [program], "-q", "-c", "none")
    everything = events(tmp_path / "all")
    user = os.geteuid()
    expression = f"$ctx.veuid == {user} && $ctx.vegid == ids[3] && $ctx.vtid == tid"
    rule = ["-e", "owned:*", "--filter", f"{expression} && $ctx.uts_ns == inodes[7]"]
    run_recorded(tmp_path / "some", [program], "-q", "-c", "none", *rule)

    assert [event["step"] for event in events(tmp_path / "some")] == [
        event["step"] for event in everything if event["ids"][2] == user
    ]


@pytest.mark.parametrize("chosen", [["uts_ns", "vpid"], ["vsgid"], list(CONTEXTS)])
def test_records_hold_what_was_asked_for(tmp_path, chosen):
    """In one order, whatever that of the option is."""
    run_recorded(tmp_path / "trace", ["true"], "-q", "-c", ",".join(reversed(chosen)))
    (first, *_) = vestige.open(tmp_path / "trace", debug_info=False)

    assert list(first.context) == [n for n in CONTEXTS if n in chosen]


def test_what_there_is_can_be_listed(tmp_path):
    """With what each is."""
    command = [*record_command(tmp_path, [])[:4], "--list-contexts"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()

    assert [line.split()[0] for line in lines] == [*CONTEXTS, *COUNTERS]
    assert [line.split(maxsplit=1)[1] for line in lines[: len(CONTEXTS)]] == [
        one.about for one in CONTEXT_CLASSES
    ]


def test_an_unknown_context(tmp_path):
    """Is refused."""
    done = run_recorded(tmp_path / "trace", ["true"], "-c", "vpid,shoe_size")

    assert done.returncode == 2
    assert "no context 'shoe_size': expected some of ip, vpid" in done.stderr


def test_counters_of_the_kernel(tmp_path, program):
    """Never go down in a thread, and are that thread's."""
    names = [f"perf:thread:{name}" for name in COUNTERS_OF_KERNEL]
    run_recorded(tmp_path / "trace", [program], "-q", "-c", ",".join(["vtid", *names]))
    found = events(tmp_path / "trace")
    fields = [re.sub(r"\W", "_", name) for name in names]
    threads = defaultdict(list)
    for event in found:
        threads[event["vtid"]].append([event[name] for name in fields])

    assert list(found[0].context) == ["vtid", *fields]
    for values in threads.values():
        assert values == sorted(values)
        for faults, same, major, minor, switches, also, clock, task in values:
            assert (faults, switches, clock) == (same, also, clock)
            assert faults == major + minor
            assert 0 < clock <= task
    first = threads[found[0]["vtid"]]
    assert first[-1][0] > first[0][0]


def test_filters_may_count(tmp_path, program):
    """Without a field in the records."""
    rule = ["-e", "owned:*", "--filter", "$ctx.perf:thread:page-fault > 0"]
    run_recorded(tmp_path / "trace", [program], "-q", *rule)
    run_recorded(tmp_path / "none", [program], "-q", *rule[:3], f"!({rule[3]})")

    assert events(tmp_path / "trace")
    assert not events(tmp_path / "none")


def can_count(name):
    """Ask the tracer in a process of its own: tests have used up the room for its threads' memory."""
    code = (
        "import ctypes, sys\n"
        "library = ctypes.CDLL(sys.argv[1])\n"
        "print(library.vestige_can_count(sys.argv[2].encode()) & 1)\n"
    )
    asked = subprocess.run(
        [sys.executable, "-c", code, library_path(), name],
        capture_output=True,
        text=True,
        check=True,
    )
    return asked.stdout == "1\n"


def test_counters_of_the_processor(tmp_path, program):
    """Are there, or refused before the program runs."""
    name = "perf:thread:instructions"
    done = run_recorded(tmp_path / "trace", [program], "-q", "-c", f"ip,{name}")
    if can_count(name):
        counts = [
            event["perf_thread_instructions"] for event in events(tmp_path / "trace")
        ]
        assert counts[0] > 0
    else:
        assert done.returncode == 125
        assert f"'{name}' cannot be counted" in done.stderr
        assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    "name",
    ["perf:thread:", "perf:cpu:cycles", "perf:thread:raw:x1:y", "perf:thread:raw:r1"],
)
def test_what_is_no_counter(tmp_path, name):
    """Is refused."""
    done = run_recorded(tmp_path / "trace", ["true"], "-c", name)

    assert done.returncode == 2
    assert f"no context '{name}'" in done.stderr


def test_too_many_counters(tmp_path):
    """The tracer has room for so many."""
    names = ",".join(COUNTERS[: MOST_COUNTERS + 1])
    done = run_recorded(tmp_path / "trace", ["true"], "-c", names)

    assert done.returncode == 2
    assert "9 counters: expected up to 8" in done.stderr
