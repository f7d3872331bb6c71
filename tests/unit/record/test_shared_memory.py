"""Machines whose shared memory cannot be used: the arena is a file in the trace."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest

from support.public_folder import public_folder
from support.recorded import build_program, counts, record_command

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
CALLS = 20_000
AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"


@pytest.fixture(scope="module")
def place():
    """A directory that all users can reach."""
    with public_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def program(place):
    """A program whose functions are instrumented."""
    return build_program(place)


def record(trace, program, script, user=""):
    """Record a program in a mount namespace of its own, which a script has changed."""
    command = shlex.join(record_command(trace, [program, "calls", str(CALLS)]))
    line = f"mount --make-rprivate / && {script} && exec {user} {command}"
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def check(trace, done):
    """All calls are there, nothing was lost, and no file is left."""
    assert done.returncode == 0, done.stderr
    assert "no events lost" in done.stderr
    assert counts(trace)["func_entry"] == CALLS + 2
    assert not [path.name for path in trace.iterdir() if path.name.startswith(".arena")]


WAYS = {
    "missing": (
        "mount -t tmpfs tmpfs /dev && mknod /dev/null c 1 3 && chmod 666 /dev/null",
        "/dev/shm: No such file or directory",
    ),
    "read-only": (
        "mount -t tmpfs -o ro tmpfs /dev/shm",
        "Read-only file system",
    ),
    "small": (
        "mount -t tmpfs -o size=16m tmpfs /dev/shm",
        "/dev/shm: has less than 32 MiB left",
    ),
    "few files": (
        "mount -t tmpfs -o size=64m,nr_inodes=1 tmpfs /dev/shm",
        "No space left on device",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_shared_memory_that_cannot_be_used(tmp_path, program, way):
    """One line says so where it costs something: not where the trace is in memory."""
    script, why = WAYS[way]
    disk = subprocess.run(
        ["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True
    ).stdout.strip()
    done = record(tmp_path / "trace", program, script)
    lines = [line for line in done.stderr.splitlines() if "memory of the" in line]

    check(tmp_path / "trace", done)
    assert len(lines) == (disk not in {"tmpfs", "ramfs"}), done.stderr
    assert all(why in line and "goes" not in line for line in lines)


def test_a_trace_in_memory_costs_nothing_more(tmp_path, program):
    """So nothing is said of it."""
    trace = tmp_path / "trace"
    trace.mkdir()
    inner = trace / "inner"
    copy = tmp_path / "copy"
    # What is mounted there goes with the namespace.
    command = shlex.join(record_command(inner, [program, "calls", str(CALLS)]))
    line = (
        f"mount --make-rprivate / && mount -t tmpfs tmpfs {trace} && umount -l /dev/shm"
        f" && mount -t tmpfs -o ro tmpfs /dev/shm && {command} && cp -r {inner} {copy}"
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", line], capture_output=True, text=True, check=False
    )

    check(copy, done)
    assert "memory of the recording" not in done.stderr


def test_a_user_who_may_not_write_there(place, program):
    """As where it has mode 0755."""
    home = place / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    script = "mount -t tmpfs -o mode=755 tmpfs /dev/shm"
    done = record(home / "trace", program, f"{script} && export HOME={home}", AS_NOBODY)

    check(home / "trace", done)
    assert "Permission denied: the memory of the recording" in done.stderr


def test_a_trace_where_files_only_grow_by_writing(tmp_path, program):
    """A file system may know no way to allocate blocks."""
    place = tmp_path / "place"
    place.mkdir()
    inner = place / "trace"
    copy = tmp_path / "copy"
    command = shlex.join(record_command(inner, [program, "calls", str(CALLS)]))
    line = (
        f"mount --make-rprivate / && mount -t ramfs ramfs {place}"
        f" && mount -t tmpfs -o ro tmpfs /dev/shm && {command} && cp -r {inner} {copy}"
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", line], capture_output=True, text=True, check=False
    )

    check(copy, done)
