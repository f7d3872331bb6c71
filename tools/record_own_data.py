"""Records the trace in `tests/data` that Vestige makes itself, and what is printed of it.

Run it as root from anywhere, after `make`, with gcc and Babeltrace 2.0.4:

    python tools/record_own_data.py NAME

NAME is `recording-` and a number, one for each format that recordings have had. Those of
former formats are never recorded again: that they stay readable is what they are for.
It writes `tests/data/NAME/` with the symbols packed into it, `NAME.txt` and `NAME.stderr`
as `tools/record_test_data.py` does, and what Vestige prints: `NAME.view.txt`,
`NAME.report.txt` and `NAME.check.txt`.

The program runs below `/opt/vestige-tests` on a host called `demo`, in name spaces of its
own, so nothing of the recording machine gets into the trace.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from support.compilers import PROGRAMS, run_tool  # noqa: E402
from support.peers import babeltrace, missing_babeltrace  # noqa: E402
from support.recordings import DATA, SHOWN  # noqa: E402
from vestige.record.development import compile_flags  # noqa: E402

RUN_DIRECTORY = Path("/opt/vestige-tests")
PACKAGES = Path("/opt/lib")
HOST_NAME = "demo"
SIZE_LIMIT = 60 * 1024
CONTEXTS = "ip,vpid,procname,cpu_id,vuid,perf:thread:page-fault"
INSIDE = "VESTIGE_RECORDING_INSIDE"
NAME_SPACES = ("unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc")


def build() -> list[str]:
    """Compile the program and its plugin; return the command."""
    flags = ["-g", "-O1", "-finstrument-functions", "-Wl,--build-id=sha1"]
    flags += [
        f"-ffile-prefix-map={PROGRAMS}=tests/programs",
        f"-fdebug-prefix-map={Path.cwd()}={RUN_DIRECTORY}",
    ]
    program, plugin = RUN_DIRECTORY / "outing", RUN_DIRECTORY / "plugin.so"
    includes = [*compile_flags(), f"-I{PROGRAMS}"]
    source = PROGRAMS / "outing.c"
    run_tool(["gcc", *flags, *includes, "-pthread", "-o", program, source, "-ldl"])
    shared = ["-shared", "-fPIC", "-DNAME=hut"]
    run_tool(["gcc", *flags, *shared, "-o", plugin, PROGRAMS / "plugin.c"])
    return [str(program), str(plugin)]


def vestige(*words: str | Path, directory: Path | None = None) -> bytes:
    """Run the command as it is in its neutral place; return what it prints."""
    code = "from vestige.cli.start import entry_point; entry_point()"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES), "TZ": "UTC"}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        cwd=directory,
    )
    return done.stdout


def record(name: str) -> None:
    """Record the program, here on a host that has another name, and store the result."""
    subprocess.run(["mount", "-t", "tmpfs", "none", "/opt"], check=True)
    socket.sethostname(HOST_NAME)
    RUN_DIRECTORY.mkdir()
    shutil.copytree(
        REPOSITORY / "src" / "vestige",
        PACKAGES / "vestige",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    # Its debug information has paths of the machine that built it.
    for library in (PACKAGES / "vestige/record/native").glob("*.so"):
        run_tool(["strip", "--strip-all", library])
    trace = RUN_DIRECTORY / name
    command = build()
    # Packets keep a multiple of a page; these have less to cut off.
    vestige("record", "-o", trace, "-c", CONTEXTS, "--buffer-size=4k", "--", *command)
    vestige("debuginfo", "--pack", trace)
    target = DATA / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(trace, target)
    for path in [target, *target.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def store(name: str) -> int:
    """Write what is printed of a trace; return the bytes of all files."""
    printed = babeltrace(DATA / name)
    (DATA / f"{name}.txt").write_bytes(printed.stdout)
    (DATA / f"{name}.stderr").write_bytes(printed.stderr)
    for verb, options in SHOWN.items():
        text = vestige(verb, *options, name, directory=DATA)
        (DATA / f"{name}.{verb}.txt").write_bytes(text)
    paths = [*(DATA / name).rglob("*"), *DATA.glob(f"{name}.*")]
    return sum(path.stat().st_size for path in paths if path.is_file())


def main(arguments: Sequence[str] | None = None) -> int:
    """Record a trace and print its size."""
    parser = argparse.ArgumentParser(description="Record a trace of tests/data.")
    parser.add_argument("name", metavar="NAME")
    name: str = parser.parse_args(arguments).name
    if reason := missing_babeltrace():
        parser.error(reason)
    if INSIDE not in os.environ:
        environment = {**os.environ, INSIDE: "1"}
        command = [*NAME_SPACES, sys.executable, __file__, name]
        return subprocess.run(command, env=environment, check=False).returncode
    record(name)
    size = store(name)
    print(f"{name}: {size // 1024} KiB")
    return int(size > SIZE_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
