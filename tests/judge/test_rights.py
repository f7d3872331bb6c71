"""Programs that give up rights: all of their calls are recorded, and they run as ever."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.call_counts import run_counted, run_peer_counted
from support.judged_programs import build_judged, confined_calls

CALLS = 200_000
# What the recorder or the C library might call in a traced program.
SYSTEM_CALLS = [
    "fallocate",
    "ftruncate",
    "futex",
    "getpid",
    "gettid",
    "munmap",
    "openat",
    "prlimit64",
    "pwrite64",
]


@pytest.fixture(scope="module")
def confined(tmp_path_factory):
    """A program that is compiled with calls of the hooks."""
    return build_judged(tmp_path_factory.mktemp("confined"), "confined")


@pytest.fixture
def empty_root():
    """A directory that all users can reach."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def check(words, counted):
    """The program must run as without a tracer, and all of its calls be recorded."""
    plain = subprocess.run(words, capture_output=True, text=True, check=False)

    assert (plain.returncode, plain.stdout) == (0, "done\n")
    assert (counted.status, counted.output) == (0, "done\n"), counted.errors
    assert counted.calls == confined_calls(CALLS)
    assert (counted.lost, counted.damage) == (0, ())
    assert "no events lost" in counted.errors


@pytest.mark.short
def test_a_program_that_changes_its_user(tmp_path, confined):
    """As many calls as uftrace sees."""
    words = [confined, "user", str(CALLS)]
    peer = run_peer_counted(words, tmp_path / "uftrace")
    assert peer.calls == confined_calls(CALLS)

    check(words, run_counted(words, tmp_path / "trace"))


@pytest.mark.short
def test_a_program_that_is_started_by_another_user(tmp_path, confined):
    """The user is changed before the program is executed."""
    # The directories of tests are root's alone.
    reachable = Path(tempfile.mkdtemp())
    reachable.chmod(0o755)
    program = shutil.copy(confined, reachable)
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    words += [program, "free", str(CALLS)]
    try:
        counted = run_counted(words, tmp_path / "trace")
        check(words, counted)
    finally:
        shutil.rmtree(reachable)


@pytest.mark.short
def test_a_program_without_files(tmp_path, confined, empty_root):
    """It sees an empty directory, may open no file, and is nobody."""
    words = [confined, "chroot", empty_root, str(CALLS)]

    check(words, run_counted(words, tmp_path / "trace"))


@pytest.mark.parametrize("name", SYSTEM_CALLS)
def test_a_program_without_a_system_call(tmp_path, confined, name):
    """The kernel kills it at that call, in its first thread and in a later one."""
    words = [confined, "forbid", name, str(CALLS)]

    check(words, run_counted(words, tmp_path / "trace"))


@pytest.mark.short
def test_a_program_started_in_another_root_prints_nothing_new(tmp_path):
    """The dynamic linker does not find the tracer there, and must not complain."""
    for library in ("lib", "lib64"):
        (tmp_path / library).symlink_to(f"usr/{library}")
    (tmp_path / "usr").mkdir()
    # The mount ends with the namespace, however the test ends.
    script = 'mount --bind -o ro /usr "$0/usr" && exec chroot "$0" /usr/bin/true'
    words = ["unshare", "--mount", "sh", "-c", script, tmp_path]
    counted = run_counted(words, tmp_path / "trace")

    assert counted.status == 0, counted.errors
    assert "ld.so" not in counted.errors
