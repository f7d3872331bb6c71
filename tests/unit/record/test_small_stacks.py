"""Signal handlers that record on stacks with little room."""

from __future__ import annotations

import platform
import shutil

import pytest

from support.compilers import PROGRAMS, run_tool
from support.recorded import counts, run_recorded
from vestige.record.development import compile_flags, link_flags

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None,
    reason="measured on x86-64, with gcc",
)

RECORDS = 1 + 3 * (1 + 20_000)
CASES = {
    "functions": (640, ["-finstrument-functions"], []),
    "functions with contexts": (
        640,
        ["-finstrument-functions"],
        ["-c", "vpid,vtid,procname,ip"],
    ),
    "events": (768, ["-DPOINTS"], ["-e", "greeting:*"]),
    "events that are filtered": (
        768,
        ["-DPOINTS"],
        ["-e", "greeting:*", "--filter", "number < 5"],
    ),
}
"""Bytes that records may take, as the guide says."""


@pytest.mark.parametrize("case", CASES)
def test_a_handler_needs_little_stack(tmp_path, case):
    """In the first record of a thread, and in those that go on to further chunks."""
    room, flags, options = CASES[case]
    program = tmp_path / "handled"
    build = ["gcc", "-g", "-O1", "-pthread", "-Wl,-z,now", f"-I{PROGRAMS}", *flags]
    build += [*compile_flags(), "-o", program, PROGRAMS / "handled.c", *link_flags()]
    run_tool(build)
    done = run_recorded(tmp_path / "trace", [program, str(room)], *options)

    assert done.returncode == 0, done.stderr
    found = counts(tmp_path / "trace")
    assert found["func_entry"] + found["said"] == RECORDS
