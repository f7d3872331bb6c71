"""How the texts of tracepoints are copied, by the program's own code, under sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, BuildError, run_tool
from vestige.record.development import compile_flags

COMPILERS = ("gcc", "clang")
OTHER_COMPILER = "aarch64-linux-gnu-gcc"
OTHER_EMULATOR = "qemu-aarch64-static"


def build(directory: Path, compiler: str, *flags: str) -> Path:
    """Compile the program that writes texts."""
    if shutil.which(compiler) is None:
        pytest.skip(f"not installed: {compiler}")
    program = directory / "texts"
    warnings = ("-Wall", "-Wextra", "-Werror")
    source = PROGRAMS / "units" / "texts.c"
    run_tool(
        [compiler, "-O2", *warnings, *flags, *compile_flags(), "-o", program, source]
    )
    return program


def expect_nothing_wrong(command: Sequence[str | Path]) -> None:
    """Run it; it says what is wrong, and ends."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_texts_are_written_whole_and_with_no_zero_inside(
    tmp_path: Path, compiler: str
) -> None:
    """Of all lengths, at all places."""
    expect_nothing_wrong([build(tmp_path, compiler)])


def test_no_byte_beside_a_text_is_touched(tmp_path: Path) -> None:
    """Nor read."""
    try:
        program = build(tmp_path, "gcc", "-fsanitize=address,undefined")
    except BuildError as error:
        if "cannot find" not in str(error):
            raise
        pytest.skip("no library of the sanitizers")
    expect_nothing_wrong([program])


def test_on_another_machine(tmp_path: Path) -> None:
    """Whose wide words are others."""
    if shutil.which(OTHER_EMULATOR) is None:
        pytest.skip(f"not installed: {OTHER_EMULATOR}")
    expect_nothing_wrong([OTHER_EMULATOR, build(tmp_path, OTHER_COMPILER, "-static")])
