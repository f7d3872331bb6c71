"""Builds the tracer, a C library, beside the Python package.

All else is in ``pyproject.toml``; docs/decisions/0001-build-back-end.md says why.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SOURCES = Path("tracer/src")
LIBRARY = Path("vestige/record/native/libvestige-tracer.so")
FLAGS = [
    "-std=gnu11",
    "-O2",
    "-g",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wl,-z,now,-z,nodelete,--build-id",
]


class BuildTracer(build_py):
    """Compiles the tracer when the package is built."""

    def run(self) -> None:
        """Build the package and, on Linux, the tracer."""
        super().run()
        if not sys.platform.startswith("linux"):
            return
        root = Path("src") if self.editable_mode else Path(self.build_lib)
        target = root / LIBRARY
        target.parent.mkdir(parents=True, exist_ok=True)
        compiler = shlex.split(os.environ.get("CC", "cc"))
        sources = sorted(map(str, SOURCES.glob("*.c")))
        # A running program may have the old one mapped: it is replaced, not changed.
        partial = target.with_suffix(".part")
        subprocess.run(
            [*compiler, *FLAGS, "-o", str(partial), *sources, "-lpthread"], check=True
        )
        partial.replace(target)


setup(cmdclass={"build_py": BuildTracer})
