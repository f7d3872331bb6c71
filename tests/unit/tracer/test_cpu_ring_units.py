"""How threads append to the rings of CPUs, under sanitizers."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, BuildError, run_tool

TRACER = Path(__file__).parents[3] / "tracer"
UNITS = (
    *("stream/section.c", "stream/cpu_section.c", "stream/state.c"),
    "base/settings.c",
)
NO_SEQUENCES = 97

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="only there are restartable sequences"
)


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """The program, which is told of memory that is not its own."""
    path = tmp_path_factory.mktemp("units") / "cpus"
    try:
        run_tool(
            [
                *["gcc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"],
                *["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
                *[f"-I{TRACER / room}" for room in ("stream", "base")],
                *["-pthread", "-o", path, PROGRAMS / "stream" / "cpus.c"],
                *[TRACER / unit for unit in UNITS],
            ]
        )
    except BuildError as error:
        if "cannot find" not in str(error):
            raise
        pytest.skip("no library of these sanitizers")
    return path


@pytest.mark.parametrize("mode", ["shared", "conditions"])
def test_records_are_whole_and_there_once(units, mode):
    """What each mode shows is said there."""
    done = subprocess.run(
        [units, mode], capture_output=True, text=True, timeout=100, check=False
    )
    if done.returncode == NO_SEQUENCES:
        pytest.skip("the C library registers no restartable sequences")

    assert done.stderr == ""
    assert done.returncode == 0
