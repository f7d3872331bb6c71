"""Recordings whose collector was killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

import vestige
from support.recorded import (
    SECONDS,
    build_program,
    counts,
    kill_all,
    record_command,
    run_recorded,
    start_traced,
)
from support.waiting import wait_until
from vestige.advice import VestigeWarning
from vestige.errors import RecordError
from vestige.record import RecordingOptions
from vestige.record.backends.in_process import recovery
from vestige.record.backends.in_process.recovery import (
    ARENAS,
    recover,
    recover_if_abandoned,
)
from vestige.record.backends.in_process.refusals import REFUSALS


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose functions are instrumented."""
    return build_program(tmp_path_factory.mktemp("recovered"))


def test_what_was_in_memory_joins_the_trace_once(tmp_path, program):
    """The second time there is nothing to do."""
    trace = tmp_path / "trace"
    words = ["sh", "-c", '"$0" calls 1000; echo done; sleep 60', str(program)]
    with start_traced(trace, words, RecordingOptions()) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0 handled\n"
        assert process.stdout.readline() == "done\n"
        kill_all(process)
    assert (trace / ARENAS).exists()
    [collected] = recover(trace)

    assert (collected.lost, collected.is_drained) == (0, True)
    assert counts(trace)["func_entry"] == counts(trace)["func_exit"] == 1002
    assert recover(trace) == []
    assert not (trace / ARENAS).exists()


def test_tracers_of_other_builds_are_told_of(tmp_path):
    """Their file goes with the memory, as when a recording ends."""
    trace = tmp_path / "trace"
    words = ["sh", "-c", "echo ready; sleep 60"]
    with start_traced(trace, words, RecordingOptions()) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with (trace / REFUSALS).open("a") as file:
            file.write("77 0123456789abcdef 0.1 old-app\n")
        kill_all(process)
    [collected] = recover(trace)

    [line] = [line for line in collected.problems if "not recorded" in line]
    assert line.startswith("old-app (PID 77) is not recorded: its tracer is of")
    assert not (trace / REFUSALS).exists()


def test_the_program_goes_on_without_its_collector(tmp_path, program):
    """And what it records until its ring is full is there."""
    trace = tmp_path / "trace"
    words = ["sh", "-c", 'echo ready; sleep 0.5; "$0" calls 1000', str(program)]
    command = record_command(trace, words)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as recorder:
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == "ready\n"
        recorder.send_signal(signal.SIGKILL)
        assert recorder.stdout.read() == "0 handled\n"
    recover(trace)

    def are_there():
        found = counts(trace)["func_exit"]
        if found < 1002:
            recover(trace)
        return found == 1002

    wait_until(are_there, "all calls are there", SECONDS)


def test_a_recording_that_runs_is_left_alone(tmp_path):
    """Its collector writes it."""
    trace = tmp_path / "trace"
    words = ["sh", "-c", "echo ready; sleep 60"]
    with start_traced(trace, words, RecordingOptions()) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(RecordError, match="is still recorded"):
            recover(trace)
        kill_all(process)
    recover(trace)


def test_what_is_no_recording(tmp_path):
    """Is said to be none; one that was closed has nothing to recover."""
    with pytest.raises(RecordError, match="expected a recording"):
        recover(tmp_path)
    run_recorded(tmp_path / "trace", ["true"])

    assert recover(tmp_path / "trace") == []


def test_what_is_named_and_no_arena(tmp_path):
    """It stays as it is, and the error says what is wrong."""
    trace, other = tmp_path / "trace", tmp_path / "other"
    assert run_recorded(trace, ["true"]).returncode == 0
    other.write_bytes(b"something else" * 100_000)
    (trace / ARENAS).write_text(f"{other}\t1\t\t0\t1\n")

    with pytest.raises(RecordError, match=r"cannot be recovered: .*it is no arena"):
        recover(trace)
    assert other.stat().st_size == 1_400_000


def test_memory_that_is_gone(tmp_path):
    """As after the machine was started again."""
    trace = tmp_path / "trace"
    run_recorded(trace, ["true"])
    (trace / ARENAS).write_text("/dev/shm/vestige-0-absent\t1\tboot\t0\n")

    with pytest.raises(RecordError, match="its memory is gone"):
        recover(trace)


