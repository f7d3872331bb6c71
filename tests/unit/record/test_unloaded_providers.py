"""Providers of tracepoints are unloaded while threads are in their probes."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

import vestige
from support.instrumented import Sources, payloads, record_instrumented
from support.judged_programs import JUDGED
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

CREATE = ("-fPIC", "-DLTTNG_UST_TRACEPOINT_CREATE_PROBES")
TURNS = 150


def build(sources, program, header, *flags):
    """Compile a program, and a library with the provider of a header."""
    text = sources.write("probes.c", f'#include "{header}"\n')
    probes = sources.compile(text, *CREATE, *flags)
    made = sources.compile(program, *flags, name="program.o")
    return (
        sources.link("program", *flags, made, *sources.libraries),
        sources.link("libprobes.so", "-shared", *flags, probes, *sources.libraries),
    )


@pytest.fixture(scope="module")
def leaving(tmp_path_factory):
    """A program that unloads a provider in various ways, and the provider."""
    sources = Sources(tmp_path_factory.mktemp("leaving"))
    return build(sources, "leaving.c", "leaving_tp.h")


@pytest.mark.parametrize(
    ("how", "turns", "expected"),
    [
        ("closes", 2, {("leaving:asked", 1): 2}),
        ("waits", 1, {("leaving:asked", 1): 1}),
        ("ends", 2, {("leaving:plain", 0): 1, ("leaving:plain", 1): 1}),
        # The child has the parent's record half written, and leaves it alone.
        ("forks", 1, {("leaving:asked", 1): 1, ("leaving:plain", 0): 1}),
    ],
    ids=["itself", "waiting", "ended", "forked"],
)
def test_a_thread_in_a_probe_goes_on(tmp_path, leaving, how, turns, expected):
    """It unloads the provider itself, waits for too long, is gone, or is a child."""
    trace = record_instrumented(tmp_path / "trace", [*leaving, how, str(turns)])
    found = Counter(
        (name, payload.get("answer", payload.get("number")))
        for name, payload in payloads(trace)
    )

    assert found == expected


@pytest.mark.parametrize("flags", [[], ["-fsanitize=thread"]], ids=["plain", "thread"])
def test_threads_pass_meanwhile(tmp_path, flags):
    """No thread calls what is no longer there, and each record is whole."""
    sources = Sources(tmp_path)
    words = build(sources, JUDGED / "unloading.c", "hello-tp.h", *flags)
    done = run_recorded(
        tmp_path / "trace", [*words, str(TURNS)], "--max-size=64M", "-q"
    )
    opened = vestige.open(tmp_path / "trace", debug_info=False)
    texts = {event["my_string_field"] for event in opened.events("hello_world:*")}

    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert texts == {"passed"}
    assert not opened.damage
