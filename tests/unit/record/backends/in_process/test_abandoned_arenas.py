"""Memory of recordings whose recorder was killed."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.recorded import (
    build_program,
    counts,
    kill_all,
    record_command,
    run_recorded,
    start_traced,
)
from support.waiting import wait_until
from vestige.cli.render import abandoned
from vestige.cli.render.abandoned import abandoned_lines
from vestige.record import RecordingOptions
from vestige.record._collector import look_at_abandoned
from vestige.record.backends.in_process.abandoned_arenas import FOLDER, clear_abandoned
from vestige.record.backends.in_process.cost import MEASUREMENT
from vestige.record.backends.in_process.recovery import ARENAS

PROGRAM = """
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    printf("%d\\n", getpid());
    fflush(stdout);
    pause();
    return 0;
}
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose functions are instrumented."""
    return build_program(tmp_path_factory.mktemp("abandoned"))


def arena_of(trace):
    """Return the file in shared memory that a trace names."""
    return Path((trace / ARENAS).read_text().split("\t")[0])


def killed_recording(trace, program, prefix=()):
    """Record a program, and kill it with its recorder; return the memory that is left."""
    words = ["sh", "-c", '"$0" calls 1000; echo done; sleep 60', str(program)]
    with start_traced(trace, words, RecordingOptions(), prefix) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0 handled\n"
        assert process.stdout.readline() == "done\n"
        kill_all(process)
    arena = arena_of(trace)
    assert arena.parent == Path(FOLDER)
    wait_for_end(arena)
    return arena


def wait_for_end(arena):
    """Wait until nobody writes to the memory: processes that were killed end later.

    A recorder of somebody else may have removed it by then.
    """

    def is_left():
        try:
            seen = look_at_abandoned(str(arena))
        except FileNotFoundError:
            return True
        return seen is not None and seen[-2] == 0

    wait_until(is_left, "all that recorded have ended", 60)


@pytest.fixture
def killed(tmp_path, program):
    """A trace whose recorder was killed with its program; its memory goes at the end."""
    trace = tmp_path / "killed trace"
    arena = killed_recording(trace, program)
    yield trace
    arena.unlink(missing_ok=True)


@pytest.fixture
def apart():
    """A command that starts others in a mount namespace of the test's own.

    Recordings that go on elsewhere on this machine leave the memory of these alone.
    """

    def namespace(process):
        return Path(f"/proc/{process}/ns/mnt").readlink()

    with subprocess.Popen(["unshare", "--mount", "sleep", "600"]) as process:
        wait(lambda: namespace(process.pid) != namespace("self"))
        yield ["nsenter", f"--target={process.pid}", "--mount"]
        process.kill()


@pytest.fixture
def killed_apart(tmp_path, program, apart):
    """As ``killed``, in that namespace."""
    trace = tmp_path / "killed trace"
    arena = killed_recording(trace, program, apart)
    yield trace
    arena.unlink(missing_ok=True)


NAMES_ALL = "from vestige.cli.render import abandoned; abandoned.MOST_NAMED = 1000; "


def lines_of(trace, text, prefix=()):
    """Record something else; return the lines that name a trace with a text."""
    other = trace.parent / "other"
    python, option, code, *words = record_command(other, ["true"])
    # There may be memory of other tests, too.
    words = [*prefix, python, option, NAMES_ALL + code, *words]
    # Each is told once, by whoever is the first to look.
    own = {**os.environ, "VESTIGE_HOME": str(trace.parent / f"home-{uuid.uuid4()}")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=own)
    shutil.rmtree(other)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if text in line]
    return [line for line in lines if str(trace) in line]


def test_the_next_recording_names_what_can_be_recovered(killed):
    """With the command that does it."""
    arena = arena_of(killed)
    [line] = lines_of(killed, "killed recording is in memory only")

    # There may be others.
    assert "'vestige record --recover " in line
    assert shlex.quote(str(killed)) in line
    recovering = [sys.executable, "-m", "vestige", "record", "--recover", killed]
    subprocess.run(recovering, check=True, capture_output=True)
    assert counts(killed)["func_entry"] == 1002
    assert not arena.exists()
    assert lines_of(killed, "") == []


def test_what_has_another_name_by_now_is_named_so(killed):
    """Its memory is found by what the directory is, not by its name."""
    moved = killed.parent / "moved"
    killed.rename(moved)

    assert len(lines_of(moved, "--recover")) == 1
    assert arena_of(moved).exists()


def test_a_trace_below_a_directory_with_another_name_is_named_so(tmp_path, program):
    """As when somebody renames a project."""
    project = tmp_path / "project"
    arena = killed_recording(project / "traces" / "trace", program)
    project.rename(tmp_path / "renamed")
    moved = tmp_path / "renamed" / "traces" / "trace"
    try:
        assert str(moved) in clear_abandoned().recoverable
        assert arena.exists()
    finally:
        arena.unlink(missing_ok=True)


def test_memory_of_a_trace_that_may_be_elsewhere_stays(tmp_path, program, monkeypatch):
    """Whether the directories above it were removed or moved, nobody can tell."""
    arena = killed_recording(tmp_path / "project" / "traces" / "trace", program)
    (tmp_path / "far").mkdir()
    # At once: a recorder of somebody else that came in between would take it for removed.
    (tmp_path / "project").rename(tmp_path / "far" / "away")
    # There may be memory of others, too.
    monkeypatch.setattr(abandoned, "MOST_NAMED", 1000)

    def lines():
        return [line for line in abandoned_lines("") if str(arena) in line]

    try:
        # Somebody else may look at the same time, and nobody sees it then.
        wait_until(lines, "it is seen", 60)
        [line] = lines()
        assert "its directory is not found" in line
        assert arena.exists()
    finally:
        arena.unlink(missing_ok=True)


def test_memory_of_a_trace_with_a_long_path_is_named(tmp_path, program):
    """Longer than what there is room for in the memory."""
    trace = tmp_path.joinpath(*["x" * 240] * 13) / "trace"
    arena = killed_recording(trace, program)
    try:
        assert str(arena) in [path for path, _ in clear_abandoned().doubtful]
        assert arena.exists()
    finally:
        arena.unlink(missing_ok=True)


@needs_root
def test_memory_goes_with_its_trace(killed_apart, apart):
    """When the directory is removed."""
    arena = arena_of(killed_apart)
    shutil.rmtree(killed_apart)
    [line] = lines_of(killed_apart, "removed", apart)

    assert "MiB of memory" in line
    assert not arena.exists()
    assert lines_of(killed_apart, "", apart) == []


def test_memory_of_a_directory_that_was_replaced_goes(killed):
    """Another trace has its name."""
    arena = arena_of(killed)

    def is_replaced():
        shutil.rmtree(killed)
        assert run_recorded(killed, ["true"]).returncode == 0
        # Somebody else may look at the same time, and nobody sees it then.
        return not arena.exists()

    wait(is_replaced)


def test_a_quiet_recording_says_nothing_of_it(killed):
    """It clears away what is to be cleared."""
    other = killed.parent / "other"
    assert run_recorded(other, ["true"], "-q").stderr == ""
    arena = arena_of(killed)
    shutil.rmtree(killed)

    def is_cleared():
        shutil.rmtree(other)
        assert run_recorded(other, ["true"], "-q").stderr == ""
        return not arena.exists()

    wait(is_cleared)


def test_memory_of_a_measurement_goes(killed):
    """What a call costs was measured in the trace; nobody wants to recover that."""
    (killed / "metadata").touch()
    arena = arena_of(killed)
    place = killed / MEASUREMENT
    with start_traced(place, ["sleep", "60"], RecordingOptions()) as process:
        wait((place / ARENAS).exists)
        measured = arena_of(place)
        kill_all(process)
    wait_for_end(measured)
    lines = lines_of(killed, "")

    assert not measured.exists()
    assert not place.exists()
    assert arena.exists()
    assert len(lines) == 1
    assert MEASUREMENT not in lines[0]


def test_a_trace_with_the_name_of_a_measurement_is_named(tmp_path):
    """Somebody may call a recording so."""
    place = tmp_path / MEASUREMENT
    with start_traced(place, ["sleep", "60"], RecordingOptions()) as process:
        wait((place / ARENAS).exists)
        kill_all(process)
    wait_for_end(arena_of(place))
    # Others that look at the same time see it alone.
    wait(lambda: len(lines_of(place, "--recover")) == 1)

    arena_of(place).unlink()


def test_a_recording_that_runs_is_left_alone(tmp_path):
    """Also when its directory is gone: its recorder lives."""
    trace = tmp_path / "trace"
    with start_traced(
        trace, ["sh", "-c", "echo ready; sleep 60"], RecordingOptions()
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        arena = arena_of(trace)
        wait(lambda: is_removed(trace))
        assert str(trace) not in [one for one, _ in clear_abandoned().removed]
        assert arena.exists()
        kill_all(process)
    wait(lambda: bool(clear_abandoned()) and not arena.exists())


def test_memory_that_a_program_writes_to_stays(tmp_path):
    """Until it has ended, though nobody can read what it writes."""
    source, program = tmp_path / "app.c", tmp_path / "app"
    source.write_text(PROGRAM)
    run_tool(["gcc", "-O1", "-finstrument-functions", "-o", program, source])
    trace = tmp_path / "trace"
    command = record_command(trace, [program])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as recorder:
        assert recorder.stdout is not None
        child = int(recorder.stdout.readline())
        arena = arena_of(trace)
        recorder.kill()
        recorder.wait()
        shutil.rmtree(trace)
        clear_abandoned()
        assert arena.exists()
        os.kill(child, signal.SIGKILL)
    wait(lambda: bool(clear_abandoned()) and not arena.exists())


def is_removed(trace):
    """Remove a directory in which the recorder may make a file at the same time."""
    shutil.rmtree(trace, ignore_errors=True)
    return not trace.exists()


def wait(condition):
    """Wait for what happens soon."""
    wait_until(condition, "the end of a process", 60)


@needs_root
def test_memory_of_another_mount_namespace_stays(killed_apart):
    """There the directory may be where it is not here."""
    arena = arena_of(killed_apart)
    shutil.rmtree(killed_apart)

    assert lines_of(killed_apart, "") == []
    assert str(killed_apart) not in [one for one, _ in clear_abandoned().removed]
    assert arena.exists()


IN_ANOTHER_ROOT = """
import os, sys
from vestige.record.backends.in_process.abandoned_arenas import clear_abandoned
clear_abandoned(sys.argv[2])
os.chroot(sys.argv[1])
print(clear_abandoned().removed)
"""


@needs_root
def test_memory_of_another_root_directory_stays(tmp_path, killed):
    """Paths mean something else there, though the mount namespace is the same."""
    arena, root, empty = arena_of(killed), tmp_path / "root", tmp_path / "empty"
    empty.mkdir()
    places = [root / "proc", root / "dev/shm"]
    for place in places:
        place.mkdir(parents=True)
    words = [sys.executable, "-c", IN_ANOTHER_ROOT, root, empty]
    mounted = []
    try:
        for place in places:
            source = Path("/", place.relative_to(root))
            subprocess.run(["mount", "--bind", source, place], check=True)
            mounted.append(place)
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    finally:
        for place in mounted:
            subprocess.run(["umount", "-l", place], check=True)

    assert str(killed) not in done.stdout
    assert arena.exists()


@needs_root
def test_memory_of_a_trace_whose_disk_is_not_there_stays(tmp_path):
    """Its directory may come back."""
    disk = tmp_path / "disk"
    disk.mkdir()
    trace = disk / "trace"
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", disk], check=True)
    try:
        with start_traced(trace, ["sleep", "60"], RecordingOptions()) as process:
            wait((trace / ARENAS).exists)
            assert process.poll() is None
            kill_all(process)
        arena = arena_of(trace)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
    found = clear_abandoned()

    assert str(trace) not in [one for one, _ in found.removed]
    assert arena.exists()
    arena.unlink()


@needs_root
def test_memory_of_another_user_stays(killed):
    """Whatever it is called."""
    arena = arena_of(killed)
    os.chown(arena, 65534, 65534)
    shutil.rmtree(killed)
    clear_abandoned()

    assert arena.exists()
