"""What is recorded at this moment: sessions, recordings and programs, with rates."""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..daemon.client import Client
from .processes import command_name
from .recordings import Recorded, Recordings
from .written_events import OF_KERNEL, WHOLE, Written, WrittenEvents

__all__ = [
    "Counts",
    "Look",
    "Watch",
    "WatchedChannel",
    "WatchedRecording",
    "WatchedSession",
]


class Counts(NamedTuple):
    """What a channel or a session has recorded, and how fast."""

    events: int | None
    """Event records; ``None`` if nobody can tell yet."""

    is_exact: bool
    """Whether all of them were counted. What is still in buffers is estimated from
    what is in files, by its bytes."""

    bytes: int
    """Bytes in files and in buffers."""

    discarded_events: int
    """Event records that found no room."""

    lost_packets: int
    """Packets that are not in the files."""

    buffered: int
    """Bytes in buffers that were not written yet."""

    buffer_size: int
    """Bytes of all buffers."""

    fill: float
    """How full the fullest buffer is, from 0 to 1."""

    events_per_second: float | None = None
    """Since the look before; ``None`` at the first one."""

    bytes_per_second: float | None = None
    """As above."""

    lost_per_second: float | None = None
    """Discarded event records; as above."""

    def since(self, before: Counts | None, seconds: float) -> Counts:
        """Return the counts with their rates.

        Args:
            before: The counts at an earlier time.
            seconds: How long ago that was.
        """
        if before is None or seconds <= 0:
            return self
        events = None
        if self.events is not None:
            # An estimate may have been too high.
            events = max(0, self.events - (before.events or 0)) / seconds
        lost = self.discarded_events - before.discarded_events
        return self._replace(
            events_per_second=events,
            bytes_per_second=max(0, self.bytes - before.bytes) / seconds,
            lost_per_second=max(0, lost) / seconds,
        )


class WatchedChannel(NamedTuple):
    """A channel now."""

    name: str
    """Its name; of a channel of the kernel behind ``kernel/``."""

    is_enabled: bool
    counts: Counts


class WatchedSession(NamedTuple):
    """A session now."""

    name: str
    uid: int
    is_active: bool
    output: str | None
    channels: list[WatchedChannel]
    counts: Counts
    """Of all channels together."""


class WatchedRecording(NamedTuple):
    """A recording without a daemon now."""

    name: str
    """The last part of its directory."""

    uid: int
    pid: int
    """The process that records; 0 if it has none here."""

    is_answering: bool
    """Whether the counts are those of now."""

    output: str
    counts: Counts


class Look(NamedTuple):
    """All that was seen at one time."""

    time: float
    """Seconds since 1970."""

    seconds: float | None
    """Since the look before."""

    sessions: list[WatchedSession]
    programs: list[dict[str, Any]]
    """Each has ``pid``, ``uid``, ``name``, ``tracer``, the names of ``sessions``, and
    the directory of its ``recording`` or ``None``."""

    recordings: Sequence[WatchedRecording] = ()

    @property
    def names(self) -> list[str]:
        """The names of sessions and recordings."""
        names = {one.name for one in self.sessions}
        return sorted(names | {one.name for one in self.recordings})

    def only(self, name: str) -> Look:
        """Return what belongs to a session or a recording.

        Args:
            name: Its name.
        """
        recordings = [one for one in self.recordings if one.name == name]
        outputs = {one.output for one in recordings}
        return self._replace(
            sessions=[one for one in self.sessions if one.name == name],
            programs=[
                one
                for one in self.programs
                if name in one["sessions"] or one["recording"] in outputs
            ],
            recordings=recordings,
        )


