"""Fuzzes the parsers that read untrusted bytes, each for a little while.

Run it from anywhere; it needs a nightly Rust compiler and cargo-fuzz:

    python tools/fuzz.py [--seconds SECONDS] [TARGET ...]

The seeds are made at run time: from the recordings in `tests/data`, and from
small shared objects that the C compiler builds. The corpus grows in the cargo target
directory and is kept there from run to run; nothing of it belongs into the repository.

A crash, a hang (10 s for one input), or memory above 1 GiB ends the run with exit
status 1; the input that caused it is kept and named.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
FUZZ_DIRECTORY = REPOSITORY / "crates" / "fuzz"
TEST_DATA = REPOSITORY / "tests" / "data"

LIMITS = (
    "-rss_limit_mb=1024",
    "-malloc_limit_mb=512",
    "-timeout=10",
    # The thread pool lives as long as the process: that is no leak.
    "-detect_leaks=0",
    "-print_final_stats=1",
    "-verbosity=1",
)

REAL_METADATA = ("fields", "hello", "lost", "reload")
"""The recordings whose metadata the target `packets` embeds, in its order."""
OWN_METADATA = 0xC0
"""First byte of an input of `packets` that brings its metadata itself."""
WRITTEN_METADATA = ("every_type.tsdl", "big_endian.tsdl", "every_kind.json-seq")
"""The hand-written metadata that `packets` embeds behind the real ones."""

PROGRAM = """
struct pair { int one, two; };
static inline __attribute__((always_inline)) int twice(int a) { return a * 2; }
__attribute__((noinline)) int sum(const struct pair *p, int n)
{
    int all = 0;
    for (int i = 0; i < n; i++) all += twice(p[i].one) + p[i].two;
    return all;
}
__attribute__((cold)) int entry(int n) { struct pair p = { n, 2 }; return sum(&p, 1); }
"""
OBJECT_FLAGS = (
    ("-O2", "-gdwarf-5"),
    ("-O2", "-gdwarf-4"),
    ("-O0", "-gdwarf-3"),
    ("-O2", "-gdwarf-2", "-ffunction-sections"),
    ("-O2", "-gdwarf-5", "-gz"),
    ("-O2", "-gdwarf-4", "-fdebug-types-section"),
    ("-O0", "-s"),
    ("-O2", "-s", "-fpatchable-function-entry=5,2"),
)
"""How the seeds of `elf`, `dwarf` and `plan` are compiled, a shared object each."""
LOOSE_FLAGS = (
    ("-c", "-O2", "-gdwarf-5", "-ffunction-sections"),
    ("-c", "-O0", "-gdwarf-4", "-gz"),
)
"""How objects are compiled that are not linked, as modules of the kernel are not."""


def recorded_files(name: str) -> Iterator[Path]:
    """Yield the data stream files of a recording."""
    for metadata in sorted((TEST_DATA / name).rglob("metadata")):
        for path in sorted(metadata.parent.iterdir()):
            if path.is_file() and path != metadata:
                yield path


def metadata_seeds() -> Iterator[bytes]:
    """Yield recorded and hand-written metadata files."""
    for path in sorted(TEST_DATA.rglob("metadata")):
        yield path.read_bytes().rstrip(b"\0")
    for path in sorted((FUZZ_DIRECTORY / "metadata").iterdir()):
        yield path.read_bytes()


def packet_seeds() -> Iterator[bytes]:
    """Yield data streams behind the byte that chooses their metadata."""
    for index, name in enumerate(REAL_METADATA):
        for path in recorded_files(name):
            yield bytes([index]) + path.read_bytes()[:16_384]
    written = [FUZZ_DIRECTORY / "metadata" / name for name in WRITTEN_METADATA]
    for index, path in enumerate(written, start=len(REAL_METADATA)):
        text = path.read_bytes()
        stream = bytes(range(64)) * 4
        yield bytes([index]) + stream
        yield bytes([OWN_METADATA]) + len(text).to_bytes(2, "little") + text + stream


def growing_seeds() -> Iterator[bytes]:
    """Yield steps: packets of the recording whose metadata `growing` embeds."""
    for number, path in enumerate(recorded_files("hello")):
        data = path.read_bytes()[:65_535]
        step = bytes([number % 2]) + len(data).to_bytes(2, "big") + data
        yield step + bytes([128, 1, 2]) + step + bytes([192])


def object_seeds() -> Iterator[bytes]:
    """Yield small objects, most of them shared, with all kinds of debug information."""
    compiler = shutil.which("cc")
    if compiler is None:
        return
    work = work_directory() / "objects"
    work.mkdir(parents=True, exist_ok=True)
    source, output = work / "program.c", work / "program.so"
    source.write_text(PROGRAM)
    basic = [compiler, "-shared", "-fPIC", "-nostdlib", "-Wl,-z,noseparate-code"]
    for flags in OBJECT_FLAGS:
        command = [*basic, *flags, "-o", str(output), source.name]
        # A compiler that does not know a flag gives one seed less.
        if succeeds(*command, cwd=work):
            yield output.read_bytes()
    for loose in LOOSE_FLAGS:
        if succeeds(compiler, *loose, "-o", str(output), source.name, cwd=work):
            yield output.read_bytes()
            yield gzip.compress(output.read_bytes())


def interval_seeds() -> Iterator[bytes]:
    """Yield indexes of recordings, with points where a reading may begin."""
    from vestige import VestigeError  # noqa: PLC0415 - nothing else needs it
    from vestige import open as open_trace  # noqa: PLC0415 - as above
    from vestige.analysis.intervals import intervals_of  # noqa: PLC0415 - as above

    for path in sorted(TEST_DATA.rglob("metadata")):
        with contextlib.suppress(VestigeError):
            trace = open_trace(path.parent, debug_info=False)
            yield intervals_of(trace, every=1)[0].index.to_bytes()


def relay_seeds() -> Iterator[bytes]:
    """Yield portions that a peer of a relay daemon may send."""

    def portion(kind: int, data: bytes) -> bytes:
        return bytes([kind]) + len(data).to_bytes(2, "big") + data

    def command(number: int, payload: bytes) -> bytes:
        return portion(1, struct.pack(">QQII", 0, len(payload), number, 0) + payload)

    for stream in (1, 2):
        packets = [
            portion(0, struct.pack(">QQQII", 0, stream, n, 100, 28) + bytes(100))
            for n in range(3)
        ]
        indexes = [
            command(13, struct.pack(">10Q", stream, n, 1024, 800, n, n, 0, 0, 0, n))
            for n in range(3)
        ]
        rotation = command(18, struct.pack(">IB7xQQQ", 1, 1, 1, stream, 1))
        questions = command(8, struct.pack(">QQ", stream, 2))
        closing = command(7, struct.pack(">QQ", stream, 2))
        yield b"".join([*packets, *indexes, rotation, questions, closing])
        yield b"".join([*indexes, closing, rotation, *packets])
    yield command(6, struct.pack(">QI", 3, 4) + b"text") + command(17, bytes(16))


def page_seeds() -> Iterator[bytes]:
    """Yield pages of the kernel's ring buffers with records of several events."""
    for flags in (0, 1 << 31, 3 << 30):
        records = b""
        # The last ones are a text of the call that comes then, and this; and the values
        # of two counters for the event behind them.
        counted = b"vestige:c0000700" + b"123456789:0" * 2 + b"\0"
        for event, text in (
            *((one, b"text\0\0\0\0") for one in range(4)),
            (5, b"vestige: 0 /etc\0"),
            (1, b"text\0\0\0\0"),
            (5, counted.ljust(40, b"\0")),
            (3, b"text\0\0\0\0"),
        ):
            body = struct.pack("<HBBi", event, 0, 0, 7)
            body += struct.pack("<II", 16 | len(text) << 16, 8) + text
            records += struct.pack("<II", 5 << 5, len(body) + 4) + body
        records += struct.pack("<II", 30 | 1 << 5, 2) + struct.pack("<II", 31, 1 << 20)
        page = struct.pack("<QQ", 1000, len(records) | flags) + records
        yield (page + struct.pack("<Q", 30)).ljust(4096, b"\0") * 2
    yield b"ffffffff81000020 T schedule\n100000000 t its\t[loop]\n10000000000 T b\n"
    for path in sorted((TEST_DATA / "kernel-pages").glob("*.pages.gz")):
        yield gzip.decompress(path.read_bytes())


