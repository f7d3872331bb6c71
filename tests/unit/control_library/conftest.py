"""A daemon for programs of the control library, and these programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
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
CHECKED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
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


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile a program of ``tests/programs/control`` with our headers and our library."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name: str) -> Path:
        program = folder / name
        if program.exists():
            return program
        library = native_directory() / "lib"
        source = PROGRAMS / "control" / f"{name}.c"
        linked = [f"-L{library}", "-llttng-ctl", f"-Wl,-rpath,{library}", "-pthread"]
        run_tool(["gcc", *WARNINGS, *compile_flags(), "-o", program, source, *linked])
        return program

    return compiled


@pytest.fixture(scope="session")
def checked_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library under ASan and UBSan, in a folder of its own."""
    folder = tmp_path_factory.mktemp("checked")
    library = folder / "liblttng-ctl.so.0"
    sources = sorted((ROOT / "control").glob("*/*.c"))
    shared = ["-shared", "-fPIC", "-Wl,-soname,liblttng-ctl.so.0"]
    headers = f"-I{ROOT / 'control/include'}"
    run_tool(["gcc", *WARNINGS, *CHECKED, *shared, headers, "-o", library, *sources])
    return folder


@pytest.fixture(scope="session")
def build_with_sanitizers(checked_library: Path) -> Callable[..., Path]:
    """Compile a program with the library that is checked."""

    def compiled(name: str) -> Path:
        program = checked_library / name
        if program.exists():
            return program
        source = PROGRAMS / "control" / f"{name}.c"
        library = checked_library / "liblttng-ctl.so.0"
        linked = [library, f"-Wl,-rpath,{checked_library}", "-pthread"]
        flags = [*WARNINGS, *CHECKED, *compile_flags()]
        run_tool(["gcc", *flags, "-o", program, source, *linked])
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


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A directory with a short path: sockets have few bytes for theirs."""
    with tempfile.TemporaryDirectory(prefix="vestige-") as folder:
        yield Path(folder)