class Watch:
    """Looks at what a daemon records, and at what is recorded without one.

    Args:
        client: The connection to a daemon; ``None``: there is none.
        recordings: Finds recordings; ``None``: they are left out.
    """

    def __init__(
        self, client: Client | None, recordings: Recordings | None = None
    ) -> None:
        self._client = client
        self._recordings = recordings
        self._written: dict[tuple[Any, ...], WrittenEvents] = {}
        self._densities: dict[tuple[Any, ...], float] = {}
        """Event records for each byte, of channels of which nothing is in files yet."""
        self._before: dict[tuple[Any, ...], Counts] = {}
        self._time: float | None = None
        self._wants_samples = True

    def look(self) -> Look:
        """Tell what is recorded now, and how fast since the last look.

        Raises:
            VestigeError: The daemon is gone.
        """
        found: dict[str, Any] = {"sessions": (), "programs": ()}
        if self._client is not None:
            found = self._client.statistics(samples=self._wants_samples)
        recorded = [] if self._recordings is None else self._recordings.look()
        self._wants_samples = False
        now = time.monotonic()
        seconds = None if self._time is None else now - self._time
        before, self._before, self._time = self._before, {}, now
        sessions = [
            self._session(one, before, seconds or 0.0) for one in found["sessions"]
        ]
        recordings = [self._recording(one, before, seconds or 0.0) for one in recorded]
        self._written = {
            key: one for key, one in self._written.items() if key in self._before
        }
        programs = [{**one, "recording": None} for one in found["programs"]]
        programs += [one for its in recorded for one in _programs_of(its)]
        return Look(time.time(), seconds, sessions, programs, recordings)

    def _recording(
        self, one: Recorded, before: dict[tuple[Any, ...], Counts], seconds: float
    ) -> WatchedRecording:
        key = (one.directory, one.uid)
        follower = self._written.setdefault(key, WrittenEvents(one.directory))
        written = follower.look(None).get(WHOLE, Written())
        counts = _channel_counts(_recording_facts(one), written, None)
        self._before[key] = counts
        return WatchedRecording(
            Path(one.directory).name,
            one.uid,
            one.pid,
            one.is_answering,
            one.directory,
            counts.since(before.get(key), seconds),
        )

    def _take_samples(
        self, key: tuple[Any, ...], facts: dict[str, Any], follower: WrittenEvents
    ) -> None:
        """Find out how large event records are of which none is in a file."""
        for one in facts["channels"]:
            if one.get("sample"):
                density = follower.density(b64decode(one["sample"]))
                if density is not None:
                    self._densities[(*key, one["name"])] = density

    def _session(
        self,
        facts: dict[str, Any],
        before: dict[tuple[Any, ...], Counts],
        seconds: float,
    ) -> WatchedSession:
        key = (facts["name"], facts["uid"], facts["created"])
        of_kernel = _kernel_channels(facts)
        told = [*of_kernel.values(), *facts["channels"]]
        written: dict[str, Written] = {}
        if facts["output"] is not None:
            names = [one["name"] for one in told]
            follower = self._written.setdefault(key, WrittenEvents(facts["output"]))
            written = follower.look(names)
            self._take_samples(key, facts, follower)
        found = [
            (
                one,
                _channel_counts(
                    one,
                    written.get(one["name"], Written()),
                    self._densities.get((*key, one["name"])),
                ),
            )
            for one in told
        ]
        # Of buffers of the kernel there are none.
        self._wants_samples |= any(
            counts.events is None and one["name"] not in {*written, *of_kernel}
            for one, counts in found
        )
        counts = _sum(one for _, one in found)
        self._before[key] = counts
        channels = []
        for one, its in found:
            own = (*key, one["name"])
            self._before[own] = its
            since = its.since(before.get(own), seconds)
            channels.append(WatchedChannel(one["name"], one["enabled"], since))
        return WatchedSession(
            facts["name"],
            facts["uid"],
            facts["active"],
            facts["output"],
            channels,
            counts.since(before.get(key), seconds),
        )


def _kernel_channels(facts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what is told of channels of the kernel, by the names they have here."""
    named = [
        {**one, "name": f"{OF_KERNEL}{one['name']}"}
        for one in facts.get("kernel_channels", ())
    ]
    return {one["name"]: one for one in named}


def _recording_facts(one: Recorded) -> dict[str, Any]:
    """Return what a collector tells, as a daemon tells it of a channel."""
    return {
        "bytes": one.bytes,
        "discarded_events": one.lost,
        "lost_packets": one.lost_packets,
        "buffered": one.unwritten,
        "buffer_size": one.ring * one.rings,
        "fill": min(one.fullest / one.ring, 1.0) if one.ring else 0.0,
    }


def _programs_of(recording: Recorded) -> Iterator[dict[str, Any]]:
    for one in recording.processes:
        uid = recording.uid
        with suppress(OSError):
            # Root's programs may be those of others by now.
            uid = Path(f"/proc/{one.pid}").stat().st_uid if one.pid else uid
        yield {
            "pid": one.pid,
            "uid": uid,
            "name": command_name(one.pid) or one.name,
            "tracer": "vestige",
            "sessions": [],
            "recording": recording.directory,
        }


def _channel_counts(
    facts: dict[str, Any], written: Written, density: float | None
) -> Counts:
    """Join what the daemon has counted with what was read of the files."""
    events, counted, passed = written
    # A daemon before this one may have written some of the files.
    in_files = max(facts["bytes"], counted + passed)
    recorded = in_files + facts["buffered"]
    unseen = recorded - counted
    known: int | None = events
    if unseen > 0:
        if events:
            density = events / counted
        known = None if density is None else events + round(unseen * density)
    return Counts(
        known,
        unseen == 0,
        recorded,
        facts["discarded_events"],
        facts["lost_packets"],
        facts["buffered"],
        facts["buffer_size"],
        facts["fill"],
    )


def _sum(channels: Iterable[Counts]) -> Counts:
    found = [*channels]
    events = [one.events for one in found if one.events is not None]
    return Counts(
        sum(events) if events or not found else None,
        all(one.is_exact for one in found),
        sum(one.bytes for one in found),
        sum(one.discarded_events for one in found),
        sum(one.lost_packets for one in found),
        sum(one.buffered for one in found),
        sum(one.buffer_size for one in found),
        max((one.fill for one in found), default=0.0),
    )
