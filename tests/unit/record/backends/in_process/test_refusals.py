"""Tracers of other builds: they record nothing, and the recording says so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vestige
from support.compilers import run_tool
from support.recorded import PreparedTrace, counts, run_recorded
from vestige.errors import RecordError
from vestige.record import RecordingOptions
from vestige.record._agreement import AGREEMENT, REFUSALS_FILE
from vestige.record.backends.in_process import collector, tracer
from vestige.record.backends.in_process.refusals import (
    Refusal,
    read_refusals,
    refusal_lines,
)

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

OTHER = "0123456789abcdef"
EARLIER = re.sub(r"\d", "0", vestige.__version__)
"""A version that is written with as many characters."""
PROGRAM = """
static __attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
int main(void) { leaf(); return 0; }
"""


@pytest.fixture(scope="module")
def other_tracer(tmp_path_factory):
    """A tracer with another fingerprint, of an earlier version: ours, but for them."""
    built = Path(tracer.library_path()).read_bytes()
    library = tmp_path_factory.mktemp("other") / "libvestige-tracer.so"
    for own, other in ((AGREEMENT, OTHER), (vestige.__version__, EARLIER)):
        assert len(own) == len(other)
        assert own.encode() in built
        built = built.replace(own.encode(), other.encode())
    library.write_bytes(built)
    return library


@pytest.fixture
def program(tmp_path):
    """A program with hooks."""
    source = tmp_path / "leaf.c"
    source.write_text(PROGRAM)
    path = tmp_path / "leaf"
    run_tool(["gcc", "-finstrument-functions", "-o", path, source])
    return path


def test_it_is_named_with_both_versions(tmp_path, other_tracer, program):
    """And nothing of its process is in the recording, while others are."""
    trace = tmp_path / "trace"
    script = f'"{program}"; LD_PRELOAD="{other_tracer}" "{program}" & echo $!; wait'
    done = run_recorded(trace, ["sh", "-c", script])
    process = done.stdout.strip()

    assert done.returncode == 0
    assert (
        f"vestige: warning: leaf (PID {process}) is not recorded: its tracer is of "
        f"Vestige {EARLIER}, agreement {OTHER}; the recorder is of Vestige "
        f"{vestige.__version__}, agreement {AGREEMENT}\n"
    ) in done.stderr
    assert done.stderr.count("is not recorded") == 1
    assert counts(trace)["func_entry"] == 2
    assert not list(trace.glob(f"{process}-*"))
    assert not (trace / REFUSALS_FILE).exists()


def test_the_recorder_takes_no_library_of_another_build(
    tmp_path, other_tracer, monkeypatch
):
    """Before anything runs: the library was not built again."""
    monkeypatch.setattr(tracer, "library_path", lambda: other_tracer)
    expected = re.escape(f"another build ({EARLIER}, agreement {OTHER})")

    with pytest.raises(RecordError, match=expected):
        vestige.record(["true"], tmp_path / "trace")
    assert not (tmp_path / "trace").exists()


def test_vestige_instrument_writes_to_no_other_tracer(
    tmp_path, other_tracer, monkeypatch
):
    """A program may have a version of its own: the numbers of its events differ."""
    trace = tmp_path / "trace"
    monkeypatch.setattr(collector, "AGREEMENT", OTHER)
    prepared = PreparedTrace(trace, RecordingOptions())
    environment = prepared.variables
    (trace / REFUSALS_FILE).write_bytes(b"")
    words = environment["VESTIGE_TRACER"]
    environment["VESTIGE_TRACER"] = words.replace(AGREEMENT, OTHER)
    environment["LD_PRELOAD"] = os.fspath(other_tracer)
    code = "from vestige.instrument import _native; print(_native.is_recorded())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    [refusal] = read_refusals(trace)
    prepared.close()

    assert done.stdout == "False\n"
    assert refusal[1:] == (AGREEMENT, vestige.__version__, "vestige.instrument")


def test_a_file_of_refusals_is_not_trusted(tmp_path):
    """Any process of the recording may write to it."""
    good = f"12 {OTHER} 0.0.9 a program"
    lines = [good, "", "x y z", "99999999999 a b c", f"7 {OTHER} 1 \x1b[2J", good]
    (tmp_path / REFUSALS_FILE).write_bytes("\n".join(lines).encode() + b"\xff\n")
    found = read_refusals(tmp_path)

    assert Refusal(12, OTHER, "0.0.9", "a program") in found
    assert {one.process for one in found} == {7, 12}
    assert all(line.isprintable() for line in refusal_lines(found))


def test_many_refusals_take_few_lines():
    """A build may start thousands of processes."""
    many = [Refusal(number, OTHER, "0.0.9", "cc") for number in range(5000)]
    lines = refusal_lines(many)

    assert len(lines) == 11
    assert lines[-1] == "4,990 more processes are not recorded"
