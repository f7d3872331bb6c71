"""Recordings that begin, or begin a part, while somebody looks for their traces."""

from __future__ import annotations

import os
import time

import pytest

from vestige.cli import begun_recording, viewing
from vestige.cli.begun_recording import (
    METADATA,
    NEXT,
    REGISTER,
    SOCKET,
    kernel_is_missing,
    wait_for_kernel,
)


@pytest.fixture
def recording(tmp_path):
    """A recording of both domains whose program does not run yet."""
    programs = tmp_path / "present/ust"
    programs.mkdir(parents=True)
    (programs / METADATA).touch()
    (programs / REGISTER).touch()
    return tmp_path


@pytest.fixture
def steps(monkeypatch):
    """What happens at each look; the number of looks is that of those that are gone."""
    waiting = []

    def sleep(_seconds):
        assert waiting, "nothing is to come"
        waiting.pop(0)()

    monkeypatch.setattr(time, "sleep", sleep)
    return waiting


def nothing():
    """Nothing happens."""


def make_kernel(present, name="kernel"):
    """Make the kernel's trace."""
    (present / name).mkdir()
    (present / name / METADATA).touch()


def is_alive(_directory):
    """Nobody killed the recorder."""
    return False


def test_the_beginning_is_waited_for_however_long_it_takes(recording, steps):
    """The trace of programs is the last to come, whether there is the kernel's or not."""
    metadata = recording / "present/ust" / METADATA
    metadata.unlink()
    make_kernel(recording / "present")
    steps += [nothing] * (10 * begun_recording.LONGEST_QUIET)
    steps.append(metadata.touch)

    assert wait_for_kernel(recording, is_alive)
    assert steps == []


@pytest.mark.usefixtures("steps")
def test_a_trace_of_programs_alone_has_no_kernel_to_come(recording):
    """It would have been there first."""
    assert wait_for_kernel(recording, is_alive)
    assert not kernel_is_missing(recording, {recording / "present/ust"})


def test_between_two_parts_the_kernel_is_waited_for(recording, steps):
    """Then it is beside its place, and was found nowhere, or in the part before."""
    present = recording / "present"
    (present / "ust/1-1").touch()
    make_kernel(present, NEXT)
    assert kernel_is_missing(recording, {present / "ust"})
    steps.append(lambda: (present / NEXT).rename(present / "kernel"))

    assert wait_for_kernel(recording, is_alive)
    assert steps == []
    assert kernel_is_missing(recording, {present / "ust"})
    assert not kernel_is_missing(recording, {present / "ust", present / "kernel"})


def test_nobody_waits_for_what_a_killed_recorder_left(recording, steps):
    """It is looked at now and then."""
    (recording / "present/ust" / METADATA).unlink()
    steps += [nothing] * (begun_recording.LONGEST_QUIET - 1)

    assert not wait_for_kernel(recording, lambda directory: directory.name == "ust")
    assert steps == []


def test_who_looks_while_a_part_is_moved_looks_again(recording, steps):
    """After a moment: whoever moves it may not run just now."""
    present = recording / "present"
    (present / "ust/1-1").touch()
    (present / "ust" / METADATA).unlink()
    make_kernel(present)
    kernel = present / "kernel" / METADATA

    def come():
        (present / "ust" / METADATA).touch()
        kernel.touch()

    kernel.unlink()
    steps += [nothing] * 20
    steps.append(come)

    found = viewing._found_recordings(os.fspath(recording))
    assert {one.directory.name for one in found} == {"ust", "kernel"}
    assert steps == []


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("change", ["ended", "kept"])
def test_nobody_waits_where_none_comes(recording, change):
    """A recording that has ended; in overwrite mode it comes in the end."""
    if change == "ended":
        (recording / "present/ust" / REGISTER).unlink()
    else:
        (recording / SOCKET).touch()

    assert wait_for_kernel(recording, is_alive)
    assert not kernel_is_missing(recording, set())
