"""The helpers' events are those of LTTng-UST's helpers, for the same program."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.lttng import (
    DL_HELPER,
    Channel,
    LttngEnvironment,
    Program,
    missing_requirement,
)
from support.plugins import build_plugins
from support.recorded import run_recorded

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(missing_requirement() is not None, reason="needs LTTng"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
]

POINTERS = {"ptr", "in_ptr", "out_ptr", "mutex", "baddr"}
LIBRARIES = {
    "libc": "liblttng-ust-libc-wrapper.so",
    "pthread": "liblttng-ust-pthread-wrapper.so",
    "dl": DL_HELPER,
}

Event = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def lttng() -> Iterator[LttngEnvironment]:
    """A session daemon."""
    with LttngEnvironment() as running:
        yield running


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that calls each function."""
    path = tmp_path_factory.mktemp("helped") / "helped"
    flags = ["-g", "-O1", "-fno-builtin", "-pthread"]
    run_tool(["gcc", *flags, "-o", path, PROGRAMS / "helped.c"])
    return path


def own_events(trace: Path, provider: str, file: Path) -> list[Event]:
    """Return the events that come from code of one object.

    Pointers are replaced by how many others came before them.
    """
    numbers: dict[int, int] = {0: 0}
    found = []
    for event in vestige.open(trace):
        if not (event.name or "").startswith(f"lttng_ust_{provider}:"):
            continue
        if Path(event.debug_info.binary.host_path).name != file.name:
            continue
        payload = {
            name: numbers.setdefault(int(value), len(numbers))
            if name in POINTERS
            else value
            for name, value in event.payload.items()
        }
        found.append((str(event.name), payload))
    return found


def record_both(
    lttng: LttngEnvironment,
    directory: Path,
    helper: str,
    command: Sequence[str | Path],
) -> tuple[list[Event], list[Event]]:
    """Return our events and those of LTTng."""
    channel = Channel(contexts=("ip", "vpid"))
    run = Program(command, preload=[LIBRARIES[helper]])
    theirs = lttng.record(directory / "lttng", [run], [channel])
    done = run_recorded(directory / "vestige", command, f"--{helper}", "-q")
    plain = subprocess.run(list(map(str, command)), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout.decode())
    file = Path(command[0])
    return (
        own_events(directory / "vestige", helper, file),
        own_events(theirs, helper, file),
    )


@pytest.mark.parametrize(
    ("helper", "what", "count"), [("libc", "each", 13), ("pthread", "mutexes", 6)]
)
def test_names_and_payloads(
    lttng: LttngEnvironment,
    tmp_path: Path,
    program: Path,
    helper: str,
    what: str,
    count: int,
) -> None:
    """Event for event, in their order."""
    ours, theirs = record_both(lttng, tmp_path, helper, [program, what])

    assert ours == theirs
    assert len(ours) == count


def test_as_many_events_of_an_allocation_storm(
    lttng: LttngEnvironment, tmp_path: Path, program: Path
) -> None:
    """In one thread, where they are in the same order."""
    ours, theirs = record_both(lttng, tmp_path, "libc", [program, "storm", "1", "500"])

    assert [name for name, _ in ours] == [name for name, _ in theirs]
    assert len(ours) > 500


@pytest.mark.parametrize("how", ["counted", "space"])
def test_the_dynamic_linker(lttng: LttngEnvironment, tmp_path: Path, how: str) -> None:
    """What was opened, with its build ID, and closed."""
    plugins = build_plugins(tmp_path)
    command = [plugins.program, how, plugins.alpha]
    ours, theirs = record_both(lttng, tmp_path, "dl", command)

    assert ours == theirs
    assert ours[0][1]["path"] == str(plugins.alpha)
