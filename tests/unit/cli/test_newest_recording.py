"""Without PATH, verbs that read take the newest recording of the user."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from pathlib import Path

import pytest

from support.call_traces import enter, leave, packet, write_calls
from support.recordings import DATA
from vestige.cli.newest_recording import recordings_directory, remember, take_newest
from vestige.errors import CommandError

VERBS = ["view", "report", "check", "debuginfo"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return the directory where recordings go."""
    monkeypatch.setenv("VESTIGE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "vestige-traces"


@pytest.fixture
def trace(tmp_path):
    """Return a trace with a call."""
    calls = [enter(1000, 0x1000), leave(1100)]
    return write_calls(tmp_path / "trace", {"a": [packet(calls, vtid=5)]})


def remembered(home):
    """Return the file with the path."""
    return home / f".newest-{os.geteuid()}"


@pytest.mark.parametrize("verb", VERBS)
def test_the_newest_recording_is_read(run, home, trace, verb):
    """Its path is on standard error; the rest is as with the path."""
    remember(trace)
    _, text, errors = run(verb, trace)

    status, same, more = run(verb)

    assert (status, same) == (0, text)
    first, *others = more.splitlines()
    assert first == f"vestige: reading {trace}, the newest recording"
    assert len(others) == len(errors.splitlines())
    assert recordings_directory() == str(home)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.usefixtures("home")
def test_without_any_recording(run, verb):
    """The line says how to make one."""
    status, text, errors = run(verb)

    assert (status, text) == (2, "")
    assert errors == (
        "vestige: error: no PATH is given and no recording is known; "
        "'vestige record -- PROGRAM' makes one\n"
    )


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.usefixtures("home")
def test_a_recording_that_is_gone(run, trace, verb):
    """Status 3 and its path; an older one is not taken in its place."""
    remember(trace)
    shutil.rmtree(trace)

    assert run(verb) == (
        3,
        "",
        f"vestige: error: {trace}: this was the newest recording, and it is gone\n",
    )


def test_record_keeps_the_path(run, home, tmp_path):
    """Of the default place and of one that was given."""
    status, _, _ = run("record", "-q", "--", "true")
    [made] = [path for path in home.iterdir() if path.is_dir()]

    assert status == 0
    assert remembered(home).read_bytes() == os.fsencode(made)
    run("record", "-q", "-o", tmp_path / "other", "--", "true")
    assert remembered(home).read_bytes() == os.fsencode(tmp_path / "other")
    assert run("check")[0] == 0


def test_a_program_that_is_not_started_changes_nothing(run, home, trace):
    """There is no recording of it."""
    remember(trace)

    assert run("record", "-q", "--", tmp := "/no/such/program")[0] == 127, tmp
    assert remembered(home).read_bytes() == os.fsencode(trace)


def test_a_path_of_any_bytes(home, tmp_path):
    """Also with a line break at its end."""
    path = tmp_path / os.fsdecode(b"odd \xff\n")
    path.mkdir()
    remember(path)

    options = Namespace(paths=[])
    take_newest(options)

    assert options.paths == [str(path)]
    assert list(home.iterdir()) == [remembered(home)]


@pytest.mark.parametrize("kind", ["link", "fifo", "directory", "relative", "empty"])
def test_what_record_did_not_write_is_not_believed(home, trace, tmp_path, kind):
    """And is not waited for, nor followed."""
    home.mkdir(parents=True)
    place = remembered(home)
    if kind == "link":
        (tmp_path / "file").write_bytes(os.fsencode(trace))
        place.symlink_to(tmp_path / "file")
    elif kind == "fifo":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    else:
        place.write_bytes(b"trace" if kind == "relative" else b"")

    with pytest.raises(CommandError, match="no recording is known"):
        take_newest(Namespace(paths=[]))


def test_a_link_is_replaced_and_not_followed(home, trace, tmp_path):
    """What it leads to stays as it is."""
    home.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_bytes(b"as before")
    remembered(home).symlink_to(victim)

    remember(trace)

    assert victim.read_bytes() == b"as before"
    assert not remembered(home).is_symlink()
    assert remembered(home).read_bytes() == os.fsencode(trace)
    assert [path.name for path in home.iterdir()] == [remembered(home).name]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_file_of_another_user_is_not_believed(home, trace):
    """He could lead anybody anywhere."""
    remember(trace)
    os.chown(remembered(home), 12345, 12345)

    with pytest.raises(CommandError, match="no recording is known"):
        take_newest(Namespace(paths=[]))


def test_a_home_that_cannot_be_written(run, monkeypatch, tmp_path):
    """The recording succeeds."""
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("VESTIGE_HOME", str(tmp_path / "file" / "home"))

    status, _, errors = run("record", "-q", "-o", tmp_path / "out", "--", "true")

    assert (status, errors) == (0, "")
    assert (tmp_path / "out" / "metadata").is_file()


def test_without_a_home(monkeypatch, trace):
    """Nothing is kept, and nothing is known."""
    monkeypatch.delenv("VESTIGE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    remember(trace)

    assert recordings_directory() is None
    with pytest.raises(CommandError, match="no recording is known"):
        take_newest(Namespace(paths=[]))


def test_paths_that_are_given_are_taken():
    """Whatever is known."""
    options = Namespace(paths=[Path(DATA / "hello")])
    take_newest(options)

    assert options.paths == [DATA / "hello"]
