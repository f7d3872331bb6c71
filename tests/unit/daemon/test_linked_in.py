"""What programs get that link ``-llttng-ust``: it is to do no harm, however it is linked."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, run_tool
from support.session_daemon import SessionDaemon
from vestige.record.development import link_flags

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
LINKED = [*link_flags(), "-llttng-ust"]
WAYS = {
    "plain": ["gcc", *LINKED],
    "twice": ["gcc", *LINKED, "-llttng-ust"],
    "static": ["gcc", "-static", *LINKED],
    "unused sections go": ["gcc", "-Wl,--gc-sections,--as-needed", *LINKED],
    "hidden": ["gcc", "-fvisibility=hidden", "-Wl,--exclude-libs,ALL", *LINKED],
    "not at any place": ["gcc", "-no-pie", *LINKED],
    "gold": ["gcc", "-fuse-ld=gold", *LINKED],
    "lld": ["gcc", "-fuse-ld=lld", *LINKED],
    "C++": ["g++", "-xc++", "-Wno-literal-suffix", *LINKED],
}


def build(folder: Path, words: Sequence[str], *more: str) -> Path:
    """Build the program; skip what is not installed."""
    linker = next((one[9:] for one in words if one.startswith("-fuse-ld=")), None)
    needed = [words[0], *([f"ld.{linker}"] if linker else [])]
    for tool in needed:
        if shutil.which(tool) is None:
            pytest.skip(f"not installed: {tool}")
    program = folder / "linked_calls"
    source = str(PROGRAMS / "linked_calls.c")
    flags = [one for one in words[1:] if one.startswith("-x")]
    rest = [one for one in words[1:] if one not in flags]
    run_tool([words[0], *flags, source, *more, "-o", str(program), *rest])
    return program


def status(program: Path, daemon: SessionDaemon) -> int:
    """Run it where a daemon is, and return its exit status."""
    variables = {**os.environ, **daemon.environment}
    return subprocess.run([program], env=variables, check=False).returncode


@pytest.mark.parametrize("way", WAYS)
def test_calls_do_what_those_of_the_c_library_do(
    daemon: SessionDaemon, tmp_path: Path, way: str
):
    """Six arguments, errors, errno, questions that confine nothing."""
    assert status(build(tmp_path, WAYS[way]), daemon) == 0


@pytest.mark.parametrize("way", ["plain", "static", "gold", "lld", "C++"])
def test_a_program_may_have_functions_of_these_names(
    daemon: SessionDaemon, tmp_path: Path, way: str
):
    """They are what is called."""
    assert status(build(tmp_path, WAYS[way], "-DOWN"), daemon) == 0
