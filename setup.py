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
from native_parts import (  # noqa: E402
    CONTROL_LIBRARY,
    REGISTER,
    Part,
    extension,
    native_parts,
)
from wheel_parts import (  # noqa: E402
    pack_demo,
    split_debug_files,
    write_crate_licences,
)

HEADERS = (Path("tracer/include"), Path("control/include"))
PKG_CONFIG = (Path("tracer/pkgconfig"), Path("control/pkgconfig"))
VERSION_FILE = Path("src/vestige/_version.py")
NATIVE = Path("vestige/record/native")
INSTRUMENT = Path("vestige/instrument")
DEMO = Path("vestige/demo")
EMPTY_ARCHIVE = "!<arch>\n"
LTTNG_LIBRARIES = ("lttng-ust", "lttng-ust-common", "lttng-ust-tracepoint")
"""What programs with tracepoints link; of ours they need nothing."""


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
            compile_part(extension(package_version()), root / INSTRUMENT)
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
    (directory / "lib").mkdir(parents=True, exist_ok=True)
    for part in native_parts(package_version()):
        compile_part(part, directory)
    place_headers(directory)


def package_version() -> str:
    """Return the version of the package that is built."""
    facts: dict[str, str] = {}
    exec(VERSION_FILE.read_text(encoding="utf-8"), facts)  # noqa: S102 - our own file
    return facts["__version__"]


def place_headers(directory: Path) -> None:
    """Put the headers there, and what builds with them need."""
    libraries = directory / "lib"
    shutil.rmtree(directory / "include", ignore_errors=True)
    for headers in HEADERS:
        shutil.copytree(headers, directory / "include", dirs_exist_ok=True)
    (libraries / "pkgconfig").mkdir(parents=True, exist_ok=True)
    for name in LTTNG_LIBRARIES:
        (libraries / f"lib{name}.a").write_text(EMPTY_ARCHIVE, encoding="ascii")
    # A script of the linker: an archive's member would only be taken if something
    # referred to it.
    script = f"INPUT({Path(REGISTER).name})\n"
    (libraries / f"lib{LTTNG_LIBRARIES[0]}.a").write_text(script, encoding="ascii")
    # Wheels have no links.
    name = Path(CONTROL_LIBRARY).name
    linked = libraries / name.removesuffix(".0")
    linked.write_text(f"INPUT({name})\n", encoding="ascii")
    for template in (one for folder in PKG_CONFIG for one in folder.glob("*.pc.in")):
        text = template.read_text(encoding="utf-8")
        target = libraries / "pkgconfig" / template.name.removesuffix(".in")
        target.write_text(text.replace("@VERSION@", package_version()), "utf-8")


def compile_part(part: Part, directory: Path) -> None:
    """Compile a library or a program; somebody may have the old one mapped."""
    target = directory / part.name
    partial = target.with_suffix(".part")
    words = [*c_compiler(), *part.arguments, "-o", str(partial)]
    if status := subprocess.run(words, check=False).returncode:
        # Other exceptions do not end an editable install: the old library would stay.
        raise SystemExit(f"{words[0]} of {part.name} ended with status {status}")
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
