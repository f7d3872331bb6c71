"""Babeltrace 2 reads what the torture program leaves behind, without a complaint."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from support.tortured import build_torture, run_traced

pytestmark = pytest.mark.skipif(
    shutil.which("babeltrace2") is None or shutil.which("gcc") is None,
    reason="not installed: babeltrace2 or gcc",
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The torture program."""
    path = tmp_path_factory.mktemp("torture") / "torture"
    return build_torture(path, "-g", "-O1", "-finstrument-functions")


@pytest.mark.parametrize(
    ("mode", "number"),
    [
        ("altstack", 50_000),
        ("cancel-anywhere", 5),
        ("clone-shared", 10_000),
        ("fork-in-handler", 10),
        ("fsize", 2000),
        ("jump", 100_000),
        ("keys", 3),
        ("nofile", 2000),
        ("preempted", 20_000),
        ("seccomp", 1000),
        ("signals", 50_000),
        ("storm", 2),
    ],
)
def test_the_peer_reads_each_recording(tmp_path, program, mode, number):
    """As many events as we do, without a warning; it tells lost ones, as we do."""
    command = [program, mode, str(number)]
    ours = run_traced(command, tmp_path, "--buffer-size=8k")
    done = subprocess.run(
        ["babeltrace2", "--clock-cycles", tmp_path / "trace"],
        env={**os.environ, "BABELTRACE_LOG_LEVEL": "WARNING"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    complaints = [
        line
        for line in done.stderr.splitlines()
        if line and "Tracer discarded" not in line
    ]

    assert (done.returncode, complaints) == (0, [])
    assert len(done.stdout.splitlines()) == sum(ours.events.values())
