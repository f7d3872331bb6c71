"""What sessions and triggers cost the programs that are recorded, event by event.

Parts of ``make bench-sessions``: a filter that is false, an event and its notification,
and how long events take while chunks are archived.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from support.compilers import run_tool
from vestige.record.development import compile_flags, link_flags, native_directory

if TYPE_CHECKING:
    from bench.sessions import Daemon

__all__ = ["Variant", "event_rows", "variants"]

HERE = Path(__file__).parent
SOURCES = ("timed_points", "timed_notifications", "timed_pace")
FALSE = ("--filter", "number < 0")
MATCHES = ("--condition", "event-rule-matches", "--type", "user", "--name", "points:*")
ROTATION = "--timer=100000"
"""Ten times a second, in microseconds."""

Pair = tuple[float, float]


class Variant:
    """Programs of a kind, under a daemon.

    Args:
        daemon: The daemon.
        folder: Where the programs are.
        library: Where its control library is, if not where the system has it.
    """

    def __init__(self, daemon: Daemon, folder: Path, library: Path | None) -> None:
        self.daemon, self._folder, self._library = daemon, folder, library

    def run(self, program: str, *words: object) -> dict[str, float]:
        """Run a program, and return the numbers that it prints.

        Args:
            program: Its name.
            words: Its command line.
        """
        where = [] if self._library is None else [f"LD_LIBRARY_PATH={self._library}"]
        path = self._folder / program
        done = self.daemon.run(["env", *where, str(path), *map(str, words)])
        if done.returncode:
            sys.exit(f"{self.daemon.name}: {program} ended with {done.returncode}")
        pairs = (one.split("=") for one in done.stdout.decode().split())
        return {name: float(number) for name, number in pairs}

    def do(self, *words: str) -> None:
        """Run a session command that succeeds.

        Args:
            words: The command.
        """
        done = self.daemon.run([*self.daemon.lttng, *words])
        if done.returncode:
            sys.exit(f"{self.daemon.name}: {' '.join(words)}: {done.stderr.decode()}")


def variants(own: Daemon, other: Daemon, folder: Path) -> list[tuple[str, Variant]]:
    """Build the programs; return those that are compared, LTTng's last.

    Args:
        own: Our daemon.
        other: The other one.
        folder: Where programs are built.
    """
    ours, theirs = folder / "ours", folder / "theirs"
    library = native_directory() / "lib"
    for place, flags, libraries in (
        (ours, compile_flags(), [*link_flags(), "-llttng-ust"]),
        (theirs, [], ["-llttng-ust", "-ldl"]),
    ):
        place.mkdir()
        for name in SOURCES:
            source = HERE / f"{name}.c"
            control = ["-llttng-ctl"] if "notifications" in name else []
            words = ["gcc", "-O2", *flags, f"-I{HERE}", "-o", place / name, source]
            run_tool([*words, *control, *libraries])
    return [
        ("Vestige's tracer", Variant(own, ours, library)),
        ("LTTng-UST", Variant(own, theirs, library)),
        ("", Variant(other, theirs, None)),
    ]


def _begin(variant: Variant, output: str, *rule: str) -> None:
    for words in (
        ["create", "b", f"--output={output}"],
        ["enable-channel", "-u", "--subbuf-size=1M", "--num-subbuf=4", "c"],
        ["enable-event", "-u", "-c", "c", "points:*", *rule],
        ["start", "b"],
    ):
        variant.do(*words)


def _pass(variant: Variant, passes: int) -> float:
    """Return the nanoseconds of an event, the least of some runs."""
    runs = [variant.run("timed_points", passes) for _ in range(3)]
    return min(run["call"] - run["bare"] for run in runs)


def in_rule(variant: Variant, passes: int) -> float:
    """Return the nanoseconds of an event whose filter is false in a session's rule."""
    with tempfile.TemporaryDirectory() as output:
        _begin(variant, output, *FALSE)
        taken = _pass(variant, passes)
        variant.do("destroy", "b")
    return taken


def in_trigger(variant: Variant, passes: int) -> float:
    """Return the nanoseconds of an event whose filter is false in a trigger."""
    variant.do("add-trigger", "--name=t", *MATCHES, *FALSE, "--action", "notify")
    taken = _pass(variant, passes)
    variant.do("remove-trigger", "t")
    return taken


def notified(variant: Variant, count: int) -> tuple[float, float]:
    """Return the milliseconds from an event to its notification: median, 99 of 100."""
    found = variant.run("timed_notifications", count)
    return found["median"] / 1000, found["p99"] / 1000


def paced(variant: Variant, seconds: float, *, rotates: bool) -> float:
    """Return the microseconds that 99.99 of 100 events take, one each microsecond."""
    with tempfile.TemporaryDirectory() as output:
        _begin(variant, output)
        if rotates:
            variant.do("enable-rotation", ROTATION)
        taken = variant.run("timed_pace", seconds)["p9999"]
        if rotates:
            variant.do("disable-rotation", "--timer")
        variant.do("destroy", "b")
        chunks = [*Path(output).glob("archives/*")]
        if rotates and len(chunks) < 2 * seconds:
            sys.exit(f"{variant.daemon.name}: {len(chunks)} chunks")
    return taken / 1000


def event_rows(
    compared: Sequence[tuple[str, Variant]], *, is_quick: bool
) -> Iterator[tuple[str, str, list[Pair]]]:
    """Yield what the rows of the table are made of: job, unit, pairs.

    Args:
        compared: Of :func:`variants`.
        is_quick: Whether there are fewer runs.
    """
    passes, count, rounds, seconds = (
        (500_000, 300, 3, 1.0) if is_quick else (3_000_000, 1000, 3, 3.0)
    )

    def pairs(measure: Callable[[Variant], float]) -> Iterator[tuple[str, list[Pair]]]:
        runs = [[measure(one) for _, one in compared] for _ in range(rounds)]
        for index, (kind, _) in enumerate(compared[:-1]):
            yield kind, [(run[index], run[-1]) for run in runs]

    for job, measure in (
        ("a filter that is false in a rule", in_rule),
        ("a filter that is false in a trigger", in_trigger),
    ):
        for kind, found in pairs(lambda one, how=measure: how(one, passes)):  # type: ignore[misc]
            yield f"{job}, {kind}", "ns", found
    told = [notified(one, count) for _, one in compared]
    for index, share in enumerate(("median", "99 of 100")):
        for (kind, _), one in zip(compared[:-1], told, strict=False):
            pair = (one[index], told[-1][index])
            yield f"an event to its notification, {share}, {kind}", "ms", [pair]
    for job, rotates in (
        ("without archives", False),
        ("with ten archives a second", True),
    ):
        for kind, found in pairs(
            lambda one, how=rotates: paced(one, seconds, rotates=how)
        ):  # type: ignore[misc]
            yield f"99.99 of 100 events {job}, {kind}", "µs", found
