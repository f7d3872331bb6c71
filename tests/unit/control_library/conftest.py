"""A daemon for programs of the control library, and these programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, run_tool
from support.session_daemon import SessionDaemon, session_daemon
from vestige.record.development import compile_flags, native_directory

ROOT = Path(__file__).resolve().parents[3]
WARNINGS = (
    "-std=gnu11",
    "-g",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-deprecated-declarations",
)
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session", autouse=True)
def _has_compiler() -> None:
    """The tests compile what they run."""
    if shutil.which("gcc") is None:
        pytest.skip("not installed: gcc")


@pytest.fixture(scope="module")
def daemon() -> Iterator[SessionDaemon]:
    """A daemon that runs."""
    with session_daemon() as running:
        started = running.start()
        assert started.returncode == 0, started.stderr
        yield running


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """Compile a program of ``tests/programs/control`` with our headers and our library."""

    def compiled(name: str, *flags: str) -> Path:
        program = tmp_path / name
        library = native_directory() / "lib"
        source = PROGRAMS / "control" / f"{name}.c"
        linked = [f"-L{library}", "-llttng-ctl", f"-Wl,-rpath,{library}", "-pthread"]
        run_tool(
            ["gcc", *WARNINGS, *flags, *compile_flags(), "-o", program, source, *linked]
        )
        return program

    return compiled


@pytest.fixture
def build_with_sanitizers(tmp_path: Path) -> Callable[..., Path]:
    """Compile a program together with the library's sources, under ASan and UBSan."""

    def compiled(name: str, *more: str) -> Path:
        program = tmp_path / f"{name}-checked"
        sources = sorted((ROOT / "control").glob("*/*.c"))
        source = PROGRAMS / "control" / f"{name}.c"
        checked = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        headers = f"-I{ROOT / 'control/include'}"
        run_tool(
            [
                "gcc",
                *WARNINGS,
                *checked,
                *more,
                headers,
                "-o",
                program,
                source,
                *sources,
                "-pthread",
            ]
        )
        return program

    return compiled


@pytest.fixture
def run(daemon: SessionDaemon) -> Run:
    """Run a program as a client of the daemon."""

    def started(*command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*map(str, command)],
            env={**os.environ, **daemon.environment},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    return started
