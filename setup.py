"""Builds the tracer, its headers, and the extension of Python programs; then the wheel.

All else is in ``pyproject.toml``; docs/decisions/0001-build-back-end.md says why.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.install_lib import install_lib

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))
from wheel_parts import (  # noqa: E402
    pack_demo,
    split_debug_files,
    write_crate_licences,
)

SOURCES = Path("tracer/src")
ARENA_SOURCES = Path("tracer/arena")
AUDIT_SOURCE = Path("tracer/audit/audit.c")
CLOSE_SOURCE = Path("tracer/close/close.c")
HELPER_SOURCES = Path("tracer/helpers")
HELPERS = {"libc": ["libc.c"], "pthread": ["pthread.c"], "dl": ["dl.c", "caller.c"]}
"""What stands in for functions of the C library."""
COST_SOURCE = Path("tracer/cost/call_cost.c")
HEADERS = Path("tracer/include")
PKG_CONFIG = Path("tracer/pkgconfig")
VERSION_FILE = Path("src/vestige/_version.py")
NATIVE = Path("vestige/record/native")
DEMO = Path("vestige/demo")
EMPTY_ARCHIVE = "!<arch>\n"
LTTNG_LIBRARIES = ("lttng-ust", "lttng-ust-common", "lttng-ust-tracepoint")
"""What programs with tracepoints link; of ours they need nothing."""
PYTHON_SOURCES = Path("tracer/python")
EXTENSION = Path("vestige/instrument/_native.abi3.so")
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

# Each stands in for functions of the C library, which must not be taken for known ones.
HELPER_FLAGS = [
    "-std=gnu11",
    "-O2",
    "-g",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-builtin-malloc",
    "-fno-builtin-calloc",
    "-fno-builtin-realloc",
    "-fno-builtin-free",
    "-ftls-model=initial-exec",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Itracer/include",
    "-Itracer/helpers",
    "-Wl,-z,now,-z,nodelete,--build-id",
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
    "-Wl,--build-id",
]
# What Python programs are traced with, for the stable ABI.
EXTENSION_FLAGS = [
    "-std=gnu11",
    "-O2",
    "-g",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Itracer/include",
    "-Wl,--build-id",
]


class BuildTracer(build_py):
    """Compiles the tracer when the package is built."""

    def run(self) -> None:
        """Build the package and, on Linux, the tracer."""
        require_rust()
        if sys.platform.startswith("linux"):
            require_compiler()
        super().run()
        if not self.editable_mode:
            archive = Path(self.build_lib) / DEMO / "shipped.zip"
            pack_demo(Path("src") / DEMO, archive)
        if not sys.platform.startswith("linux"):
            return
        root = Path("src") if self.editable_mode else Path(self.build_lib)
        build_libraries(root / NATIVE)
        if has_lock():
            build_extension(root / EXTENSION)
        else:
            sys.stderr.write("vestige.instrument is for CPython with its lock alone\n")


class InstallStripped(install_lib):
    """Puts the built package where it goes, without debug information.

    The debug files are kept if ``VESTIGE_DEBUG_FILES`` names a folder for them.
    """

    def run(self) -> None:
        """Install, then strip what was installed."""
        super().run()
        folder = os.environ.get("VESTIGE_DEBUG_FILES")
        debug = None if folder is None else Path(folder)
        split_debug_files(Path(self.install_dir) / "vestige", debug)


class WheelWithLicences(bdist_wheel):
    """Adds the licences of the crates that are linked into the extension."""

    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        """Make the folder of metadata, with all licences."""
        require_rust()
        super().egg2dist(egginfo_path, distinfo_path)
        target = Path(distinfo_path) / "licenses" / "rust-crates.txt"
        write_crate_licences(ROOT, target)


def require_rust() -> None:
    """End with one line if there is no Rust, or one that is too old."""
    cargo = shutil.which("cargo")
    found = ""
    if cargo is not None:
        asked = [cargo, "--version"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        found = "".join(done.stdout.split()[1:2])
    facts = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    needed: str = facts["workspace"]["package"]["rust-version"]
    if not found or version_numbers(found) < version_numbers(needed):
        have = f"cargo is {found}" if found else "cargo is missing"
        raise SystemExit(
            f"building Vestige needs Rust {needed} or newer ({have}): "
            "get it with rustup, https://rustup.rs"
        )


def require_compiler() -> None:
    """End with one line if there is no C compiler, or no headers of Python."""
    compiler = c_compiler()[0]
    if shutil.which(compiler) is None:
        raise SystemExit(
            f"building Vestige needs a C compiler ({compiler} is missing): on Debian, "
            "apt-get install gcc libc6-dev"
        )
    header = Path(sysconfig.get_path("include"), "Python.h")
    if has_lock() and not header.is_file():
        raise SystemExit(
            f"building Vestige needs the headers of Python ({header} is missing): on "
            "Debian, apt-get install python3-dev"
        )


def has_lock() -> bool:
    """Tell whether Python is one whose programs are recorded."""
    is_free_threaded = sysconfig.get_config_var("Py_GIL_DISABLED") == 1
    return sys.implementation.name == "cpython" and not is_free_threaded


def version_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers in a version, without what follows them."""
    return tuple(map(int, re.findall(r"\d+", text)[:2]))


