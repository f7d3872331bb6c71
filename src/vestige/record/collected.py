"""What a recording holds, as whoever collected it tells."""

from __future__ import annotations

from .._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .own_directories import OwnDirectory

__all__ = ["WITHOUT_MEMORY", "Collected", "KernelCollected", "Unreached"]

WITHOUT_MEMORY = "it cannot reach the memory of the recording"
"""Why a process is not recorded that has the tracer."""


class Unreached(NamedTuple):
    """A process that is not recorded."""

    process: int
    """Its ID."""

    name: str
    """The name of its executable; that of the process where it cannot be read."""

    reason: str
    """Why it is not recorded: a part of a sentence."""

    parent: int = 0
    """The ID of the process that started it, where its own is not known and 0."""


class KernelCollected(NamedTuple):
    """What a recording holds of the kernel."""

    cpus: int
    records: int
    """Event records in files."""

    lost: int
    packets: int
    bytes: int
    """Of packets in files."""

    overwritten: int = 0
    """Event records that made room for newer ones in overwrite mode."""


class Collected:
    """What a recording holds.

    Args:
        streams: Data streams.
        packets: Packets in their files.
        lost: Event records that the tracer counted as lost.
        unplaced: Of these, those of threads without a place in memory.
        unbegun: And those of threads that never had a packet.
        untold: And those that a collector which takes over counts again.
        most_threads: How many had a place at one time, of one user, or some hundred
            more than that.
        overwritten: Bytes that made room for newer ones.
        lost_packets: Packets that did so in rings, and were never written.
        written: Bytes of packets that were written to files.
        running: IDs of processes that go on recording.
        unreached: Processes that were not recorded, and why.
        more_unreached: How many more there were.
        problems: What could not be written, for people.
        failure: Why writing first failed: the number of the error, and a sentence.
        is_drained: Whether nothing is left in memory.
        is_full: Whether the recording has reached its maximum size.
        is_damaged: Whether programs damaged the memory of the recording: events may be
            lost there that nobody has counted.
        is_elsewhere: Whether another directory has taken the place of the trace's.
        snapshots: Directories of the snapshots that were taken of it.
        archives: Directories of its archives, the oldest first.
    """

    def __init__(  # noqa: PLR0913 - counts of one thing
        self,
        streams: int = 0,
        packets: int = 0,
        lost: int = 0,
        *,
        unplaced: int = 0,
        unbegun: int = 0,
        untold: int = 0,
        most_threads: int = 0,
        overwritten: int = 0,
        lost_packets: int = 0,
        written: int = 0,
        running: Iterable[int] = (),
        unreached: Iterable[Unreached] = (),
        more_unreached: int = 0,
        problems: Iterable[str] = (),
        failure: tuple[int | None, str] | None = None,
        is_drained: bool = True,
        is_full: bool = False,
        is_damaged: bool = False,
        is_elsewhere: bool = False,
        snapshots: Iterable[str] = (),
        archives: Iterable[str] = (),
    ) -> None:
        self.streams = streams
        self.packets = packets
        self.lost = lost
        self.unplaced = unplaced
        self.unbegun = unbegun
        self.untold = untold
        self.most_threads = most_threads
        self.overwritten = overwritten
        self.lost_packets = lost_packets
        self.written = written
        self.running = frozenset(running)
        self.unreached = list(unreached)
        self.more_unreached = more_unreached
        self.problems = list(problems)
        self.failure = failure
        self.snapshots = tuple(snapshots)
        self.own_snapshots: tuple[OwnDirectory, ...] = ()
        """The directories of these, and what was made for them."""
        self.archives = tuple(archives)
        self.is_drained = is_drained
        self.is_full = is_full
        self.is_damaged = is_damaged
        self.is_elsewhere = is_elsewhere
        self.patched = 0
        """Functions whose entries were rewritten as planned."""
        self.kernel: KernelCollected | None = None
        """What it holds of the kernel, if that was recorded, too."""
        self.unpatched = 0
        """Functions that were wanted, too, and cannot be recorded."""
