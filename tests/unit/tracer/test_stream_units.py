"""How records are appended, interrupted after each instruction, under sanitizers."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, BuildError, run_tool

TRACER = Path(__file__).parents[3] / "tracer"
UNITS = (
    *("stream/announce.c", "stream/draft.c", "stream/section.c", "stream/state.c"),
    *("base/settings.c", "base/system.c"),
)
MODES = [
    "nested",
    "jumping",
    "switching",
    "closing",
    "stepped-sections",
    "signalled-sections",
    "conditions",
    "drafts",
]

OTHER_COMPILER = "aarch64-linux-gnu-gcc"
OTHER_EMULATOR = "qemu-aarch64-static"

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="needs its trap flag"
)


def build(directory, sanitizers):
    """Compile the program with all of them."""
    sanitized = (f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all")
    return compiled(directory, "gcc", sanitized, sanitizers)


def compiled(directory, compiler, flags, sanitizers=""):
    """Compile the program in some way."""
    path = directory / "units"
    try:
        run_tool(
            [
                *[compiler, "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"],
                *flags,
                *[f"-I{TRACER / room}" for room in ("stream", "base")],
                *["-pthread", "-o", path, PROGRAMS / "stream" / "units.c"],
                *[TRACER / unit for unit in UNITS],
            ]
        )
    except BuildError as error:
        if "cannot find" not in str(error):
            raise
        pytest.skip(f"no library of this sanitizer: {sanitizers}")
    return path


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """The program, which is told of memory that is not its own."""
    return build(tmp_path_factory.mktemp("units"), "address,undefined")


def run(units, mode):
    """Run a mode; expect nothing to be wrong."""
    done = subprocess.run(
        [units, mode],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "ASAN_OPTIONS": "detect_stack_use_after_return=0"},
    )

    # What AddressSanitizer says of coroutines, whatever they do.
    problems = [line for line in done.stderr.splitlines() if "swapcontext" not in line]
    assert problems == []
    assert done.returncode == 0


@pytest.mark.parametrize("mode", MODES)
def test_records_are_whole_and_there_once(units, mode):
    """What each mode shows is said there."""
    run(units, mode)


def test_no_thread_disturbs_another(tmp_path):
    """Whose signals interrupt sections."""
    run(build(tmp_path, "thread"), "signalled-sections")


@pytest.mark.parametrize("mode", ["conditions", "drafts"])
def test_on_another_machine(tmp_path, mode):
    """Where there are no sequences, and nothing can interrupt each instruction."""
    for tool in (OTHER_COMPILER, OTHER_EMULATOR):
        if shutil.which(tool) is None:
            pytest.skip(f"not installed: {tool}")
    program = compiled(tmp_path, OTHER_COMPILER, ["-static"])
    done = subprocess.run(
        [OTHER_EMULATOR, program, mode],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert (done.stderr, done.returncode) == ("", 0)