def build_libraries(directory: Path) -> None:
    """Compile what goes into traced programs, and what measures its cost."""
    directory.mkdir(parents=True, exist_ok=True)
    sources = sorted(map(str, [*SOURCES.glob("*.c"), *ARENA_SOURCES.glob("*.c")]))
    version = f'-DVESTIGE_VERSION="{package_version()}"'
    results = {
        "libvestige-tracer.so": [*FLAGS, version, *sources, "-lpthread"],
        "libvestige-audit.so": [*AUDIT_FLAGS, str(AUDIT_SOURCE)],
        "libvestige-close.so": [*FLAGS, str(CLOSE_SOURCE), "-ldl"],
        "call-cost": [*COST_FLAGS, str(COST_SOURCE)],
    }
    for name, parts in HELPERS.items():
        files = [str(HELPER_SOURCES / part) for part in parts]
        results[f"libvestige-{name}.so"] = [*HELPER_FLAGS, *files, "-ldl"]
    for name, arguments in results.items():
        compile_library(directory / name, arguments)
    place_headers(directory)


def package_version() -> str:
    """Return the version of the package that is built."""
    facts: dict[str, str] = {}
    exec(VERSION_FILE.read_text(encoding="utf-8"), facts)  # noqa: S102 - our own file
    return facts["__version__"]


def place_headers(directory: Path) -> None:
    """Put the headers for programs with tracepoints there, and for their builds."""
    libraries = directory / "lib"
    shutil.rmtree(directory / "include", ignore_errors=True)
    shutil.copytree(HEADERS, directory / "include")
    (libraries / "pkgconfig").mkdir(parents=True, exist_ok=True)
    for name in LTTNG_LIBRARIES:
        (libraries / f"lib{name}.a").write_text(EMPTY_ARCHIVE, encoding="ascii")
    for template in PKG_CONFIG.glob("*.pc.in"):
        text = template.read_text(encoding="utf-8")
        target = libraries / "pkgconfig" / template.name.removesuffix(".in")
        target.write_text(text.replace("@VERSION@", package_version()), "utf-8")


def build_extension(target: Path) -> None:
    """Compile what Python programs are traced with."""
    include = sysconfig.get_path("include")
    # Functions are chosen by the same patterns in programs of all kinds.
    sources = [*sorted(map(str, PYTHON_SOURCES.glob("*.c"))), f"{SOURCES}/patterns.c"]
    version = f'-DVESTIGE_VERSION="{package_version()}"'
    arguments = [*EXTENSION_FLAGS, version, "-isystem", include, *sources, "-ldl"]
    compile_library(target, arguments)


def compile_library(target: Path, arguments: list[str]) -> None:
    """Compile a library or a program; somebody may have the old one mapped."""
    partial = target.with_suffix(".part")
    subprocess.run([*c_compiler(), *arguments, "-o", str(partial)], check=True)
    partial.replace(target)


def c_compiler() -> list[str]:
    """Return the command that compiles C, and its first options."""
    return shlex.split(os.environ.get("CC", "cc")) or ["cc"]


setup(
    cmdclass={
        "bdist_wheel": WheelWithLicences,
        "build_py": BuildTracer,
        "install_lib": InstallStripped,
    }
)
