"""What the dynamic linker does with programs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.compilers import run_tool
from vestige.inspect.dynamic_linker import needed_libraries, needed_names

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.mark.parametrize("name", ["/bin/sh", "/bin/ls"])
def test_needed_names_are_among_what_is_loaded(name):
    """The dynamic linker says the same of the program itself."""
    names = needed_names(name)
    loaded = {path.rpartition("/")[2] for path in needed_libraries(name, LINKER)}

    assert names
    assert names <= loaded


LINKER = "/lib64/ld-linux-x86-64.so.2"


def test_a_program_of_our_own(tmp_path):
    """Whatever it is linked with, in any order."""
    source = tmp_path / "source.c"
    source.write_text(
        "double sin(double); int main(int n, char **v) { return sin(n); }"
    )
    flags = ["-Wl,--no-as-needed", "-lpthread", "-lm", "-ldl"]
    run_tool(["gcc", "-fno-builtin", "-o", tmp_path / "program", source, *flags])
    names = needed_names(str(tmp_path / "program"))

    assert names is not None
    assert {"libm.so.6", "libc.so.6"} <= names


@pytest.mark.parametrize("cut", [0, 3, 40, 64, 200, 700, 900, 13_000])
def test_a_file_that_is_cut_off_tells_nothing_or_less(tmp_path, cut):
    """No error leaves it, and no name that is not there."""
    path = tmp_path / "cut"
    path.write_bytes(Path("/bin/ls").read_bytes()[:cut])
    names = needed_names(str(path))

    assert names is None or names <= (needed_names("/bin/ls") or set()) | {""}


@pytest.mark.parametrize("value", [0xFF, 0x7F, 0x00])
def test_a_damaged_program_tells_nothing_or_less(tmp_path, value):
    """Wherever its headers lie: no error leaves it."""
    whole = bytearray(Path("/bin/ls").read_bytes())
    path = tmp_path / "damaged"
    for at in range(32, 64 + 56 * 13, 8):
        damaged = whole.copy()
        damaged[at : at + 8] = bytes([value]) * 8
        path.write_bytes(damaged)

        assert isinstance(needed_names(str(path)), frozenset | None)


def test_what_is_no_program_tells_nothing(tmp_path):
    """Nor does what is not there."""
    (tmp_path / "text").write_text("#!/bin/sh\n")

    assert needed_names(str(tmp_path / "text")) is None
    assert needed_names(str(tmp_path)) is None
    assert needed_names(str(tmp_path / "nothing")) is None
