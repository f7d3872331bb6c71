"""A provider of tracepoints is unloaded while threads pass its tracepoints."""

from __future__ import annotations

import subprocess

import pytest

import vestige
from support.instrumented import Sources
from support.judged_programs import JUDGED
from support.recorded import run_recorded

RUNS = 8
TURNS = 1000


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The program, and the library that it loads and unloads."""
    sources = Sources(tmp_path_factory.mktemp("unloading"))
    program = sources.compile(JUDGED / "unloading.c")
    flags = ("-fPIC", "-DLTTNG_UST_TRACEPOINT_CREATE_PROBES")
    text = '#include "hello-tp.h"\n'
    provider = sources.compile(sources.write("probes.c", text), *flags)
    return (
        sources.link("unloading", program, *sources.libraries),
        sources.link("libprobes.so", "-shared", provider, *sources.libraries),
    )


@pytest.mark.parametrize("turns", [TURNS] * RUNS)
def test_the_program_goes_on(tmp_path, built, turns):
    """No thread calls what is no longer there, and each record is whole."""
    words = [*built, str(turns)]
    plain = subprocess.run(words, capture_output=True, text=True, check=False)
    done = run_recorded(tmp_path / "trace", words, "--max-size=64M")
    opened = vestige.open(tmp_path / "trace", debug_info=False)
    texts = {event["my_string_field"] for event in opened.events("hello_world:*")}

    assert (plain.returncode, plain.stdout) == (0, "done\n"), plain.stderr
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert texts == {"passed"}
    assert not opened.damage
