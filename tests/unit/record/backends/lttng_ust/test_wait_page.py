"""A daemon wakes programs that wait for one, and trusts no page of others."""

from __future__ import annotations

import ctypes
import mmap
import os
import stat
import threading
from pathlib import Path

import pytest

from vestige.record.backends.lttng_ust.wait_page import SYS_FUTEX, WaitPage

FUTEX_WAIT = 0
SECONDS = 60.0
SOMEBODY = 61234

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of others")


def word(path: Path) -> int:
    """Return what a page says."""
    return int.from_bytes(path.read_bytes()[:4], "little")


def wait(path: Path) -> threading.Thread:
    """Let a thread wait on a page as programs do, until it says 1."""
    file = os.open(path, os.O_RDWR)
    page = mmap.mmap(file, mmap.PAGESIZE)
    os.close(file)

    def run() -> None:
        place = ctypes.c_int.from_buffer(page)
        libc = ctypes.CDLL(None)
        while place.value == 0:
            libc.syscall(
                *(SYS_FUTEX, ctypes.byref(place), FUTEX_WAIT, 0, None, None, 0)
            )

    waiting = threading.Thread(target=run, daemon=True)
    waiting.start()
    return waiting


@pytest.mark.parametrize("owner", [os.geteuid(), pytest.param(SOMEBODY, marks=as_root)])
def test_who_waits_is_woken(tmp_path, owner):
    """Also on a page that a program of a user has made, which is root's then."""
    path = tmp_path / "wait"
    path.write_bytes(bytes(mmap.PAGESIZE))
    path.chmod(0o666)
    os.chown(path, owner, -1)
    waiting = wait(path)
    page = WaitPage(str(path))
    page.open()
    waiting.join(SECONDS)
    assert not waiting.is_alive()
    assert path.stat().st_uid == os.geteuid()
    if owner != os.geteuid():
        assert stat.S_IMODE(path.stat().st_mode) == 0o664
    assert word(path) == 1
    page.close()
    assert word(path) == 0


def test_a_page_is_made(tmp_path):
    """With one daemon after the other."""
    path = tmp_path / "wait"
    for _ in range(2):
        page = WaitPage(str(path))
        page.open()
        assert word(path) == 1
        page.close()
    assert path.stat().st_size == mmap.PAGESIZE


@as_root
@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "directory"])
def test_what_is_no_page_is_left_alone(tmp_path, kind):
    """Somebody may have put it there, to be given what is root's or another's."""
    path, other = tmp_path / "wait", tmp_path / "other"
    other.write_text("secret")
    other.chmod(0o600)
    if kind == "link":
        path.symlink_to(other)
    elif kind == "hard link":
        path.hardlink_to(other)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    page = WaitPage(str(path))
    page.open()
    page.close()
    assert other.read_text() == "secret"
    assert stat.S_IMODE(other.stat().st_mode) == 0o600


@as_root
def test_a_page_that_its_maker_cuts_ends_nobody(tmp_path):
    """The daemon's last word makes it whole again."""
    path = tmp_path / "wait"
    page = WaitPage(str(path))
    page.open()
    os.truncate(path, 0)
    page.close()
    assert word(path) == 0
