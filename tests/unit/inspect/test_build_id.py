"""Build IDs are read as the core reads them."""

from __future__ import annotations

import io
import shutil

import pytest

from support.compilers import compiled
from vestige.core import ObjectFile
from vestige.inspect.build_id import read_build_id


@pytest.fixture
def program(tmp_path):
    """A program that the linker gave a build ID."""
    if shutil.which("gcc") is None:
        pytest.skip("not installed: gcc")
    return compiled(tmp_path, "-Wl,--build-id")


def test_it_is_that_of_the_notes(program):
    """The same as the core finds; none where the linker made none."""
    with program.open("rb") as file:
        found = read_build_id(file)
    assert found == ObjectFile.open(program).build_id
    assert len(found) == 20
    with compiled(program.parent, "-Wl,--build-id=none").open("rb") as file:
        assert read_build_id(file) == b""


def test_damage_is_no_error(program):
    """Whatever the bytes are, there is an ID or none."""
    data = program.read_bytes()[:8192]
    found = set()
    for at in range(1024):
        damaged = data[:at] + b"\xff" + data[at + 1 :]
        found.add(read_build_id(io.BytesIO(damaged)))
        found.add(read_build_id(io.BytesIO(data[:at])))
    assert b"" in found
    assert max(map(len, found)) < 1 << 16
