"""What a daemon that was killed has left of own programs goes into their traces."""

from __future__ import annotations

import os
import resource
import shutil
import signal
from pathlib import Path

import pytest

from support.own_programs import STEP, build_ordered, ordered, steps, wait_for_listed
from support.session_daemon import SessionDaemon, say, stopped
from vestige.record.backends.in_process.abandoned_arenas import ACCOUNTS
from vestige.record.backends.in_process.recovery import ARENAS
from vestige.record.collected import Collected
from vestige.trace.abandoned import LEFT, recover_abandoned

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def memories(trace: Path) -> list[Path]:
    """Return the memories that traces of channels name."""
    lines = [
        line
        for file in trace.rglob(ARENAS)
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return [Path(line.split("\t")[0]) for line in lines]


def record_and_kill(
    home: SessionDaemon, program: Path, trace: Path, *last: str
) -> None:
    """Record 100 events; the program ends after some verbs, and the daemon is killed."""
    home.start()
    with ordered(home, program) as one:
        wait_for_listed(home, one)
        say(home, f"create s --output={trace}", f"enable-event -u {STEP}", "start")
        one.do("100")
        say(home, *last)
        one.end()
    home.end(signal.SIGKILL)


def written(trace: Path, place: Path) -> int:
    """Count what is in files: a reader would recover what is in memory alone."""
    copy = shutil.copytree(trace, place, ignore=shutil.ignore_patterns(ARENAS))
    return steps(copy).total()


@pytest.mark.parametrize("buffers", ["uid", "pid"])
@pytest.mark.parametrize("ends", ["before", "after"])
def test_what_was_recorded_without_a_daemon_is_written(
    home: SessionDaemon, program: Path, tmp_path: Path, buffers: str, ends: str
):
    """Also of a program that has ended before the next daemon; nothing stays behind."""
    trace = tmp_path / "trace"
    home.start()
    with ordered(home, program) as one:
        wait_for_listed(home, one)
        channel = f"enable-channel -u c --buffers-{buffers}"
        rule = f"enable-event -u -c c {STEP}"
        say(home, f"create s --output={trace}", channel, rule, "start")
        one.do("100")
        home.end(signal.SIGKILL)
        one.do("10")
        if ends == "before":
            one.end()
        left = memories(trace)
        assert [*recover_abandoned([trace])] == [(str(trace), LEFT)]
        home.start()
        assert [*recover_abandoned([trace])] == []
        if ends == "after":
            wait_for_listed(home, one)
            one.do("1000")
            one.end()
        assert home.lttng("stop").err == ""
    assert written(trace, tmp_path / "copy") == (110 if ends == "before" else 1110)
    say(home, "destroy")
    assert left
    assert [path for path in left if path.exists()] == []


def test_a_stopped_session_leaves_no_memory(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """It is destroyed by the daemon that comes after one that was killed."""
    trace = tmp_path / "trace"
    record_and_kill(home, program, trace, "stop")
    [left] = memories(trace)
    assert left.exists()
    home.start()
    say(home, "destroy")
    assert not left.exists()
    assert steps(trace).total() == 100


def test_a_session_whose_memory_is_gone_begins_a_trace_of_its_own(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """The machine was started again, say; what is in files stays, and it is told."""
    trace = tmp_path / "trace"
    record_and_kill(home, program, trace, "stop", "start")
    for path in memories(trace):
        path.unlink()
        path.with_name(f"{path.name}{ACCOUNTS}").unlink()
    home.start()
    with ordered(home, program) as one:
        wait_for_listed(home, one)
        one.do("10")
        assert "cannot be collected: No such file" in home.lttng("stop").err
        one.end()
    assert sorted(steps(trace).values()) == [10, 100]


def test_memory_that_a_program_made_shorter_costs_its_trace_alone(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """Stop and destroy tell it; other sessions and the daemon go on; nothing stays."""
    home.start()
    with ordered(home, program) as one:
        wait_for_listed(home, one)
        for name in ("s", "t"):
            say(home, f"create {name} --output={tmp_path / name}")
            say(home, f"enable-event -u {STEP}", f"start {name}")
        one.do("100")
        one.end()
    [memory] = memories(tmp_path / "s")
    os.truncate(memory, 8192)
    done = home.lttng("stop", "s")
    assert done.status == 1
    assert "cannot be collected" in done.err
    assert home.lttng("stop", "t").err == ""
    assert steps(tmp_path / "t").total() == 100
    say(home, "start s", "stop s")
    last = home.lttng("destroy", "--all")
    assert (last.status, last.err) == (1, done.err)
    assert home.lttng("list").out == "Currently no available recording session\n"
    assert [*memory.parent.glob(f"*{memory.name.rpartition('-')[2]}*")] == []


def stop_without_room(home: SessionDaemon, program: Path, trace: Path) -> str:
    """Record more than files have room for; return what ``stop`` says of it."""
    home.start()
    pid = home.pid
    assert pid is not None
    with ordered(home, program) as one:
        wait_for_listed(home, one)
        channel = "enable-channel -u c --subbuf-size=64K --num-subbuf=8"
        rule = f"enable-event -u -c c {STEP}"
        say(home, f"create s --output={trace}", channel, rule, "start")
        with stopped(home):
            one.do("3000")
            # Less than that takes, and more than the daemon's own files have.
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (30_000, -1))
        done = home.lttng("stop")
        assert "A part of the trace could not be written" in done.err
        one.end()
    return done.err


def test_what_found_no_disk_is_written_when_there_is_room(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """The session was destroyed meanwhile, so no daemon will do it; a reader does."""
    trace = tmp_path / "trace"
    said = stop_without_room(home, program, trace)
    again = home.lttng("destroy")
    assert (again.status, again.err) == (1, said)
    assert "Session s destroyed" in again.out
    left = memories(trace)
    assert left
    assert all(path.exists() for path in left)
    assert written(trace, tmp_path / "copy") < 3000
    ((place, found),) = recover_abandoned([trace])
    assert place == str(trace)
    assert isinstance(found, Collected)
    assert found.is_drained
    assert written(trace, tmp_path / "whole") == 3000
    assert not any(path.exists() for path in left)


def test_a_session_that_found_room_again_is_destroyed_without_a_word(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """What ``stop`` could not write is in the files then."""
    trace = tmp_path / "trace"
    stop_without_room(home, program, trace)
    assert home.pid is not None
    resource.prlimit(home.pid, resource.RLIMIT_FSIZE, (-1, -1))
    left = memories(trace)
    done = home.lttng("destroy")
    assert (done.status, done.err) == (0, "")
    assert written(trace, tmp_path / "copy") == 3000
    assert not any(path.exists() for path in left)
