"""Sessions of Python programs record programs with Vestige's own tracer."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import vestige
from support.own_programs import STEP, build_ordered, steps
from vestige.control.statistics import ChannelStatistics
from vestige.record.backends.in_process.tracer import library_path

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.mark.usefixtures("home")
def test_channels_give_their_names_to_files(tmp_path: Path):
    """A data stream file has that of its channel, and the number of a CPU."""
    program = build_ordered(tmp_path)
    environment = {**os.environ, "LD_PRELOAD": library_path()}
    with vestige.Session("s", output=str(tmp_path / "trace")) as session:
        session.add_channel("mine").enable_event(STEP)
        session.start()
        done = subprocess.run(
            [program],
            input="30\n",
            text=True,
            env=environment,
            capture_output=True,
            check=False,
        )
        session.stop()
        found = session.statistics()["mine"]
    assert (done.returncode, done.stdout) == (0, "30\n")
    assert isinstance(found, ChannelStatistics)
    assert found.discarded == 0
    trace = tmp_path / f"trace/ust/uid/{os.getuid()}/64-bit-vestige/mine"
    files = {one.name for one in trace.iterdir()}
    cpus = {f"mine_{cpu}" for cpu in range(os.cpu_count() or 1)}
    assert files & cpus
    assert files <= {*cpus, "index", "metadata"}
    assert steps(trace).total() == 30


@pytest.mark.usefixtures("home")
def test_a_snapshot_is_a_trace(tmp_path: Path):
    """Nothing is written but snapshots, each with all that is in the buffers."""
    program = build_ordered(tmp_path)
    output = tmp_path / "snapshots"
    environment = {**os.environ, "LD_PRELOAD": library_path()}
    with vestige.Session("s", output=output, snapshot=True) as session:
        session.add_channel("mine", subbuf_size="64k").enable_event(STEP)
        session.start()
        assert session.channels["mine"].overwrite
        assert session.output is None
        subprocess.run([program], input="30\n", text=True, env=environment, check=True)
        first = session.snapshot()
        second = session.snapshot(tmp_path / "else", name="mine", max_size="1M")
        with pytest.raises(vestige.SelectionError, match="max_size='x'"):
            session.snapshot(max_size="x")
    assert (first.parent, second.parent) == (output, tmp_path / "else")
    assert second.name.startswith("mine-")
    assert steps(first).total() == steps(second).total() == 30
