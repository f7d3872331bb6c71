"""Sessions of a soak that are sent to a relay daemon, which may be killed."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import polars as pl

from vestige.record.backends.lttng_ust.trace_files import (
    INDEX_ENTRY,
    INDEX_FOLDER,
    INDEX_HEADER,
    PACKET_CONTEXT,
)
from vestige.record.relay.spool import CONTEXT_AT

from .child_relay import ChildRelay
from .soak_oracle import Expected, Found, lost_in, read_trace
from .soak_programs import Counts
from .soak_sessions import BIG, TOLD_BY_STOP, Report, SoakSession, check_numbers

__all__ = ["SentSession"]

SENT_KINDS = {
    "users": ("", f"--buffers-uid {BIG}"),
    "processes": ("", "--buffers-pid --subbuf-size=64k --num-subbuf=16"),
    "small": ("", "--buffers-uid --subbuf-size=4k --num-subbuf=4"),
    "cleared": ("", f"--buffers-uid {BIG}"),
    "live": ("--live=50ms", f"--buffers-uid {BIG}"),
    "steady": ("", f"--buffers-uid {BIG}"),
    "kept": ("--snapshot", f"--buffers-uid {BIG}"),
}
"""As :data:`.soak_sessions.KINDS`."""
STEADY = {"steady", "kept"}
"""Those whose relay daemon stays."""
UNNAMED = "have no functions"
BITS, ENDS_AT = 5, CONTEXT_AT + PACKET_CONTEXT.size


class SentSession(SoakSession):
    """A session of a sort.

    Args:
        kind: The sort; also its name.
        relay: Who gets it.
        chance: Chooses its channels.
    """

    kinds = SENT_KINDS

    def __init__(self, kind: str, relay: ChildRelay, chance: random.Random) -> None:
        super().__init__(kind, relay.output / os.uname().nodename, chance)
        self.relay = relay
        self.is_steady = kind in STEADY
        self.is_live = kind == "live"
        # Who is killed may have kept what would have been removed.
        keeps = not self.is_steady
        self.expected = Expected(is_exact=kind != "small", keeps_cleared=keeps)
        self.cuts = self.unusable = self.repeated = 0
        """Packets and indexes that were half there, traces whose metadata had not come,
        and events that are in two traces."""

    @property
    def destination(self) -> str:
        """The option of ``create`` that says where it is sent to."""
        path = f"/{self.name}" if self.is_snapshot else ""
        return f"--set-url={self.relay.url}{path}"

    def check(self, counts: Counts) -> Report:
        """Compare what is there with what must be there.

        Args:
            counts: What was made.
        """
        if self.is_snapshot:
            return super().check(counts)
        report = Report()
        columns = ["writer", "number"]
        parts = [pl.DataFrame(schema=dict.fromkeys(columns, pl.UInt64))]
        places = self.relay.sessions(self.name)
        for place in places:
            found = self._read(place)
            report.faults += [f"{place.name}: {one}" for one in found.complaints]
            events = found.events.select(columns).cast(pl.UInt64)
            if twice := events.is_duplicated().sum():
                report.faults.append(f"{place.name}: {twice} events are there twice")
            parts.append(events)
            report.told += lost_in(place)[0]
            report.unresolved += found.unresolved
        all_events = pl.concat(parts)
        events = all_events.unique()
        self.repeated = all_events.height - events.height
        report.archives = len(places)
        report.said = sum(map(int, TOLD_BY_STOP.findall(self.said)))
        check_numbers(report, events, self.expected, counts)
        counted = max(report.told, report.said)
        # Records of state dumps that have no room are told, too, and those before a
        # packet that is in two traces are told by both.
        most = report.missing + report.spare if self.expected.is_exact else counted
        if not report.missing <= counted <= most:
            numbers = f"{report.told} told, {report.said} said"
            report.faults.append(f"{report.missing} missing, {numbers}")
        if "are lost" in self.said:
            report.faults.append(f"lost at the end: {self.said}")
        if self.is_steady and (self.repeated or len(places) != 1):
            report.faults.append(f"{self.repeated} twice in {len(places)} traces")
        return report

    def _read(self, place: Path) -> Found:
        """Read what is there of a connection, with both readers."""
        if not self.is_steady:
            self._describe(place)
            self._cut_halves(place)
        found = read_trace(place)
        if not self.is_steady:
            # What was in memory is there before what describes it.
            found.complaints = [
                one for one in found.complaints if not one.endswith(UNNAMED)
            ]
        return found

    def _describe(self, place: Path) -> None:
        """Give traces metadata that had none when the relay was killed.

        If they were on their way anew, packets were confirmed before; another directory
        has the same trace. Else nothing was, and all of it is in the next directory.
        """
        for metadata in [*place.rglob("metadata")]:
            if not metadata.stat().st_size:
                trace = "/".join(metadata.parts[metadata.parts.index("ust") :])
                others = [
                    one
                    for other in self.relay.sessions(self.name)
                    for one in other.rglob(trace)
                    if one.stat().st_size
                ]
                if others:
                    shutil.copyfile(others[0], metadata)
                else:
                    shutil.rmtree(metadata.parent)
                self.unusable += 1

    def _cut_halves(self, place: Path) -> None:
        """Cut what had come of packets; Babeltrace 2 reads nothing of such a trace.

        Indexes that were begun, or list what is cut, are removed.
        """
        for metadata in place.rglob("metadata"):
            for one in metadata.parent.iterdir():
                if one.is_file() and one != metadata:
                    end, size = _whole_packets(one), one.stat().st_size
                    if end != size:
                        os.truncate(one, end)
                        self.cuts += 1
                    index = metadata.parent / INDEX_FOLDER / f"{one.name}.idx"
                    if index.exists() and not _lists(index, end):
                        # Babeltrace 2 complains before it reads the packets instead.
                        index.unlink()
                        self.cuts += 1


def _lists(index: Path, size: int) -> bool:
    """Tell whether an index lists all packets of a file, and nothing else.

    Args:
        index: The index, which may have come in part.
        size: Bytes of the file.
    """
    raw = index.read_bytes()
    entries = raw[INDEX_HEADER.size :]
    if len(raw) < INDEX_HEADER.size or len(entries) % INDEX_ENTRY.size:
        return False
    listed: int = sum(one[1] // 8 for one in INDEX_ENTRY.iter_unpack(entries))
    return listed == size


def _whole_packets(path: Path) -> int:
    """Return how many bytes the packets have that are there as a whole."""
    at, size = 0, path.stat().st_size
    with path.open("rb") as file:
        while at + ENDS_AT <= size:
            file.seek(at)
            facts = PACKET_CONTEXT.unpack_from(file.read(ENDS_AT), CONTEXT_AT)
            packet = facts[BITS] // 8
            if not ENDS_AT <= packet <= size - at:
                break
            at += packet
    return at
