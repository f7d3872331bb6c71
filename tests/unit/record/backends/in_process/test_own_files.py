"""Files of a trace that programs have replaced: none is followed, or waited for."""

from __future__ import annotations

import os

import pytest

from vestige.record import RecordingOptions
from vestige.record.backends.in_process.cost import (
    MEASUREMENT,
    call_cost,
    remove_measurement,
)
from vestige.record.backends.in_process.losses import tell_losses
from vestige.record.backends.in_process.own_files import (
    open_directory,
    put_file,
    read_file,
)
from vestige.record.backends.in_process.plans import remove_plans
from vestige.record.backends.in_process.refusals import read_refusals

UUID = "01234567-89ab-4def-8123-456789abcdef"
KEPT = b"of somebody else"


@pytest.fixture
def trace(tmp_path):
    """The directory of a trace."""
    made = tmp_path / "trace"
    made.mkdir()
    return made


@pytest.fixture
def victim(tmp_path):
    """A file that has nothing to do with the trace."""
    made = tmp_path / "victim"
    made.write_bytes(KEPT)
    return made


@pytest.fixture(params=["pipe", "link", "directory"])
def replaced(request, trace, victim):
    """A function that puts something else in the place of a file."""

    def put(name):
        if request.param == "pipe":
            os.mkfifo(trace / name)
        elif request.param == "link":
            (trace / name).symlink_to(victim)
        else:
            (trace / name).mkdir()

    return put


def put(trace, name, data):
    """Write a file of a trace."""
    opened = open_directory(trace)
    try:
        put_file(opened, name, data)
    finally:
        os.close(opened)


def test_what_is_no_file_is_not_read(trace, replaced):
    """A pipe without a writer would hold the recorder up for ever."""
    replaced("name")
    with pytest.raises(OSError, match="name"):
        read_file(trace, "name")


def test_what_is_no_file_is_not_written(trace, replaced, victim):
    """Where a link leads to, all stays."""
    replaced("name")
    with pytest.raises(OSError, match="name"):
        put(trace, "name", b"data")
    assert victim.read_bytes() == KEPT


def test_a_file_with_another_name_is_not_written(trace, victim):
    """A hard link, too, leads to what is no file of the trace."""
    (trace / "name").hardlink_to(victim)
    with pytest.raises(OSError, match="another name"):
        put(trace, "name", b"data")
    assert victim.read_bytes() == KEPT


def test_a_file_is_written_anew(trace):
    """Of a longer text before, nothing is left."""
    put(trace, "name", b"much longer")
    put(trace, "name", b"short")
    assert read_file(trace, "name") == b"short"
    assert read_file(trace, "name", 2) == b"sh"


def test_a_link_to_a_directory_is_not_followed(tmp_path, trace):
    """As where somebody has replaced the trace."""
    link = tmp_path / "link"
    link.symlink_to(trace)
    put(trace, "name", b"data")
    with pytest.raises(OSError, match="link"):
        read_file(link, "name")


def test_losses_are_told_nowhere_else(trace, replaced, victim):
    """A program can lose events, and put a link where these are told."""
    replaced("lost")
    assert not tell_losses(trace, UUID, 1, 2, 3)
    assert victim.read_bytes() == KEPT


def test_refusals_are_not_waited_for(trace, replaced):
    """All programs can write to this file, and the recorder reads it at its end."""
    replaced(".refused")
    assert read_refusals(str(trace)) == []


@pytest.fixture
def other(tmp_path):
    """A directory that has nothing to do with the trace."""
    made = tmp_path / "other"
    made.mkdir()
    (made / "file").write_bytes(KEPT)
    return made


def test_plans_are_removed_nowhere_else(trace, other):
    """A link to a directory would empty that."""
    (trace / ".plans").symlink_to(other)
    remove_plans(str(trace))
    assert (other / "file").read_bytes() == KEPT


def test_measurements_are_removed_nowhere_else(trace, other):
    """What a call costs is measured when the program may have put a link there."""
    (trace / MEASUREMENT).symlink_to(other)
    assert call_cost(str(trace), RecordingOptions(), is_counter=False) is None
    remove_measurement(trace / MEASUREMENT)
    assert (other / "file").read_bytes() == KEPT
