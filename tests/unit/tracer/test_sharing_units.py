"""The tracer's units that threads share, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, BuildError, run_tool

TRACER = Path(__file__).parents[3] / "tracer"
RULES = ("cxx_names", "filter", "function_names", "patterns")


@pytest.fixture(scope="module", params=["address,undefined", "thread"])
def sharing(request, tmp_path_factory):
    """The program with all of them."""
    path = tmp_path_factory.mktemp("sharing") / "sharing"
    sources = [
        *sorted((TRACER / "base").glob("*.c")),
        *[TRACER / "rules" / f"{name}.c" for name in RULES],
    ]
    try:
        run_tool(
            [
                *["gcc", "-std=gnu11", "-g", "-O1", "-w"],
                *[f"-fsanitize={request.param}", "-fno-sanitize-recover=all"],
                *[f"-I{TRACER}", "-pthread", "-o", path],
                *[PROGRAMS / "units" / "sharing.c", *sources],
            ]
        )
    except BuildError as error:
        if "cannot find" not in str(error):
            raise
        pytest.skip(f"no library of this sanitizer: {request.param}")
    return path


@pytest.mark.parametrize("mode", ["lock", "filter"])
def test_threads_share_units(sharing, mode):
    """What each mode shows is said there."""
    done = subprocess.run(
        [sharing, mode], capture_output=True, text=True, timeout=100, check=False
    )

    assert (done.stderr, done.returncode) == ("", 0)