TARGETS: Mapping[str, Callable[[], Iterator[bytes]]] = {
    "metadata": metadata_seeds,
    "packets": packet_seeds,
    "growing": growing_seeds,
    "intervals": interval_seeds,
    "elf": object_seeds,
    "dwarf": object_seeds,
    "plan": object_seeds,
    "relay": relay_seeds,
    "kernel_pages": page_seeds,
}


def work_directory() -> Path:
    """Return where corpora and reproducers are kept."""
    target = os.environ.get("CARGO_TARGET_DIR")
    return Path(target or FUZZ_DIRECTORY / "target").resolve() / "fuzzing"


def missing_tool() -> str | None:
    """Return what is missing and how to get it, or `None`."""
    if shutil.which("cargo") is None:
        return "cargo is missing: install Rust with rustup"
    if not succeeds("cargo", "+nightly", "--version"):
        return "a nightly Rust compiler is missing: rustup toolchain install nightly"
    if not succeeds("cargo", "fuzz", "--version"):
        return "cargo-fuzz is missing: cargo install cargo-fuzz"
    return None


def succeeds(*command: str, cwd: Path | None = None) -> bool:
    """Tell whether a command runs and ends well."""
    quiet = subprocess.DEVNULL
    done = subprocess.run(command, check=False, cwd=cwd, stdout=quiet, stderr=quiet)
    return done.returncode == 0


