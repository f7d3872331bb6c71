"""What a call costs is measured where it is recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import run_recorded
from vestige.analysis import call_tree
from vestige.record import RecordingOptions
from vestige.record.backends.in_process.cost import call_cost

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.mark.parametrize("functions", ["fast", "verbose"])
@pytest.mark.parametrize("contexts", [(), ("ip", "vpid")])
def test_a_call_costs_some_nanoseconds(tmp_path, functions, contexts):
    """The measurement leaves nothing behind."""
    options = RecordingOptions(functions=functions, contexts=contexts)
    cost = call_cost(tmp_path, options, is_counter=False)

    assert cost is not None
    assert 5 < cost < 5000
    assert not list(tmp_path.iterdir())


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