def read(trace, verb="check", prefix=()):
    """Run a verb of the command line on a trace; return what it said."""
    code = "from vestige.cli.start import entry_point; entry_point()"
    words = [*prefix, sys.executable, "-c", code, *verb.split(), str(trace)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@contextmanager
def recorder_killed(trace, program):
    """A recording whose program goes on without its recorder; it ends with the block."""
    words = ["sh", "-c", '"$0" calls 1000; echo done; sleep 60', str(program)]
    with start_traced(trace, words, RecordingOptions()) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0 handled\n"
        assert process.stdout.readline() == "done\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
        yield
        kill_all(process)


def test_reading_does_not_end_a_recording_whose_program_goes_on(tmp_path, program):
    """It is read as far as it is in files, and what to do is said."""
    trace = tmp_path / "trace"
    with recorder_killed(trace, program):
        before = {one.name: one.stat().st_size for one in trace.iterdir()}
        done = read(trace)
        with pytest.warns(VestigeWarning, match="its program goes on"):
            vestige.open(trace)
        after = {one.name: one.stat().st_size for one in trace.iterdir()}

        [line] = [line for line in done.stderr.splitlines() if "killed" in line]
        assert line.endswith("'vestige record --recover' ends the recording")
        assert before == after
        assert ARENAS in after
    assert "packets were recovered from memory" in read(trace).stderr
    assert counts(trace)["func_exit"] == 1002


def test_a_copy_does_not_take_what_belongs_to_the_original(tmp_path, program):
    """Neither by being read nor by being recovered."""
    trace, copy = tmp_path / "trace", tmp_path / "copy"
    with recorder_killed(trace, program):
        pass
    shutil.copytree(trace, copy)

    assert "it is a copy, and may lack its last events: what is in memory " in (
        read(copy).stderr
    )
    with pytest.raises(RecordError, match=f"is a copy of {trace}"):
        recover(copy)
    assert (trace / ARENAS).exists()
    assert "packets were recovered from memory" in read(trace).stderr
    assert counts(trace)["func_exit"] == 1002
    assert "somebody has removed it" in read(copy).stderr


def test_a_recording_that_ends_while_it_is_read_lacks_nothing(tmp_path, monkeypatch):
    """Its memory goes before its name: between, it looks as if somebody had taken it."""
    register = tmp_path / ARENAS
    register.write_text("/dev/shm/vestige-0-gone\t1\tboot\t0\t1\n", encoding="utf-8")
    assert "may lack" in recover_if_abandoned(tmp_path)[1][0]
    monkeypatch.setattr(recovery.time, "sleep", lambda _: register.unlink())
    assert recover_if_abandoned(tmp_path) == ([], [])


def test_the_memory_of_a_trace_that_went_to_another_disk_is_recovered(
    tmp_path, program
):
    """If the one that it was made for is nowhere to be found."""
    trace, moved = tmp_path / "trace", tmp_path / "moved"
    with recorder_killed(trace, program):
        pass
    shutil.copytree(trace, moved)
    shutil.rmtree(trace)

    [collected] = recover(moved)

    assert collected.is_drained
    assert counts(moved)["func_exit"] == 1002


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_what_cannot_be_written_is_an_error(tmp_path, program):
    """With the reason, and nothing is lost: it can be recovered later."""
    trace = tmp_path / "trace"
    with recorder_killed(trace, program):
        pass
    mount = 'mount --bind "$0" "$0"; mount -o remount,ro,bind "$0"; shift; exec "$@"'
    prefix = ["unshare", "--mount", "sh", "-c", mount, str(trace), "-"]
    done = read(trace, "record --recover", prefix)

    assert done.returncode == 125
    assert "Read-only file system" in done.stderr
    assert "make room" not in done.stderr
    assert read(trace, "record --recover").returncode == 0
    assert counts(trace)["func_exit"] == 1002


@pytest.mark.parametrize("reader", ["check", "view", "python"])
def test_whoever_reads_a_killed_recording_has_all_of_it(tmp_path, program, reader):
    """And the command line says so."""
    trace = tmp_path / "trace"
    words = ["sh", "-c", '"$0" calls 1000; echo done; sleep 60', str(program)]
    with start_traced(trace, words, RecordingOptions()) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0 handled\n"
        assert process.stdout.readline() == "done\n"
        kill_all(process)
    if reader == "python":
        assert counts(trace)["func_exit"] == 1002
        return
    code = "from vestige.cli.start import entry_point; entry_point()"
    done = subprocess.run(
        [sys.executable, "-c", code, reader, str(trace)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "its recorder was killed, or its disk was full; " in done.stderr
    assert not (trace / ARENAS).exists()
    assert counts(trace)["func_exit"] == 1002
