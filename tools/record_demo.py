"""Builds the demo shop, records it with LTTng 2.13 and stores the result in the package.

Run it from anywhere, as root, with lttng-tools, liblttng-ust-dev, gcc and binutils:

    python tools/record_demo.py [--output DIRECTORY]

What it writes below the output directory:

    trace/  the CTF trace with its index files
    root/   the stripped binaries, at the paths that the trace has recorded
    debug/  the debug files of the program and of the plugin, found by build ID
            (that of libpricing.so is found by debug link, next to it in root/)

The program runs as `/opt/vestige-demo/bin/shop` on a host called `demo`, both in name
spaces of their own, so nothing of the recording machine gets into the trace. Times,
process IDs and load addresses differ from one recording to the next; the binaries and
debug files do not, for the same compiler.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from support.compilers import run_tool, split_by_build_id, split_by_debug_link  # noqa: E402
from support.lttng import (  # noqa: E402
    CYG_PROFILE_HELPER,
    DL_HELPER,
    STATE_DUMP_EVENTS,
    Channel,
    LttngEnvironment,
    Program,
)

DEMO = REPOSITORY / "src" / "vestige" / "demo"
SOURCES = DEMO / "src"
INSTALL_DIRECTORY = Path("/opt/vestige-demo")
HOST_NAME = "demo"
SESSION_NAME = "vestige-demo"
MAPPED_SOURCES = "demo/src"

SIZE_LIMIT = 300 * 1024
LIBRARY_FLAGS = ("-shared", "-fPIC")
INSTRUMENTED = (
    "-finstrument-functions",
    "-finstrument-functions-exclude-function-list=lttng_ust,lttng__",
)
EVENTS = (
    "shop:*",
    "pricing:*",
    "discount:*",
    *STATE_DUMP_EVENTS,
    "lttng_ust_cyg_profile:*",
)
CONTEXTS = ("ip", "vpid", "vtid", "procname")


def build(installed: Path) -> None:
    """Build the shop, its library and its plugin below `installed`, not stripped."""
    library = installed / "lib" / "libpricing.so"
    plugin = installed / "plugins" / "libdiscount.so"
    _compile("pricing.c", library, [*LIBRARY_FLAGS, *INSTRUMENTED, "-llttng-ust"])
    _compile("discount.c", plugin, [*LIBRARY_FLAGS, "-llttng-ust"])
    run_path = "-Wl,-rpath,$ORIGIN/../lib"
    linking = [f"-L{library.parent}", "-lpricing", run_path, "-llttng-ust", "-ldl"]
    _compile("shop.c", installed / "bin" / "shop", linking)


def split(installed: Path, debug: Path) -> None:
    """Strip the binaries; two debug files are found by build ID, one by debug link."""
    split_by_build_id(installed / "bin" / "shop", debug)
    split_by_build_id(installed / "plugins" / "libdiscount.so", debug)
    library = installed / "lib" / "libpricing.so"
    split_by_debug_link(library, library.parent / ".debug")


def record(installed: Path, trace: Path) -> None:
    """Run the shop at its neutral path and record it into `trace`."""
    shop = Program(
        [
            INSTALL_DIRECTORY / "bin" / "shop",
            INSTALL_DIRECTORY / "plugins" / "libdiscount.so",
        ],
        preload=[DL_HELPER, CYG_PROFILE_HELPER],
    )
    channel = Channel(contexts=CONTEXTS, events=EVENTS, sub_buffer_size="64K")
    private = [Path("/opt")]
    with LttngEnvironment(host_name=HOST_NAME, private_directories=private) as lttng:
        lttng.run(["cp", "-r", installed, INSTALL_DIRECTORY])
        lttng.record(trace, [shop], [channel], name=SESSION_NAME)


def store(made: Path, output: Path) -> int:
    """Replace the folders in `output` by those in `made` and return their size in bytes."""
    size = 0
    for folder in ("trace", "root", "debug"):
        shutil.rmtree(output / folder, ignore_errors=True)
        shutil.copytree(made / folder, output / folder)
        _make_readable(output / folder)
        size += sum(path.stat().st_size for path in (output / folder).rglob("*"))
    return size


def main(arguments: Sequence[str] | None = None) -> int:
    """Record the demo and print how large it is."""
    parser = argparse.ArgumentParser(description="Record the demo trace of Vestige.")
    parser.add_argument("--output", type=Path, default=DEMO, help="where to store it")
    output: Path = parser.parse_args(arguments).output
    with tempfile.TemporaryDirectory(prefix="vestige-demo-") as directory:
        made = Path(directory)
        installed = made / "root" / INSTALL_DIRECTORY.relative_to("/")
        build(installed)
        split(installed, made / "debug")
        record(installed, made / "trace")
        size = store(made, output)
    print(f"{output}: {size // 1024} KiB")
    return 0 if size <= SIZE_LIMIT else 1


def _compile(source: str, output: Path, linking: Sequence[str]) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    flags = [
        "-O2",
        "-g",
        f"-ffile-prefix-map={SOURCES}={MAPPED_SOURCES}",
        "-Wl,--build-id",
    ]
    run_tool(["gcc", *flags, "-I.", source, "-o", output, *linking], directory=SOURCES)


def _make_readable(folder: Path) -> None:
    """Give the folder the modes that a fresh checkout would have."""
    for path in [folder, *folder.rglob("*")]:
        executable = path.stat().st_mode & 0o100 and folder.name == "root"
        path.chmod(0o755 if path.is_dir() or executable else 0o644)


if __name__ == "__main__":
    sys.exit(main())
