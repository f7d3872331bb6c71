"""The collector, and the programs that it drains."""

from __future__ import annotations

import shutil

import pytest

from support.arena import build_collector, collect
from support.compilers import PROGRAMS, run_tool
from support.tortured import COUNTER

TRACED = ["gcc", "-g", "-O1", "-Wall", "-finstrument-functions"]
PARTS = ["main", "processes", "ends", "stacks", "surroundings"]


@pytest.fixture(scope="session", autouse=True)
def _has_compiler():
    """The tests compile what they run."""
    if shutil.which("gcc") is None:
        pytest.skip("not installed: gcc")


@pytest.fixture(scope="session")
def collector(tmp_path_factory):
    """The collector of the tests."""
    return build_collector(tmp_path_factory.mktemp("collector"))


@pytest.fixture(scope="session")
def torture(tmp_path_factory):
    """The program that does what is hard for a tracer."""
    path = tmp_path_factory.mktemp("torture") / "torture"
    sources = [PROGRAMS / "torture" / f"{part}.c" for part in PARTS]
    run_tool([*TRACED, "-o", path, *sources, "-pthread"])
    return path


@pytest.fixture(scope="session")
def steps(tmp_path_factory):
    """The program of tests/programs/arena with small modes."""
    path = tmp_path_factory.mktemp("steps") / "steps"
    run_tool([*TRACED, "-o", path, PROGRAMS / "arena" / "steps.c", "-pthread"])
    return path


@pytest.fixture
def tortured(collector, torture, tmp_path):
    """Collect a mode of the torture program; return that, its calls and its jumps."""

    def run(mode, number, *options, prefix=(), environment=None):
        counter = tmp_path / "counter"
        counter.write_bytes(bytes(4096))
        got = collect(
            collector,
            tmp_path / "trace",
            [*prefix, torture, mode, str(number)],
            "linger-ms=300",
            *options,
            environment={"TORTURE_COUNTER": str(counter), **(environment or {})},
        )
        calls, jumps = COUNTER.unpack(counter.read_bytes()[: COUNTER.size])
        assert got.damage == ()
        return got, calls, jumps

    return run
