"""To whom a recording belongs that root makes with sudo."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import vestige
from vestige.record.asking_user import AskingUser, asking_user
from vestige.record.backends.in_process.snapshots import Snapshots
from vestige.record.own_directories import (
    KnownDirectory,
    OwnDirectory,
    known_directory,
)
from vestige.record.trace_directory import TraceDirectory

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root gives files to others"
)

USER, GROUP = 65534, 12345


@pytest.fixture
def sudo(monkeypatch):
    """As sudo starts programs."""
    monkeypatch.setenv("SUDO_UID", str(USER))
    monkeypatch.setenv("SUDO_GID", str(GROUP))


def owners(place: Path) -> set[tuple[int, int]]:
    """Return the users and groups of a directory and all in it."""
    facts = [one.lstat() for one in (place, *place.rglob("*"))]
    return {(one.st_uid, one.st_gid) for one in facts}


def known(place: Path) -> KnownDirectory:
    """Return what tells a directory from others."""
    return known_directory(os.fspath(place))


def give(directory: OwnDirectory) -> None:
    """Give a directory away."""
    AskingUser(USER, GROUP).take(directory)


@pytest.mark.usefixtures("sudo")
def test_a_recording_belongs_to_who_asked(tmp_path):
    """And so do the directories that were made for it, and no others."""
    vestige.record(["true"], tmp_path / "made" / "trace")
    assert owners(tmp_path / "made") == {(USER, GROUP)}
    assert (tmp_path / "made" / "trace" / "metadata").exists()
    assert tmp_path.stat().st_uid == 0


@pytest.mark.usefixtures("sudo")
def test_a_directory_that_was_there_stays_its_owners(tmp_path):
    """What was recorded there is given all the same."""
    vestige.record(["true"], tmp_path)
    assert tmp_path.stat().st_uid == 0
    assert owners(tmp_path / "metadata") == {(USER, GROUP)}


def test_without_sudo_it_is_roots(tmp_path, monkeypatch):
    """As it is with an environment that names nobody."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    vestige.record(["true"], tmp_path / "trace")
    assert {user for user, _ in owners(tmp_path / "trace")} == {0}


def test_what_others_put_there_is_not_given(tmp_path):
    """Links of all kinds lead to files that were never in the recording."""
    (tmp_path / "secret").write_text("of root")
    place = tmp_path / "trace"
    (place / "kernel").mkdir(parents=True)
    (place / "kernel" / "metadata").write_text("")
    (place / "hard").hardlink_to(tmp_path / "secret")
    (place / "soft").symlink_to(tmp_path / "secret")
    (place / "folder").symlink_to(tmp_path)
    os.mkfifo(place / "pipe")
    (place / "other").write_text("")
    os.chown(place / "other", 1234, 1234)
    give(OwnDirectory(known(place), ()))
    given = {one.name for one in place.rglob("*") if one.lstat().st_uid == USER}
    assert given == {"kernel", "metadata"}
    assert (tmp_path / "secret").stat().st_uid == 0
    assert (place / "other").stat().st_uid == 1234


@pytest.mark.parametrize("is_link", [False, True])
def test_what_has_the_name_of_a_recording_by_now_is_not_given(tmp_path, is_link):
    """Whoever may write above it can put another directory there."""
    above, other = tmp_path / "above", tmp_path / "other"
    trace = TraceDirectory(above / "trace")
    (other / "trace").mkdir(parents=True)
    (other / "trace" / "secret").write_text("of root")
    above.rename(tmp_path / "elsewhere")
    if is_link:
        above.symlink_to(other)
    else:
        other.rename(above)
    give(trace.own)
    assert owners(above.resolve()) == {(0, 0)}


def test_a_snapshot_is_given_with_what_was_made_for_it(tmp_path):
    """A directory that was there stays root's."""
    (tmp_path / "trace").mkdir()
    (tmp_path / "there").mkdir()
    snapshots = Snapshots(
        os.fspath(tmp_path / "trace"), lambda place: Path(place, "metadata").touch()
    )
    try:
        snapshots.take("snapshot", os.fspath(tmp_path / "there"))
        snapshots.take("snapshot", os.fspath(tmp_path / "no" / ".." / "new" / "one"))
        beside = Path(snapshots.take("snapshot"))
    finally:
        snapshots.close()
    for one in snapshots.own:
        give(one)
    assert tmp_path.stat().st_uid == 0
    assert (tmp_path / "there").stat().st_uid == 0
    assert owners(tmp_path / "there" / "metadata") == {(USER, GROUP)}
    assert owners(tmp_path / "new") == owners(beside) == {(USER, GROUP)}


@pytest.mark.parametrize(
    ("user", "group"),
    [("0", "0"), ("", "5"), ("7", ""), ("-1", "5"), ("x", "y"), (str(2**32 - 1), "5")],
)
def test_who_is_nobody_else_gets_nothing(monkeypatch, user, group):
    """Root itself may use sudo, and anything may be in an environment."""
    monkeypatch.setenv("SUDO_UID", user)
    monkeypatch.setenv("SUDO_GID", group)
    assert asking_user() is None
