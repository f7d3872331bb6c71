"""Records the small traces in `tests/data` and stores what Babeltrace 2 prints for them.

Run it from anywhere, as root, with lttng-tools, liblttng-ust-dev, gcc, binutils and
Babeltrace 2.0.4:

    python tools/record_test_data.py [NAME...]

For each NAME it writes `tests/data/NAME/` (the trace), `NAME.txt` (standard output with
TZ=UTC) and `NAME.stderr` (the loss warnings; `{data}` stands for the absolute path of
`tests/data`, which Babeltrace puts into stream names). `reload` also gets the stripped
binaries in `reload-root/` and their debug files in `reload-debug/`.

Programs run below `/opt/vestige-tests` on a host called `demo`, in name spaces of their
own, so nothing of the recording machine gets into the traces.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from support.compilers import PROGRAMS, Toolchain, split_by_build_id  # noqa: E402
from support.lttng import Buffers, LttngEnvironment  # noqa: E402
from support.peers import babeltrace, missing_babeltrace  # noqa: E402
from support.recipes import (  # noqa: E402
    Recording,
    Workshop,
    record_fields,
    record_greeting,
    record_losses,
    record_reload,
    record_threads,
)

DATA = REPOSITORY / "tests" / "data"
RUN_DIRECTORY = Path("/opt/vestige-tests")
HOST_NAME = "demo"
SIZE_LIMIT = 60 * 1024
DATA_PLACE_HOLDER = b"{data}"


def record_hello(workshop: Workshop) -> Recording:
    """Record hello world with per-user buffers."""
    return record_greeting(workshop, "hello")


def record_all_fields(workshop: Workshop) -> Recording:
    """Record every kind of field, with the contexts ip, vpid, vtid and procname."""
    return record_fields(workshop, "fields")


def record_threads_pid(workshop: Workshop) -> Recording:
    """Record two processes with four threads each into per-process buffers."""
    return record_threads(
        workshop,
        "threads-pid",
        buffers=Buffers.PER_PROCESS,
        workers=4,
        steps=20,
        processes=2,
        sub_buffer_size="64K",
    )


def record_lost(workshop: Workshop) -> Recording:
    """Record a channel that loses records and one that loses packets."""
    return record_losses(workshop, "lost", events=200, bursts=2)


def record_reload_with_binaries(workshop: Workshop) -> Recording:
    """Record two libraries at the same base, and keep the binaries and debug files."""
    recording = record_reload(workshop, "reload", rounds=2)
    for folder in ("reload-root", "reload-debug"):
        shutil.rmtree(DATA / folder, ignore_errors=True)
    root = DATA / "reload-root" / RUN_DIRECTORY.relative_to("/")
    root.mkdir(parents=True)
    for installed in recording.binaries:
        shutil.copy(workshop.built(installed), root)
        split_by_build_id(root / installed.name, DATA / "reload-debug")
    return recording


RECORDERS: dict[str, Callable[[Workshop], Recording]] = {
    "hello": record_hello,
    "fields": record_all_fields,
    "threads-pid": record_threads_pid,
    "lost": record_lost,
    "reload": record_reload_with_binaries,
}


def store(name: str, trace: Path) -> int:
    """Store a trace and the peer's text for it and return the trace's size in bytes."""
    target = DATA / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(trace, target)
    for path in [target, *target.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    printed = babeltrace(target)
    (DATA / f"{name}.txt").write_bytes(printed.stdout)
    warnings = printed.stderr.replace(os.fsencode(DATA), DATA_PLACE_HOLDER)
    (DATA / f"{name}.stderr").write_bytes(warnings)
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


def main(arguments: Sequence[str] | None = None) -> int:
    """Record the named traces, or all, and print their sizes."""
    parser = argparse.ArgumentParser(description="Record the traces in tests/data.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    names: list[str] = parser.parse_args(arguments).names or list(RECORDERS)
    if unknown := set(names) - set(RECORDERS):
        parser.error(f"not a trace of tests/data: {', '.join(sorted(unknown))}")
    if reason := missing_babeltrace():
        parser.error(reason)
    too_large = False
    DATA.mkdir(exist_ok=True)
    mapped = [
        f"-ffile-prefix-map={PROGRAMS}=tests/programs",
        f"-ffile-prefix-map={Path.cwd()}=.",
    ]
    toolchain = Toolchain(flags=("-O2", "-g", *mapped))
    private = [Path("/opt")]
    with (
        tempfile.TemporaryDirectory(prefix="vestige-data-") as directory,
        LttngEnvironment(host_name=HOST_NAME, private_directories=private) as lttng,
    ):
        workshop = Workshop(lttng, Path(directory), RUN_DIRECTORY, toolchain)
        for name in names:
            size = store(name, RECORDERS[name](workshop).trace)
            print(f"{name}: {size // 1024} KiB")
            too_large |= size > SIZE_LIMIT
    return int(too_large)


if __name__ == "__main__":
    sys.exit(main())
