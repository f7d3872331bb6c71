"""Which debug file is used: the same one that GDB uses, whatever lies where."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import pytest

from support.separate_debug_files import MISSING, Target, run
from vestige.debuginfo import DebugInfoOptions, find

GDB = shutil.which("gdb")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        bool(MISSING) or GDB is None, reason=f"not installed: {MISSING or 'gdb'}"
    ),
]
COUNT = 4
SUBSETS = [
    subset
    for size in range(1, COUNT + 1)
    for subset in combinations(range(COUNT), size)
]
_OBJECT = re.compile(r"^Object file (.*?):  Objfile at", re.MULTILINE)


@pytest.fixture
def target(tmp_path: Path) -> Target:
    """The program of the GDB manual, stripped, with its debug file kept aside."""
    target = Target(tmp_path)
    target.strip()
    return target


def places(target: Target) -> list[Path]:
    """Return the four places, below a debug directory of the test."""
    debug = target.root / "debug"
    folder = target.object.parent
    return [
        debug / ".build-id/ab/cdef1234.debug",
        folder / "ls.debug",
        folder / ".debug/ls.debug",
        debug / str(folder).lstrip("/") / "ls.debug",
    ]


def used_by_gdb(target: Target) -> str | None:
    """Return the debug file that GDB reads."""
    command = [
        *(str(GDB), "-nx", "-batch", "-iex", "set debuginfod enabled off"),
        *("-iex", f"set debug-file-directory {target.root / 'debug'}"),
        *("-ex", "maint print objfiles", str(target.object)),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    read = [path for path in _OBJECT.findall(done.stdout) if path != str(target.object)]
    return read[0] if read else None


def used_here(target: Target) -> str | None:
    """Return the debug file that Vestige finds."""
    options = DebugInfoOptions(debug_directories=(target.root / "debug",))
    last = find(target.object, options=options).attempts[-1]
    return last.path if last.outcome.name == "USED" else None


@pytest.mark.parametrize("subset", SUBSETS, ids=str)
@pytest.mark.parametrize("wrong", [False, True], ids=["right", "first one wrong"])
def test_the_debug_file_is_the_one_of_gdb(
    target: Target, subset: tuple[int, ...], wrong: bool
) -> None:
    """Each combination of the four places, also with another file in the first one."""
    content = target.debug.read_bytes()
    for index in subset:
        path = places(target)[index]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if wrong:
        path = places(target)[subset[0]]
        options = ("-g", "-shared", "-fPIC", "-Wl,--build-id=0x1234abcdef")
        run("gcc", *options, target.root / "twice.c", "-o", path)

    used = used_here(target)

    assert used == used_by_gdb(target)
    expected = subset[1:] if wrong else subset
    assert used == (str(places(target)[expected[0]]) if expected else None)
