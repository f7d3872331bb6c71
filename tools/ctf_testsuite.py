"""Runs the cases of the CTF test suite against a CTF reader.

    python tools/ctf_testsuite.py CHECKOUT [--reader COMMAND] [--timeout SECONDS]

CHECKOUT is a copy of https://github.com/efficios/ctf-testsuite. Its regression cases are
traces that a reader of CTF 1.8 must accept (`pass`, exit status 0) or refuse (`fail`, exit
status 1 and a message). With `--stress`, large traces that the suite's scripts generate are
read instead, each within a limit of memory.

The exit status is 1 if any verdict is not the expected one.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SUITE = Path("tests") / "1.8"
CATEGORIES = ("metadata/pass", "metadata/fail", "stream/pass", "stream/fail")

EXCEPTIONS: Mapping[str, str] = {}
"""Regression cases that contradict CTF 1.8.3, each with the paragraph that says so."""

STRESS: Mapping[str, Sequence[int]] = {
    "metadata/pass/large-metadata": (524_288, 4_194_304),
    "metadata/pass/long-identifier": (524_288, 1_048_576, 4_194_304),
    "metadata/pass/many-callsites": (524_288,),
    "metadata/pass/many-stream-class": (524_288,),
    "metadata/pass/many-typealias": (524_288,),
    "metadata/pass/many-typedef": (524_288,),
    "stream/pass/array-large": (524_288, 16_777_216),
    "stream/pass/many-events": (524_288,),
    "stream/pass/many-packets": (524_288,),
    "stream/pass/many-streams": (16, 1024, 4096),
    "stream/pass/many-traces": (16, 1024),
    "stream/pass/packet-large": (524_288, 67_108_864),
    "stream/pass/sequence-large": (524_288, 16_777_216),
    "stream/pass/string-large": (524_288, 67_108_864),
    "stream/pass/struct-many-fields": (524_288,),
    "stream/pass/struct-nest-n-deep": (256,),
    "stream/pass/struct-nest-n-deep-with-field": (256,),
    "stream/pass/variant-many-tags": (524_288,),
}
"""The stress cases with those of their sizes that are run unless others are asked for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a reader ended."""

    status: int | None
    """Its exit status; negative for a signal, None when it took too long."""
    message: str
    """What it wrote to its standard error."""
    seconds: float
    """How long it took."""
    peak: int
    """Most resident memory, bytes."""

    @property
    def summary(self) -> str:
        """The exit status in words, and the first line of the message."""
        if self.status is None:
            return f"took more than {self.seconds:.1f} s"
        how = f"exit status {self.status}"
        if self.status < 0:
            how = f"ended by signal {-self.status}"
        first = next(iter(self.message.splitlines()), "no message")
        return f"{how}: {first}"


@dataclass(frozen=True, slots=True)
class Reader:
    """A CTF reader under test."""

    command: Sequence[str]
    """Its command line, to which the trace is added."""
    timeout: float
    """Seconds it may take for one trace."""
    memory: int | None = None
    """Most address space it may have, bytes."""

    def read(self, trace: Path) -> Outcome:
        """Let it read a trace.

        Args:
            trace: The trace directory.

        Returns:
            How it ended.
        """
        late = threading.Event()
        start = time.monotonic()
        with tempfile.TemporaryFile() as messages:
            process = subprocess.Popen(
                [*self.command, str(trace)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=messages,
                preexec_fn=self._limit_memory,  # noqa: PLW1509  # no threads run yet
            )

            def stop() -> None:
                late.set()
                process.kill()

            timer = threading.Timer(self.timeout, stop)
            timer.start()
            # Unlike Popen.wait it tells the memory of this very process.
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            messages.seek(0)
            text = messages.read(100_000).decode(errors="replace")
        return Outcome(
            status=None if late.is_set() else process.returncode,
            message=text,
            seconds=time.monotonic() - start,
            peak=usage.ru_maxrss * 1024,
        )

    def _limit_memory(self) -> None:
        if self.memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return 1 if a verdict is unexpected."""
    options = _parse(arguments)
    suite = options.checkout / SUITE
    if not (suite / "regression").is_dir():
        print(f"{options.checkout}: no {SUITE}/regression in it", file=sys.stderr)
        return 2
    if options.stress is not None:
        memory = options.memory << 20
        reader = Reader(options.reader, options.timeout or 60.0, memory)
        return run_stress(reader, suite / "stress", options.stress, options.sizes)
    reader = Reader(options.reader, options.timeout or 10.0)
    return run_regression(reader, suite / "regression", verbose=options.verbose)


