"""Building the programs in `tests/programs`, and splitting off their debug files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
BUILD_SECONDS = 120.0
SMALLEST = "int main(void) { return 0; }\n"
"""A program that does nothing."""

EXECUTABLE_LIBRARIES = ("-llttng-ust", "-ldl", "-lpthread")

OPTIMISATIONS = ("-O0", "-O2")
DWARF_VERSIONS = ("-gdwarf-4", "-gdwarf-5")


class BuildError(Exception):
    """A compiler or a binary tool failed."""


class MissingToolError(BuildError):
    """A compiler or a binary tool is not installed; tests that need it are skipped."""


def run_tool(argv: Sequence[str | Path], directory: Path | None = None) -> bytes:
    """Run a build tool, in `directory` if given, and return its standard output.

    Raises:
        BuildError: When it fails or does not end in time.
        MissingToolError: When no directory of ``PATH`` has it.
    """
    words = [os.fspath(word) for word in argv]
    # What has a directory in its name is what a test has built: that must be there.
    if "/" not in words[0] and shutil.which(words[0]) is None:
        raise MissingToolError(f"not installed: {words[0]}")
    try:
        done = subprocess.run(
            words,
            cwd=directory,
            capture_output=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise BuildError(str(error)) from error
    if done.returncode != 0:
        text = done.stderr.decode(errors="replace")
        raise BuildError(f"{' '.join(words)}: exit status {done.returncode}\n{text}")
    return done.stdout


def compiled(directory: Path, *flags: str, source: str = SMALLEST) -> Path:
    """Build a small program with gcc, and return its path."""
    (directory / "program.c").write_text(source)
    path = directory / "program"
    run_tool(["gcc", *flags, "-o", path, directory / "program.c"])
    return path


@dataclass(frozen=True)
class Toolchain:
    """A C and a C++ compiler with the flags that every build gets."""

    c_compiler: str = "gcc"
    cxx_compiler: str = "g++"
    flags: Sequence[str] = ("-O2", "-g")

    @property
    def label(self) -> str:
        """Return a short name for parametrised tests."""
        return "".join([self.c_compiler, *self.flags])

    def missing_tool(self) -> str | None:
        """Return the name of a compiler that is not installed, or None."""
        for tool in (self.c_compiler, self.cxx_compiler):
            if shutil.which(tool) is None:
                return tool
        return None

    def build(
        self, sources: Sequence[Path], output: Path, extra_flags: Sequence[str] = ()
    ) -> Path:
        """Compile and link `sources` into `output`."""
        output.parent.mkdir(parents=True, exist_ok=True)
        is_cxx = any(source.suffix == ".cpp" for source in sources)
        compiler = self.cxx_compiler if is_cxx else self.c_compiler
        include = f"-I{sources[0].parent}"
        linking = ["-Wl,--build-id", *extra_flags, *EXECUTABLE_LIBRARIES]
        run_tool([compiler, *self.flags, include, *sources, "-o", output, *linking])
        return output

    def build_program(
        self, name: str, directory: Path, extra_flags: Sequence[str] = ()
    ) -> Path:
        """Build `tests/programs/NAME.c` (or `.cpp`) into an executable."""
        return self.build([_source(name)], directory / name, extra_flags)

    def build_library(
        self, name: str, output: Path, extra_flags: Sequence[str] = ()
    ) -> Path:
        """Build `tests/programs/NAME.c` into a shared library."""
        return self.build([_source(name)], output, ["-shared", "-fPIC", *extra_flags])


def toolchain_matrix() -> list[Toolchain]:
    """Return the compilers and flags over which source lines are compared."""
    flags = [(level, dwarf) for level in OPTIMISATIONS for dwarf in DWARF_VERSIONS]
    compilers = (("gcc", "g++"), ("clang", "clang++"))
    return [Toolchain(c, cxx, pair) for c, cxx in compilers for pair in flags]


def build_id(binary: Path) -> str:
    """Return the build ID of an ELF file in hexadecimal digits."""
    notes = run_tool(["readelf", "--notes", "--wide", binary]).decode()
    found = re.search(r"Build ID: ([0-9a-f]+)", notes)
    if found is None:
        raise BuildError(f"{binary}: no build ID")
    return found[1]


def split_debug_file(
    binary: Path, debug_file: Path, *, keep_symbols: bool = False
) -> Path:
    """Move the debug information of `binary` into `debug_file`."""
    debug_file.parent.mkdir(parents=True, exist_ok=True)
    run_tool(["objcopy", "--only-keep-debug", binary, debug_file])
    run_tool(["strip", "--strip-debug" if keep_symbols else "--strip-unneeded", binary])
    debug_file.chmod(0o644)
    return debug_file


def split_by_build_id(binary: Path, debug_directory: Path) -> Path:
    """Strip `binary`; its debug file goes below `debug_directory/.build-id`."""
    digits = build_id(binary)
    name = f".build-id/{digits[:2]}/{digits[2:]}.debug"
    return split_debug_file(binary, debug_directory / name)


def split_by_debug_link(binary: Path, directory: Path) -> Path:
    """Strip `binary`, put its debug file into `directory` and link to it by name."""
    debug_file = split_debug_file(binary, directory / f"{binary.name}.debug")
    run_tool(["objcopy", f"--add-gnu-debuglink={debug_file}", binary])
    return debug_file


def _source(name: str) -> Path:
    candidates = [PROGRAMS / f"{name}.c", PROGRAMS / f"{name}.cpp"]
    return next(path for path in candidates if path.exists())