def write_seeds(target: str) -> Path:
    """Add the seeds of a target to its corpus; return the corpus directory."""
    corpus = work_directory() / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in TARGETS[target]():
        (corpus / f"seed-{hashlib.sha256(seed).hexdigest()[:16]}").write_bytes(seed)
    return corpus


def cargo_fuzz(verb: str, *arguments: str) -> list[str]:
    """Return a command of cargo-fuzz for our fuzz targets."""
    base = ["cargo", "+nightly", "fuzz", verb, "--fuzz-dir", str(FUZZ_DIRECTORY)]
    return [*base, *arguments]


def run_target(target: str, seconds: int) -> bool:
    """Fuzz one target; return whether it held.

    Args:
        target: Its name.
        seconds: For how long.

    Returns:
        Whether no input broke it. The reproducer is printed otherwise.
    """
    corpus = write_seeds(target)
    artifacts = work_directory() / "artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    log = work_directory() / f"{target}.log"
    known = set(artifacts.iterdir())
    limits = (*LIMITS, f"-max_total_time={seconds}", f"-artifact_prefix={artifacts}/")
    with log.open("wb") as output:
        command = cargo_fuzz("run", target, str(corpus), "--", *limits)
        status = subprocess.run(
            command, check=False, cwd=REPOSITORY, stdout=output, stderr=output
        ).returncode
    found = sorted(set(artifacts.iterdir()) - known)
    # The status alone would miss what a thread of the pool did to the process.
    if status == 0 and not found:
        print(f"{target}: {executions(log)} inputs in {seconds} s, nothing found")
        return True
    print(f"{target}: FAILED, exit status {status}; the log is {log}")
    for path in found:
        print(f"  reproducer: {path}")
        print("  run it again: " + " ".join(cargo_fuzz("run", target, str(path))))
    if not found:
        print("\n".join(log.read_text(errors="replace").splitlines()[-20:]))
    return False


def executions(log: Path) -> str:
    """Return how many inputs a run tried, as libFuzzer's last lines tell it."""
    for line in reversed(log.read_text(errors="replace").splitlines()):
        if line.startswith("stat::number_of_executed_units:"):
            return line.split()[-1]
    return "some"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    names = ", ".join(TARGETS)
    parser = argparse.ArgumentParser(
        description="Fuzz the parsers that read untrusted bytes."
    )
    parser.add_argument(
        "targets", metavar="TARGET", nargs="*", help=f"any of: {names} (default: all)"
    )
    parser.add_argument(
        "--seconds", type=int, default=15, help="how long for each target (default: 15)"
    )
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.targets) - set(TARGETS))
    if unknown:
        parser.error(f"unknown target {unknown[0]!r}; expected one of {names}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz the targets that the command line names; return the exit status."""
    options = parse_arguments(arguments)
    if reason := missing_tool():
        print(f"fuzz: {reason}", file=sys.stderr)
        return 1
    built = subprocess.run(cargo_fuzz("build"), check=False, cwd=REPOSITORY)
    if built.returncode != 0:
        print("fuzz: the fuzz targets do not build", file=sys.stderr)
        return 1
    held = [
        run_target(target, options.seconds) for target in options.targets or TARGETS
    ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
