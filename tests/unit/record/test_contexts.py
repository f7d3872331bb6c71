"""Contexts of event records."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

import vestige
from support.chosen import HEADERS
from support.compilers import PROGRAMS, run_tool
from support.recorded import record_command, run_recorded
from vestige.record import CONTEXTS
from vestige.record.contexts import CONTEXT_CLASSES

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

    assert [line.split()[0] for line in lines] == list(CONTEXTS)
    assert all(
        one.about in line for one, line in zip(CONTEXT_CLASSES, lines, strict=True)
    )


def test_an_unknown_context(tmp_path):
    """Is refused."""
    done = run_recorded(tmp_path / "trace", ["true"], "-c", "vpid,shoe_size")

    assert done.returncode == 2
    assert "no context 'shoe_size': expected some of ip, vpid" in done.stderr
