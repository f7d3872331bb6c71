"""Probes in the kernel itself, which not every kernel takes (``make other-kernels``)."""

from __future__ import annotations

import platform
import re
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import why_no_places
from support.recorded import build_program, run_recorded
from vestige.record.backends.kernel.probes import Probes
from vestige.record.backends.kernel.tracefs import NoKernelTracerError, Tracefs

REASON = why_no_places() or (
    None if platform.machine() == "x86_64" else "the names of calls are others"
)
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
FUNCTION = "__x64_sys_getpriority"
COUNT = 500
EXECUTIONS = 5
"""The length of the instruction at which the kernel traces functions."""


@pytest.fixture
def tracefs():
    """The kernel's file system of tracing."""
    opened = Tracefs()
    yield opened
    opened.close()


def symbol(name, offset=0):
    """Return a place of the kernel."""
    return {"type": "symbol", "name": name, "offset": offset}


def address_of(name):
    """Return where a function of the kernel is."""
    text = Path("/proc/kallsyms").read_text()
    found = re.search(rf"^([0-9a-f]+) [tT] {name}$", text, re.MULTILINE)
    return int(found[1], 16)


def second_instruction(tracefs):
    """Return the offset of an instruction behind the one where functions are traced.

    Newer kernels have four bytes in front that mark a target of calls.
    """
    for offset in (EXECUTIONS, 4 + EXECUTIONS):
        made = Probes(tracefs)
        try:
            made.add("probe", symbol(FUNCTION, offset), "tried")
        except NoKernelTracerError:
            continue
        finally:
            made.close()
        return offset
    raise AssertionError(f"{FUNCTION} has no instruction where a probe can be")


def test_each_time_is_an_event(tracefs, tmp_path):
    """At a symbol, behind it, at an address, and of functions entry and exit."""
    program = build_program(tmp_path, "system_calls")
    address, offset = address_of(FUNCTION), second_instruction(tracefs)
    places = [
        f"start={FUNCTION}",
        f"behind={FUNCTION}+{offset}",
        f"there={address:#x}",
        f"function:{FUNCTION}",
    ]
    options = [word for one in places for word in ("--kernel-probe", one)]
    words = [program, str(COUNT)]
    done = run_recorded(tmp_path / "trace", words, *options)
    assert done.returncode == 0, done.stderr
    counts, seen = Counter(), {}
    for event in vestige.open(tmp_path / "trace" / "kernel"):
        if not event.name.startswith("lttng_"):
            counts[event.name, event.context["tid"]] += 1
            seen.setdefault(event.name, dict(event.payload))
    names = ["start", "behind", "there", f"{FUNCTION}_entry", f"{FUNCTION}_exit"]
    [thread] = {thread for (_, thread), count in counts.items() if count >= COUNT}

    assert {name: counts[name, thread] for name in names} == dict.fromkeys(names, COUNT)
    assert seen["behind"] == {"ip": address + offset}
    # Where functions begin with a mark, the kernel puts a probe behind that.
    assert seen["start"] == seen["there"]
    assert seen["start"]["ip"] - address in {0, 4}
    assert [*seen[names[3]]] == [*seen[names[4]]] == ["ip", "parent_ip"]
    # Both are called from the same place.
    assert seen[names[3]]["parent_ip"] == seen[names[4]]["parent_ip"]


@pytest.mark.parametrize(
    ("location", "words"),
    [
        (symbol("no_such_function"), "Invalid probed address or symbol"),
        (symbol(FUNCTION, 1), "Probe point is not an instruction boundary"),
        (symbol("notify_die"), "Failed to register probe event"),
    ],
)
def test_a_place_that_cannot_be_is_refused_in_the_kernels_words(
    tracefs, location, words
):
    """Nothing is left of it."""
    made = Probes(tracefs)
    with pytest.raises(NoKernelTracerError) as told:
        made.add("probe", location, "wrong")
    made.close()

    assert str(told.value).startswith(f"no probe wrong: the kernel refuses it: {words}")


def test_an_address_without_code_is_refused(tracefs):
    """Newer kernels would wait for a module to be loaded there, and say nothing."""
    made = Probes(tracefs)
    with pytest.raises(NoKernelTracerError, match="no probe wrong: "):
        made.add("probe", {"type": "address", "address": 16}, "wrong")
    made.close()


def test_a_function_with_a_wrong_place_leaves_nothing(tracefs):
    """Its entry may be defined before its exit is refused."""
    before = tracefs.read("kprobe_events")
    made = Probes(tracefs)
    with pytest.raises(NoKernelTracerError, match="no probe inside"):
        made.add("function", symbol(FUNCTION, second_instruction(tracefs)), "inside")
    made.close()

    assert tracefs.read("kprobe_events") == before
