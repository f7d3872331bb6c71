"""Processes that record and have not registered."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from vestige.record.backends.registered import unregistered as module
from vestige.record.backends.registered.unregistered import unregistered

SPACE = Path("/proc/self/ns/pid").stat().st_ino


@pytest.fixture
def arena(tmp_path) -> Iterator[int]:
    """The inode of a file that this process has mapped, and no other."""
    path = tmp_path / "arena"
    path.write_bytes(bytes(mmap.PAGESIZE))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0):
        yield os.fstat(file.fileno()).st_ino


@pytest.mark.parametrize("space", [SPACE, module.UNKNOWN])
def test_who_has_a_place_and_the_memory_is_found(arena, space):
    """Also where it does not know its PID namespace."""
    own = os.getpid()
    [found] = unregistered({(own, space): "name"}, set(), arena)
    assert found == (own, own, space, "name", {arena})


def test_who_has_registered_is_not_looked_for(arena):
    """It is told otherwise."""
    own = (os.getpid(), SPACE)
    assert unregistered({own: "name"}, {own}, arena) == []


def test_a_place_that_names_somebody_else_is_not_believed(arena):
    """Another process, one of another namespace, and one that is gone."""
    named = [(os.getppid(), SPACE), (os.getpid(), SPACE + 1), (1 << 30, SPACE)]
    assert unregistered(dict.fromkeys(named, "name"), set(), arena) == []


def test_not_too_many_are_looked_for(arena, monkeypatch):
    """A program can write as many numbers as there are places."""
    looked = []
    monkeypatch.setattr(module, "inner_id", looked.append)
    many = {(number, SPACE): "" for number in range(1, 4 * module.MOST)}
    assert unregistered(many, set(), arena) == []
    assert len(looked) == module.MOST
