"""What is told of programs that come and end while others are waited for."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from vestige.record.backends.registered.loaded_state import LoadedObjects, ToldProgram
from vestige.record.backends.registered.program_states import ProgramStates

ARENA = 7


@contextmanager
def running() -> Iterator[Any]:
    """Have a program that is at rest, and has ended after the block."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=-1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # Then it has loaded what it will.
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.read(1)
        hello = SimpleNamespace(pid_namespace=0, name="cat")
        yield SimpleNamespace(
            pid=process.pid, vpid=process.pid, hello=hello, known={ARENA}, recorded={}
        )
        process.kill()


def told(program: Any) -> ToldProgram:
    """Return how it is told."""
    return ToldProgram(program.pid, program.vpid, 0, "cat", frozenset([ARENA]))


def test_who_joins_again_and_ends_meanwhile(tmp_path: Path) -> None:
    """It was looked at before; who records by now, or never has, is not."""
    states = ProgramStates(LoadedObjects(), str(tmp_path))
    with running() as one:
        one.recorded["s", "c"] = ARENA
        assert states.look([one], [ARENA]) is None
        assert states.look([one], [ARENA + 1]) is None
        one.recorded.clear()
        had = states.look([one], [ARENA])
    assert {*states.read_again([told(one)], had).processes} == {one.pid}
    assert states.kept is None


def test_who_comes_meanwhile_is_in_snapshots(tmp_path: Path) -> None:
    """As are those that have joined again."""
    states = ProgramStates(LoadedObjects(), str(tmp_path))
    with running() as first:
        states.keep_first(first, ARENA, {first.pid})
        states.forget()
        states.keep([], LoadedObjects().read([]), {first.pid})
        had = states.look([first], [ARENA])
        with running() as late:
            late.recorded["s", "c"] = ARENA
            states.keep_first(late, ARENA, {first.pid, late.pid})
    again = [told(first)]
    states.keep(again, states.read_again(again, had), set())
    programs, loaded = states.for_snapshot([])
    assert {one.pid for one in programs} == {first.pid, late.pid}
    assert {*loaded.processes} == {first.pid, late.pid}
