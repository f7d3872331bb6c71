"""Sessions of a soak, and what each must have recorded at its end."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from .soak_oracle import ABSENT, MAY, MUST, Expected, Found, lost_in, read_trace
from .soak_programs import Counts

__all__ = ["BIG", "KINDS", "LEFT", "Report", "SoakSession", "check_numbers"]

BIG = "--subbuf-size=1M --num-subbuf=16"
RULE = "soaked:tick"
DUMP = "lttng_ust_statedump"
KINDS = {
    "users": ("", f"--buffers-uid {BIG}"),
    "processes": ("", "--buffers-pid --subbuf-size=64k --num-subbuf=16"),
    "small": ("", "--buffers-uid --subbuf-size=4k --num-subbuf=4"),
    "cleared": ("", f"--buffers-uid {BIG}"),
    "kept": ("--snapshot", f"--buffers-uid {BIG}"),
    "newest": ("--snapshot", "--buffers-uid --subbuf-size=4k --num-subbuf=4"),
}
"""Sorts of sessions: options of ``create`` and of ``enable-channel``."""
LEFT = "-left-"
"""In the names of snapshots of what was kept when a daemon was killed."""
TOLD_BY_STOP = re.compile(r"(\d+) events were discarded")
LONGEST_OVERLAP = 5_000_000_000
"""Nanoseconds: rings are cut one after the other, on a machine that is busy. Each ring
is cut at one moment."""


@dataclass
class Report:
    """What a session turned out to hold."""

    made: int = 0
    read: int = 0
    told: int = 0
    """Events that it tells were lost."""
    said: int = 0
    """Events that were lost, as stops have said: of a thread without any place in the
    buffers, nobody else tells them."""
    missing: int = 0
    """Events that it should have."""
    spare: int = 0
    """Events that it need not have, and has not."""
    archives: int = 0
    """Or snapshots."""
    unresolved: int = 0
    """Events without functions."""
    damage: int = 0
    """Complaints of readers about snapshots."""
    overlap: int = 0
    """Nanoseconds by which an archive begins before the end of the one before."""
    faults: list[str] = field(default_factory=list)


class SoakSession:
    """A session of a sort.

    Args:
        kind: The sort; also its name.
        folder: Where it writes.
        chance: Chooses its channels.
    """

    def __init__(self, kind: str, folder: Path, chance: random.Random) -> None:
        self.name = kind
        self.output = folder / kind
        self.expected = Expected(is_exact=kind not in {"small", "newest"})
        self.is_active = False
        self.is_enabled = True
        self.is_rotated = False
        """Since it became inactive, or cleared."""
        self.has_timer = False
        self.killed_while_active = False
        self.said = ""
        """What stopping and destroying it said."""
        self.snapshots: list[tuple[Path, Expected]] = []
        self._parts = chance.choice([1, 2]) if "newest" not in kind else 1

    kinds = KINDS

    @property
    def destination(self) -> str:
        """The option of ``create`` that says where it writes."""
        return f"--output={self.output}"

    @property
    def is_snapshot(self) -> bool:
        """Whether it is one of snapshots."""
        return self.name in {"kept", "newest"}

    def commands(self) -> list[list[str]]:
        """Return what sets it up."""
        mode, channel = self.kinds[self.name]
        found = [f"create {self.name} {mode} {self.destination}".split()]
        name = f"--session={self.name}"
        for part in range(self._parts):
            one = f"--channel=c{part}"
            found.append(["enable-channel", "-u", name, *channel.split(), f"c{part}"])
            contexts = ["-t", "vpid", "-t", "vtid", "-t", "ip"]
            found.append(["add-context", "-u", name, one, *contexts])
        return [*found, *self.dumps(), *self.rules()]

    def rules(self) -> list[list[str]]:
        """Return what enables its rules: channels share the events."""
        words = ["enable-event", "-u", f"--session={self.name}", RULE]
        return [
            [
                *words,
                f"--channel=c{part}",
                *(["--filter", f"(number & 1) == {part}"] if self._parts > 1 else []),
            ]
            for part in range(self._parts)
        ]

    def dumps(self) -> list[list[str]]:
        """Return what enables the rules of state dumps, which stay enabled."""
        words = ["enable-event", "-u", f"--session={self.name}", f"{DUMP}:*"]
        return [[*words, f"--channel=c{part}"] for part in range(self._parts)]

    def disabling(self) -> list[list[str]]:
        """Return what disables them."""
        words = ["disable-event", "-u", f"--session={self.name}", RULE]
        return [[*words, f"--channel=c{part}"] for part in range(self._parts)]

    def archives(self) -> list[Path]:
        """Return its chunks in order, the present one included."""
        folder = self.output / "archives"
        found = [*folder.iterdir()] if folder.is_dir() else []
        found.sort(key=lambda one: int(one.name.rpartition("-")[2]))
        present = self.output / "ust"
        return [*found, *([present] if any(present.rglob("metadata")) else [])]

    def check(self, counts: Counts) -> Report:
        """Compare what it has with what it must have.

        Args:
            counts: What was made.
        """
        if self.is_snapshot:
            return self._check_snapshots(counts)
        report = Report()
        chunks = [read_trace(one) for one in self.archives()]
        report.archives = len(chunks)
        _check_chunks(report, chunks)
        report.faults += [
            f"{one.place.name}: {one.unnamed} events have no functions"
            for one in chunks
            if one.unnamed
        ]
        if chunks:
            columns = ["writer", "number"]
            events = pl.concat([one.events.select(columns) for one in chunks])
        else:
            events = pl.DataFrame(schema=dict.fromkeys(("writer", "number"), pl.UInt64))
        report.told, packets = lost_in(self.output)
        report.said = sum(map(int, TOLD_BY_STOP.findall(self.said)))
        check_numbers(report, events, self.expected, counts)
        if not packets and report.missing > max(report.told, report.said):
            numbers = f"{report.told} told, {report.said} said"
            report.faults.append(f"{report.missing} missing, {numbers}")
        if report.told > report.missing + report.spare and self.name != "small":
            report.faults.append(f"{report.told} told, {report.missing} missing")
        # What was thrown away is told, too, by the numbers of packets.
        packets = 0 if self.name == "cleared" else packets
        if self.name != "small" and (report.missing or packets):
            report.faults.append(f"{report.missing} and {packets} packets lost")
        if self.killed_while_active and "recorded nothing from" not in self.said:
            report.faults.append(f"no gap was told: {self.said}")
        return report

    def _check_snapshots(self, counts: Counts) -> Report:
        report = Report(archives=len(self.snapshots))
        for place in self.output.glob(f"snapshot-*{LEFT}*"):
            left = read_trace(place)
            report.faults += [f"{place.name}: {one}" for one in left.complaints]
        for place, expected in self.snapshots:
            found = read_trace(place)
            one = Report()
            report.damage += len(found.complaints)
            one.faults += found.complaints
            if found.unnamed:
                one.faults.append(f"{found.unnamed} events have no functions")
            check_numbers(one, found.events, expected, counts)
            report.missing += one.missing if self.name == "kept" else 0
            report.unresolved += found.unresolved
            report.read += one.read
            report.faults += [f"{place.name}: {fault}" for fault in one.faults]
        return report


def _check_chunks(report: Report, chunks: list[Found]) -> None:
    last: dict[str, int] = {}
    end = 0
    for one in chunks:
        report.faults += [f"{one.place.name}: {line}" for line in one.complaints]
        report.unresolved += one.unresolved
        for stream, (begin, _) in one.times.items():
            if begin < last.get(stream, 0):
                report.faults.append(f"{one.place.name}: {stream} begins too early")
        last |= {stream: times[1] for stream, times in one.times.items()}
        if one.times:
            begin = min(first for first, _ in one.times.values())
            report.overlap = max(report.overlap, end - begin if end else 0)
            end = max(end, *(times[1] for times in one.times.values()))
    if report.overlap > LONGEST_OVERLAP:
        report.faults.append(f"archives overlap by {report.overlap} ns")


def check_numbers(
    report: Report, events: pl.DataFrame, expected: Expected, counts: Counts
) -> None:
    """Count what is missing, and note what should not be there."""
    report.read = events.height
    begun, done = counts.begun(), counts.done()
    report.made = int(done.sum())
    numbers = {
        key[0]: part["number"].to_numpy()
        for key, part in events.partition_by("writer", as_dict=True).items()
    }
    for writer in range(len(begun)):
        state = expected.of(writer, int(begun[writer]), int(done[writer]))
        there = numbers.pop(writer, np.zeros(0, dtype=np.uint64)).astype(np.int64)
        if len(there) and there.max() >= len(state):
            report.faults.append(f"writer {writer} has not made {there.max()}")
            continue
        times = np.bincount(there, minlength=len(state))
        _note(report, writer, "twice", times > 1)
        _note(report, writer, "not recorded", (times > 0) & (state == ABSENT))
        missing = (times == 0) & (state == MUST)
        report.missing += int(missing.sum())
        if expected.is_exact:
            _note(report, writer, "missing", missing)
        report.spare += int(((times == 0) & (state == MAY)).sum())
    if numbers:
        report.faults.append(f"no such writers: {sorted(numbers)[:5]}")


def _note(report: Report, writer: int, what: str, wrong: npt.NDArray[np.bool_]) -> None:
    if wrong.any():
        places = np.flatnonzero(wrong)
        report.faults.append(
            f"writer {writer}: {len(places)} {what}, {places[0]} to {places[-1]}"
        )
