"""Recordings of probes, which only root can make."""

from __future__ import annotations

import platform
import subprocess
from collections import Counter

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.kernel_tracer import why_not
from support.recorded import record_command
from vestige.record.backends.kernel.tracefs import Tracefs

REASON = why_not() or (None if platform.machine() == "x86_64" else "the notes' words")
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
BEFORE, RECORDED = 40, 30
"""How often programs call the function, besides once for what IFUNC chooses."""
NAMES = ("sell", "again", "shop:half", "shop:sold")
"""Of the events of programs; whether the kernel has any of its own, depends on it."""
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Probes in a program that is recorded, and that somebody had started before.

    Gives the trace, what was said, and the processes' IDs: before, recorded.
    """
    directory = tmp_path_factory.mktemp("probes")
    program, output = directory / "marked", directory / "trace"
    run_tool(["gcc", "-O1", "-o", program, PROGRAMS / "marked.c"])
    wanted = [
        f"elf:{program}:sell",
        f"again=elf:{program}:sell_again",
        f"sdt:{program}:shop:half",
        f"sdt:{program}:shop:sold",
        "vfs_open",
    ]
    options = [word for one in wanted for word in ("--kernel-probe", one)]
    command = record_command(output, [program, str(RECORDED), "wait"], *options)
    with (
        subprocess.Popen([program, str(BEFORE), "wait"], **PIPES) as before,
        subprocess.Popen(command, **PIPES, stderr=subprocess.PIPE) as recorder,
    ):
        assert before.stdout.read(1) == recorder.stdout.read(1) == b"."
        before.communicate(b"\n", timeout=60)
        _, said = recorder.communicate(b"\n", timeout=60)
    assert (before.returncode, recorder.returncode) == (0, 0), said
    return output, said.decode(), before.pid


@needs_tracer
def test_each_time_is_an_event(recording):
    """In both programs: of functions, and of places with and without counters."""
    output, _, before = recording
    found = Counter(
        (event.name, event.context["tid"] == before)
        for event in vestige.open(output / "kernel")
        if event.name in NAMES
    )

    assert found == {
        (name, is_before): (BEFORE if is_before else RECORDED) + 1
        for name in NAMES
        for is_before in (False, True)
    }


@needs_tracer
def test_events_have_the_address_as_lttng_does(recording):
    """One for each place."""
    output, _, before = recording
    places = {}
    for event in vestige.open(output / "kernel"):
        if event.context["tid"] == before and event.name in NAMES:
            assert list(event.payload) == ["ip"]
            places.setdefault(event.name, set()).add(event.payload["ip"])

    assert {name: len(found) for name, found in places.items()} == {
        "sell": 1,
        "again": 1,
        "shop:half": 2,
        "shop:sold": 1,
    }
    assert places["sell"] == places["again"]


@needs_tracer
def test_what_this_kernel_cannot_probe_is_told(recording):
    """The rest is recorded; and nothing is left."""
    output, said, _ = recording
    tracefs = Tracefs()
    has_own = "kprobe_events" in tracefs.names(".")
    left = tracefs.read("uprobe_events")
    tracefs.close()
    states = (
        event.context["tid"]
        for event in vestige.open(output / "kernel")
        if event.name == "lttng_statedump_start"
    )

    if not has_own:
        assert "no probe vfs_open: this kernel can have no probes in itself" in said
    # Who dumps the state is who makes the probes.
    assert f":vestige_{next(states)}_" not in left
