"""Run a command, such as tests, under other kernels, in virtual machines.

    tools/other_kernels.py [--kernel VERSION]... [--results DIR] [-- COMMAND...]

For each version of the table in `kernel_packages.py`, Debian's kernel is downloaded once
and booted by QEMU. The machine sees the files of this one: what it writes stays in its
memory, so nothing here is changed. COMMAND runs as root in the folder where this was
started; without one, the tests that record the kernel are run. What it prints comes out
here; files that it writes to the folder `$RESULTS` are in `DIR/VERSION` afterwards. The
exit status is that of the first command that failed.

It needs root, QEMU with its virtiofsd and a static busybox (Debian: `qemu-system-x86`,
`busybox-static`). Without KVM, machines are ten times slower.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from initramfs import MissingModuleError
from kernel_packages import SUITES, UnavailableError, packaged_kernel
from virtual_machine import Machine

ROOT = Path(__file__).resolve().parent.parent
ASKS = re.compile(r"^from support\.kernel_tracer import .*\bwhy_no", re.MULTILINE)
"""How a test learns why it cannot record the kernel."""
PATIENCE, TEST_SECONDS = 5, 900
"""How many times as long tests wait there, and how long one may take."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command under each kernel; return the exit status."""
    parser = argparse.ArgumentParser(
        description="Run a command under other kernels, in virtual machines."
    )
    parser.add_argument(
        "--kernel",
        action="append",
        choices=SUITES,
        help="a version; may be given several times (default: all)",
    )
    parser.add_argument(
        "--flavour",
        default="cloud-amd64",
        help="Debian's name of a configuration (default: %(default)s)",
    )
    parser.add_argument("--results", type=Path, help="where files are put")
    parser.add_argument("--memory", default="3G", help="(default: %(default)s)")
    parser.add_argument("--cpus", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=3600,
        help="how long a machine may run (default: %(default)s)",
    )
    parser.add_argument("command", nargs="*", help="(default: the kernel's tests)")
    options = parser.parse_args(words)
    machine = Machine(options.memory, options.cpus, options.seconds)
    status = 0
    try:
        machine.check()
        for version in options.kernel or SUITES:
            kernel = packaged_kernel(version, options.flavour)
            print(f"== {kernel.release}", flush=True)
            with tempfile.TemporaryDirectory() as folder:
                results = (options.results or Path(folder)).resolve() / version
                found = machine.run(kernel, _script(options.command), results)
            print(f"== {kernel.release}: exit status {found}", flush=True)
            status = status or found
    except (UnavailableError, MissingModuleError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return status


def kernel_tests() -> list[str]:
    """Return the files of tests that record the kernel where they can."""
    folder = ROOT / "tests"
    return [
        str(path)
        for path in sorted(folder.rglob("test_*.py"))
        if ASKS.search(path.read_text(encoding="utf-8"))
    ]


def _script(command: Sequence[str]) -> str:
    """Return what a shell runs there."""
    words = list(command)
    if not words:
        tests = kernel_tests()
        junit = "--junitxml=/run/results/junit.xml"
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        # What takes long there is told: it may be for a reason that is none.
        words += ["--durations=15", f"--timeout={TEST_SECONDS}", junit]
        # A compiler takes minutes there for what sanitizers add.
        words += ["-k", "not with_sanitizers", *tests]
    kept = ("HOME", "LANG", "LC_ALL", "PATH", "TERM")
    lines = [
        *(f"export {key}={shlex.quote(os.environ.get(key, ''))}" for key in kept),
        "export RESULTS=/run/results",
        f"export VESTIGE_TEST_PATIENCE={PATIENCE}",
        f"cd {shlex.quote(str(Path.cwd()))}",
        f"exec {shlex.join(words)}",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    # So that an end by a signal ends the machine, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
