"""Probes of the kernel: what defines them, and that none is left."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.compilers import PROGRAMS, run_tool
from support.kernel_tracer import why_not
from vestige.record.backends.kernel import probes
from vestige.record.backends.kernel.probes import (
    Probes,
    definitions,
    remove_abandoned,
)
from vestige.record.backends.kernel.tracefs import (
    Instance,
    NoKernelTracerError,
    Tracefs,
)

REASON = why_not()
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
SYMBOL = {"type": "symbol", "name": "vfs_read", "offset": 0}
LEAVES_A_PROBE = """
import sys
from vestige.record.backends.kernel.probes import Probes
from vestige.record.backends.kernel.tracefs import Tracefs
place = {"type": "function", "path": sys.argv[1], "function": "sell"}
probe = Probes(Tracefs()).add("userspace-probe", place, "sold")[0]
print(f"{probe.system}/{probe.name}")
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose name the kernel cannot read in a line."""
    path = tmp_path_factory.mktemp("with room#") / "a:program"
    run_tool(["gcc", "-O1", "-o", path, PROGRAMS / "marked.c"])
    return path


@pytest.fixture
def tracefs():
    """The kernel's file system of tracing."""
    opened = Tracefs()
    yield opened
    opened.close()


def lines(kind, location):
    """Return the lines that define the probes of a rule."""
    return [one.line("group/name") for one in definitions(kind, location)]


def test_probes_of_the_kernel_are_at_symbols_or_addresses(monkeypatch):
    """As the kernel's documents write them; functions with their callers."""
    machine = os.uname_result(("Linux", "here", "6.1.0", "1", "x86_64"))
    monkeypatch.setattr(probes.os, "uname", lambda: machine)

    assert lines("probe", SYMBOL) == ["p:group/name vfs_read"]
    assert lines("probe", {**SYMBOL, "offset": 12}) == ["p:group/name vfs_read+12"]
    address = {"type": "address", "address": 0xFFFFFFFF81234567}
    assert lines("probe", address) == ["p:group/name 0xffffffff81234567"]
    assert lines("function", SYMBOL) == [
        "p:group/name vfs_read parent_ip=$stack0",
        "r:group/name vfs_read",
    ]
    assert [one.suffix for one in definitions("function", SYMBOL)] == [
        "_entry",
        "_exit",
    ]


@pytest.mark.parametrize("name", ["a b", "x\np:evil/one vfs_write", "", "a#"])
def test_what_is_no_symbol_never_comes_into_a_line(name):
    """It would define something else."""
    with pytest.raises(NoKernelTracerError, match="expected a symbol of the kernel"):
        definitions("probe", {**SYMBOL, "name": name})


def test_a_kernel_without_probes_of_its_own_says_so(tmp_path):
    """By the name of what is to be configured."""

    class Without(Tracefs):
        def __init__(self):
            self._top = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)

    tracefs = Without()
    with pytest.raises(NoKernelTracerError, match="CONFIG_KPROBE_EVENTS is off"):
        Probes(tracefs).add("probe", SYMBOL, "read")
    tracefs.close()


@needs_tracer
def test_a_probe_may_be_at_several_places(program, tracefs):
    """It is one event; its field has LTTng's name; nothing of it is left."""
    places = {"type": "tracepoint", "path": str(program), "provider": "shop"}
    made = Probes(tracefs)
    [probe] = made.add("userspace-probe", {**places, "probe": "half"}, "half")
    event = f"{probe.system}/{probe.name}"
    instance = Instance(tracefs, "places")
    try:
        defined = tracefs.read("uprobe_events")
        assert instance.enable([(probe.system, probe.name)]) == []
        instance.record(is_on=True)
        subprocess.run([program, "6"], check=True, stdout=subprocess.DEVNULL)
        instance.record(is_on=False)
        # One more call of the function for what IFUNC has chosen.
        assert instance.read("trace").count(f" {probe.name}: (") == 6 + 1
    finally:
        instance.remove()
        made.close()
    assert defined.count(f"p:{event} ") == 2
    assert [(one.name, one.bytes) for one in probe.fields] == [("ip", 8)]
    assert event not in tracefs.read("uprobe_events")


@needs_tracer
def test_probes_of_the_dead_are_removed(program, tracefs):
    """By whoever starts next; those of the living stay."""
    place = {"type": "function", "path": str(program), "function": "work"}
    mine = Probes(tracefs)
    mine.add("userspace-probe", place, "work")
    done = subprocess.run(
        [sys.executable, "-c", LEAVES_A_PROBE, program],
        capture_output=True,
        text=True,
        check=True,
    )
    left = done.stdout.strip()

    assert f"p:{left} " in tracefs.read("uprobe_events")
    assert left in remove_abandoned(tracefs)
    there = tracefs.read("uprobe_events")
    assert left not in there
    assert f":vestige_{os.getpid()}_" in there
    mine.close()
    assert f":vestige_{os.getpid()}_" not in tracefs.read("uprobe_events")


@needs_tracer
def test_a_place_that_there_is_not_is_refused_with_names_like_it(program, tracefs):
    """As the program has them."""
    place = {"type": "function", "path": str(program), "function": "sel"}
    with pytest.raises(NoKernelTracerError, match="no function sel: there are 'sell'"):
        Probes(tracefs).add("userspace-probe", place, "sold")


@needs_tracer
def test_what_the_kernel_says_is_passed_on(tracefs, monkeypatch):
    """Its own words, from its log of errors."""
    monkeypatch.setattr(
        probes, "definitions", lambda *_: [probes.Definition("p", "/nowhere:0x1")]
    )
    monkeypatch.setattr(probes, "KERNEL", probes.PROGRAMS)

    with pytest.raises(NoKernelTracerError, match="refuses it: Failed to find"):
        Probes(tracefs).add("probe", SYMBOL, "read")
