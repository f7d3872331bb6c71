"""What a call costs is measured where it is recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import run_recorded
from support.shared_memory import FOLDER
from vestige.analysis import call_tree
from vestige.record import RecordingOptions
from vestige.record._collector import look_at_abandoned
from vestige.record.backends.in_process import cost
from vestige.record.backends.in_process.cost import call_cost

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.mark.parametrize("functions", ["fast", "verbose"])
@pytest.mark.parametrize("contexts", [(), ("ip", "vpid")])
def test_a_call_costs_some_nanoseconds(tmp_path, functions, contexts):
    """The measurement leaves nothing behind."""
    options = RecordingOptions(functions=functions, contexts=contexts)
    nanoseconds = call_cost(tmp_path, options, is_counter=False)

    assert nanoseconds is not None
    assert 5 < nanoseconds < 5000
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", ["", "kill -s TERM $PPID", "kill -s INT $PPID"])
def test_what_is_ended_leaves_nothing(tmp_path, monkeypatch, line):
    """A program that takes too long, or what wants the recorder to end, which goes on."""
    program = tmp_path / cost.PROGRAM
    program.write_text(f"#!/bin/sh\n{line}\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setattr(cost, "library_path", lambda: str(tmp_path / "library"))
    monkeypatch.setattr(cost, "SECONDS", 60 if line else 0.1)

    assert call_cost(tmp_path, RecordingOptions(), is_counter=False) is None
    assert [one.name for one in tmp_path.iterdir()] == [cost.PROGRAM]
    assert not memories(tmp_path / cost.MEASUREMENT)


def memories(trace):
    """Return what programs of a recording still could write to."""
    seen = {
        arena: look_at_abandoned(str(arena)) for arena in FOLDER.glob("vestige-*-*")
    }
    return [arena for arena, one in seen.items() if one and one[0] == str(trace)]


def test_what_is_not_recorded_has_no_cost(tmp_path):
    """Without function events there is nothing to tell."""
    options = RecordingOptions(functions="off")

    assert call_cost(tmp_path, options, is_counter=False) is None


def test_a_directory_that_cannot_be_written_has_no_cost(tmp_path):
    """It is no error."""
    assert call_cost(tmp_path / "none", RecordingOptions(), is_counter=False) is None


def test_the_recording_holds_it(tmp_path):
    """With a filter that would leave the measured calls out, too; a short one does not."""
    program = tmp_path / "recorded"
    source = PROGRAMS / "recorded.c"
    flags = ["-g", "-O1", "-finstrument-functions", "-pthread"]
    run_tool(["gcc", *flags, "-o", program, source])
    run_recorded(
        tmp_path / "long", [program, "calls", "20000"], "--exclude-function=t*"
    )
    run_recorded(tmp_path / "short", [program, "calls", "2"])
    trees = [call_tree(vestige.open(tmp_path / name)) for name in ("long", "short")]

    assert 5 < trees[0].cost_of_call < 5000
    assert trees[1].cost_of_call is None
    assert {path.name for path in Path(tmp_path / "long").iterdir()} >= {"metadata"}
    assert not (tmp_path / "long" / ".cost").exists()
