"""The tracer's units for the arena, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, BuildError, run_tool

TRACER = Path(__file__).parents[3] / "tracer"
MODES = [
    "stacks",
    "hostile",
    "claims",
    "given",
    "operation",
    "rings",
    "vain",
    "classes",
    "crowd",
    "aside",
    "refused",
    "oldest",
]


@pytest.fixture(scope="module", params=["address,undefined", "thread"])
def units(request, tmp_path_factory):
    """The program with all of them."""
    path = tmp_path_factory.mktemp("units") / "units"
    sources = sorted((TRACER / "arena").glob("*.c"))
    try:
        run_tool(
            [
                *["gcc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"],
                *[f"-fsanitize={request.param}", "-fno-sanitize-recover=all"],
                *[f"-I{TRACER / 'arena'}", "-pthread", "-o", path],
                *[PROGRAMS / "arena" / "units.c", *sources],
                TRACER / "base" / "system.c",
            ]
        )
    except BuildError as error:
        if "cannot find" not in str(error):
            raise
        pytest.skip(f"no library of this sanitizer: {request.param}")
    return path


@pytest.mark.parametrize("mode", MODES)
def test_units_do_what_they_should(tmp_path, units, mode):
    """What each mode shows is said there."""
    done = subprocess.run(
        [units, mode, tmp_path / "arena"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.stderr == ""
    assert done.returncode == 0
