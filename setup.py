"""Builds the tracer, three C libraries and a program, beside the Python package.

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
AUDIT_SOURCE = Path("tracer/audit/audit.c")
CLOSE_SOURCE = Path("tracer/close/close.c")
COST_SOURCE = Path("tracer/cost/call_cost.c")
NATIVE = Path("vestige/record/native")
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
    "-Itracer/include",
    # The auditing library looks for a symbol by the table that counts them.
    "-Wl,-z,now,-z,nodelete,--build-id,--hash-style=both",
    "-Wl,-soname,libvestige-tracer.so",
]
# It has no C library: a call that the compiler made up for a loop would find nothing.
AUDIT_FLAGS = [
    "-std=gnu11",
    "-O2",
    "-g",
    "-fPIC",
    "-shared",
    "-nostdlib",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-builtin",
    "-fno-stack-protector",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wl,-z,defs,-z,now,--build-id",
]

# A program like those that are recorded.
COST_FLAGS = [
    "-std=gnu11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-finstrument-functions",
]


class BuildTracer(build_py):
    """Compiles the tracer when the package is built."""

    def run(self) -> None:
        """Build the package and, on Linux, the tracer."""
        super().run()
        if not sys.platform.startswith("linux"):
            return
        root = Path("src") if self.editable_mode else Path(self.build_lib)
        build_libraries(root / NATIVE)


def build_libraries(directory: Path) -> None:
    """Compile what goes into traced programs, and what measures its cost."""
    directory.mkdir(parents=True, exist_ok=True)
    sources = sorted(map(str, SOURCES.glob("*.c")))
    results = {
        "libvestige-tracer.so": [*FLAGS, *sources, "-lpthread"],
        "libvestige-audit.so": [*AUDIT_FLAGS, str(AUDIT_SOURCE)],
        "libvestige-close.so": [*FLAGS, str(CLOSE_SOURCE), "-ldl"],
        "call-cost": [*COST_FLAGS, str(COST_SOURCE)],
    }
    for name, arguments in results.items():
        compile_library(directory / name, arguments)


def compile_library(target: Path, arguments: list[str]) -> None:
    """Compile a library or a program; somebody may have the old one mapped."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    partial = target.with_suffix(".part")
    subprocess.run([*compiler, *arguments, "-o", str(partial)], check=True)
    partial.replace(target)


setup(cmdclass={"build_py": BuildTracer})
