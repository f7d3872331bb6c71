"""A build that lacks something ends with one line, before anything is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
WITHOUT_HEADERS = """
import runpy, sys, sysconfig
known = sysconfig.get_path
sysconfig.get_path = lambda name: {place!r} if name == "include" else known(name)
sys.argv = ["setup.py", "-q", "build_py", "--build-lib", {target!r}]
runpy.run_path("setup.py")
"""


def build(target: Path, include: Path, **environment: str):
    """Build the package with a Python whose headers are elsewhere."""
    code = WITHOUT_HEADERS.format(place=str(include), target=str(target))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert not target.exists()
    return done.stderr.splitlines()[-1]


def test_python_without_headers(tmp_path):
    """The file is named, and the package that has it."""
    assert build(tmp_path / "built", tmp_path) == (
        f"building Vestige needs the headers of Python ({tmp_path}/Python.h is "
        "missing): on Debian, apt-get install python3-dev"
    )


def test_no_c_compiler(tmp_path):
    """It is named as CC has it."""
    assert build(tmp_path / "built", tmp_path, CC="absent-cc -m64") == (
        "building Vestige needs a C compiler (absent-cc is missing): on Debian, "
        "apt-get install gcc libc6-dev"
    )


@pytest.mark.parametrize("name", ["include", "stdlib"])
def test_make_names_missing_headers(tmp_path, name):
    """Of Python alone, and before it makes anything."""
    python = tmp_path / "python3"
    python.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *get_path*include*) echo {tmp_path}/{name}; exit;; esac\n'
        f'exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    (tmp_path / "stdlib").mkdir()
    (tmp_path / "stdlib" / "Python.h").touch()
    done = subprocess.run(
        ["make", "-n", "demo", f"PYTHON={python}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    line = f"the headers of {python} are missing: apt-get install python3-dev"
    assert (line in done.stderr) == (name == "include")
