"""Sessions record places in programs, as the kernel stops there; only root can have them."""

from __future__ import annotations

import platform
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.kernel_tracer import why_not
from support.session_daemon import SECONDS, SessionDaemon, say

REASON = why_not() or (None if platform.machine() == "x86_64" else "the notes' words")
pytestmark = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
COUNT = 30
"""How often the program calls the function, besides once for what IFUNC chooses."""
NAMES = ("sold", "half", "counted")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program with a function and with places of its own."""
    made = tmp_path / "marked"
    run_tool(["gcc", "-O1", "-o", made, PROGRAMS / "marked.c"])
    return made


def run(program: Path) -> int:
    """Run it; return its process."""
    with subprocess.Popen([program, str(COUNT)], stdout=subprocess.DEVNULL) as process:
        assert process.wait(SECONDS) == 0
    return process.pid


def found(trace: Path, process: int) -> Counter[str]:
    """Count the events of a process, all of which have an address and nothing else."""
    events = [one for one in vestige.open(trace) if one.context.get("tid") == process]
    assert {tuple(one.payload) for one in events} <= {("ip",)}
    return Counter(str(one.name) for one in events)


def test_each_chunk_has_what_was_done_in_it(
    daemon: SessionDaemon, program: Path, tmp_path: Path
) -> None:
    """Of a function, and of places with and without a counter."""
    output = tmp_path / "trace"
    say(
        daemon,
        f"create s --output={output}",
        f"enable-event -k --userspace-probe=elf:{program}:sell sold",
        f"enable-event -k --userspace-probe=sdt:{program}:shop:half half",
        f"enable-event -k --userspace-probe=sdt:{program}:shop:sold counted",
        "start",
    )
    first = run(program)
    say(daemon, "rotate", "disable-event -k half")
    second = run(program)
    say(daemon, "stop", "destroy s")
    chunks = sorted((output / "archives").iterdir())

    assert found(chunks[0], first) == dict.fromkeys(NAMES, COUNT + 1)
    assert found(chunks[1], second) == dict.fromkeys(("sold", "counted"), COUNT + 1)
    assert not found(chunks[0], second)
    assert not found(chunks[1], first)