def run_regression(reader: Reader, regression: Path, *, verbose: bool = False) -> int:
    """Run the regression cases and print what is unexpected, and counts.

    Args:
        reader: The reader under test.
        regression: The folder of the categories.
        verbose: Whether to print every case.

    Returns:
        0 if all verdicts are as expected, else 1.
    """
    right = total = 0
    for category in CATEGORIES:
        cases = sorted(
            path for path in (regression / category).glob("*") if path.is_dir()
        )
        counts = [_run_case(reader, category, case, verbose=verbose) for case in cases]
        print(f"{category}: {sum(counts)}/{len(counts)}", flush=True)
        right += sum(counts)
        total += len(counts)
    print(f"{right}/{total}")
    return 0 if right == total > 0 else 1


def _run_case(reader: Reader, category: str, case: Path, *, verbose: bool) -> bool:
    name = f"{category}/{case.name}"
    outcome = reader.read(case)
    good = is_expected(outcome, passes=category.endswith("/pass"))
    if name in EXCEPTIONS:
        print(f"  {name}: exception, {EXCEPTIONS[name]}; {outcome.summary}")
        return True
    if not good or verbose:
        word = "as expected" if good else "UNEXPECTED"
        print(f"  {name}: {word}, {outcome.summary}", flush=True)
    return good


def is_expected(outcome: Outcome, *, passes: bool) -> bool:
    """Tell whether a reader ended as the suite wants it to.

    Args:
        outcome: How it ended.
        passes: Whether the trace is one that must be accepted.

    Returns:
        True for exit status 0 of a trace that passes; for one that fails, exit status 1,
        which the suite asks for, and a message.
    """
    if passes:
        return outcome.status == 0
    return outcome.status == 1 and bool(outcome.message.strip())


def run_stress(
    reader: Reader, stress: Path, names: Sequence[str], sizes: Sequence[int]
) -> int:
    """Generate large traces, read each, and print time and memory.

    Args:
        reader: The reader under test.
        stress: The folder of the stress cases.
        names: Ends of the names of the cases to run; all cases if there is none.
        sizes: Sizes to run instead of the usual ones.

    Returns:
        0 if all were read, else 1.
    """
    right = total = 0
    for name, size in _stress_cases(names, sizes):
        with tempfile.TemporaryDirectory() as folder:
            trace = _generate(stress / name, size, Path(folder))
            outcome = reader.read(trace)
        good = is_expected(outcome, passes=True)
        right += good
        total += 1
        figures = f"{outcome.seconds:.2f} s, {outcome.peak >> 20} MiB"
        verdict = "ok" if good else f"UNEXPECTED, {outcome.summary}"
        print(f"  {name} {size}: {figures}, {verdict}", flush=True)
    print(f"{right}/{total}")
    return 0 if right == total > 0 else 1


def _stress_cases(
    names: Sequence[str], sizes: Sequence[int]
) -> Iterator[tuple[str, int]]:
    for name, usual in STRESS.items():
        if not names or any(name.endswith(end) for end in names):
            for size in sizes or usual:
                yield name, size


def _generate(case: Path, size: int, folder: Path) -> Path:
    """Let the script of a stress case write its trace into a folder."""
    # The scripts of the metadata cases take the size as an option, the others do not.
    asked = ["--size", str(size)] if "metadata" in case.parts else [str(size)]
    library = case.parents[5] / "utils" / "python"
    subprocess.run(
        [sys.executable, str(case / "test.py"), "prepare", *asked],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(library)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return folder / f"trace-{size}"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=description, epilog=rest.partition("\n\n")[2], allow_abbrev=False
    )
    parser.add_argument(
        "checkout",
        metavar="CHECKOUT",
        type=_absolute,
        help="a checkout of the test suite",
    )
    parser.add_argument(
        "--reader",
        metavar="COMMAND",
        type=shlex.split,
        default=[sys.executable, "-m", "vestige", "convert"],
        help="the reader under test; the trace is added (default: this vestige convert)",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        help="seconds for one trace (default: 10, with --stress 60)",
    )
    parser.add_argument("--verbose", action="store_true", help="print every case")
    parser.add_argument(
        "--stress",
        metavar="CASE",
        nargs="*",
        help="read large generated traces instead: these cases, or all of them",
    )
    parser.add_argument(
        "--size",
        dest="sizes",
        metavar="N",
        type=int,
        action="append",
        default=[],
        help="size of the stress cases, may be given again (default: a selection)",
    )
    parser.add_argument(
        "--memory",
        metavar="MIB",
        type=int,
        default=2048,
        help="most address space in a stress case, MiB (default: 2048)",
    )
    return parser.parse_args(arguments)


def _absolute(text: str) -> Path:
    return Path(text).resolve()


if __name__ == "__main__":
    sys.exit(main())
