"""The ring buffers of a session, and the trace that they are written to.

There is one set for each user, or one for each process. What programs say of their
events becomes classes of the trace: those of the same description share one.
"""

from __future__ import annotations

import asyncio
import errno
import os
import time
import uuid as uuids
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from pathlib import Path

from ..channel_counts import ChannelCounts, Usage
from .channel_memory import channel_memory, possible_cpus
from .clock import Clock
from .fields import EnumLabels, UnknownFieldClassError, field_lines
from .metadata import event_text, stream_text, trace_text
from .overwriting_ring import OverwritingRing
from .packet_copies import PacketCopies
from .packet_end import end_packet
from .plan import ChannelPlan, SessionPlan
from .ring import Ring, RingIdentity, RingShape
from .ring_files import RingFolder
from .trace_dumps import TraceDumps
from .trace_files import (
    DataStreamFile,
    MetadataFile,
    OwnerFiles,
    TraceFolder,
    tell_live,
)

__all__ = ["ChannelBuffers", "TraceBuffers"]

QUIET_SECONDS, QUIET_PAUSE = 0.2, 0.002
"""How long a record that was begun may take after its program has stopped, and how
often one looks."""
STUCK_SECONDS = 1.0
"""How long nothing is committed to a sub-buffer that a killed program has left."""
MOST_CLASSES, MOST_CLASS_BYTES = 1 << 20, 64 << 20
"""Event classes of a channel, and what declares their fields."""
MOST_PIPE_BYTES = 4096
LIVE_MARGIN = 100
"""Of a second: that much older is what viewers are told to be complete. A program reads
the time of a record before it has its place, and may be interrupted in between."""
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EFBIG}


class TraceBuffers:
    """The buffers of a session for one user or one process.

    Args:
        plan: The session.
        parts: The directory below that of the session.
        domain: What the metadata says of user or process.
        clock: What programs read times from.
    """

    def __init__(
        self,
        plan: SessionPlan,
        parts: tuple[str, ...],
        domain: Mapping[str, str | int],
        clock: Clock,
    ) -> None:
        self.clock = clock
        self._domain = domain
        self.is_live = plan.live_timer > 0
        self.uuid = uuids.uuid4().bytes
        self.files: OwnerFiles | None = None
        self.folder = ""
        self.parts = parts
        self._place: TraceFolder | None = None
        self.metadata: MetadataFile
        self._copy: MetadataFile | None = None
        self.channels: dict[str, ChannelBuffers] = {}
        self._is_closed = False
        self.dumps = TraceDumps(self)
        self._removed: OSError | None = None
        """What there is to say of files that somebody has removed."""
        with ExitStack() as undo:
            if plan.output is not None:
                self.files = OwnerFiles(plan.output, plan.uid, plan.gid)
                # Names of processes are made anew each time.
                is_new = not plan.is_taken_over and not plan.is_per_process
                self._place = TraceFolder(
                    self.files, parts, "replaced" if is_new else "kept"
                )
                undo.callback(self._place.release)
                self.folder = self._place.path
            self.metadata = MetadataFile(self.files, self.folder, self.uuid)
            undo.callback(self.metadata.close)
            self.rings = self._make_folder(plan, parts)
            undo.pop_all()
        self.declare(trace_text(self.uuid, domain, clock))

    def _make_folder(self, plan: SessionPlan, parts: tuple[str, ...]) -> RingFolder:
        """Make the directory of the rings."""
        facts = {
            "output": self.folder,
            "session": plan.name,
            "uid": plan.uid,
            "gid": plan.gid,
            "is_owners": plan.has_own_rings,
        }
        rings = RingFolder(plan.rings, parts, facts)
        if plan.has_own_rings or plan.output is None:
            # So that nothing else is needed to read them after a crash or a kill.
            folder = str(rings.path)
            self._copy = MetadataFile(rings.files, folder, self.uuid)
        return rings

    def declare(self, text: str) -> None:
        """Add a declaration to the metadata.

        Args:
            text: In TSDL.
        """
        for file in (self.metadata, self._copy):
            if file is not None:
                file.add(text)

    def declare_again(self) -> None:
        """Write the metadata anew, with what the clock's offset is now."""
        text = trace_text(self.uuid, self._domain, self.clock)
        for file in (self.metadata, self._copy):
            if file is not None:
                file.rewrite(text)

    def channel(self, plan: ChannelPlan) -> ChannelBuffers:
        """Return the buffers of a channel, which are made if there are none.

        Args:
            plan: The channel.
        """
        found = self.channels.get(plan.name)
        if found is None:
            found = ChannelBuffers(self, plan, len(self.channels))
            self.channels[plan.name] = found
        return found

    async def complete(self) -> None:
        """Write all that programs, which have stopped, have recorded."""
        self._removed = self.restore() or self._removed
        for channel in self.channels.values():
            await channel.complete()
        self.metadata.write()

    def hold(self, *, is_held: bool) -> None:
        """Leave full sub-buffers where they are for the moment, or go on.

        Args:
            is_held: Whether they are left.
        """
        for channel in self.channels.values():
            channel.hold(is_held=is_held)

    def restore(self) -> OSError | None:
        """Begin files anew that somebody has removed.

        Returns:
            What there is to say of that; ``None`` if they are there.
        """
        channels = self.channels.values()
        if not self.metadata.is_removed and not any(one.is_removed for one in channels):
            return None
        for channel in channels:
            channel.cut()
        self.metadata.cut()
        return OSError(errno.ENOENT, "was removed while it was written", self.folder)

    def end_chunk(self) -> None:
        """Write what is full.

        The directory may be moved then, with its files open; :meth:`begin_chunk` makes
        it anew. If it cannot be moved, all goes on where it is.

        Raises:
            OSError: The metadata are not complete: nobody could read the chunk.
        """
        self._removed = self.restore() or self._removed
        for channel in self.channels.values():
            channel.consume()
        self.metadata.write()
        if self.metadata.failure is not None:
            raise self.metadata.failure

    async def end_period(self, *, is_last: bool = False) -> None:
        """Write all that was recorded up to now, and say up to when that is.

        Whoever reads the files while they grow knows by that where no event can come.

        Args:
            is_last: Whether programs have stopped, and no record is on its way.
        """
        if self.files is None or self._is_closed:
            return
        margin = 0 if is_last else self.clock.frequency // LIVE_MARGIN
        time = self.clock.read() - margin
        # One whose program is stopped in the middle of a record may have more.
        are_whole = [await one.end_packets() for one in [*self.channels.values()]]
        if all(are_whole) and not self._is_closed:
            with suppress(OSError):
                tell_live(self.files, self.folder, time)

    @property
    def chunk_size(self) -> int:
        """How many bytes of packets were written since a chunk was ended."""
        return sum(one.chunk_size for one in self.channels.values())

    def begin_chunk(self) -> None:
        """Go on with a trace of its own, with the same metadata."""
        for channel in self.channels.values():
            channel.cut()
        self.metadata.cut()
        self.dumps.begin_chunk()

    def clear(self) -> None:
        """Throw away what was recorded up to now."""
        for channel in self.channels.values():
            channel.clear()
        self.dumps.clear()

    def take_failure(self) -> OSError | None:
        """Return why a part of the trace was not written, each time once.

        Metadata that are still not complete are told again.
        """
        failures = [one.failure for one in self.channels.values()]
        for channel in self.channels.values():
            channel.failure = None
        failures[:0] = [self._removed, self.metadata.failure, self.dumps.failure]
        self._removed = self.dumps.failure = None
        return next((one for one in failures if one is not None), None)

    def close(self) -> None:
        """Let the buffers go; the files stay."""
        self._is_closed = True
        for channel in self.channels.values():
            channel.close()
        self.rings.remove()
        for file in (self.metadata, self._copy):
            if file is not None:
                file.close()
        if self._place is not None:
            self._place.release()


def _make_rings(
    path: str, cpus: int, shape: RingShape, identity: RingIdentity
) -> list[Ring]:
    """Make a ring for each CPU, or none."""
    kind = OverwritingRing if shape.is_overwriting else Ring
    rings: list[Ring] = []
    try:
        for cpu in range(cpus):
            rings.append(kind(f"{path}_{cpu}", cpu, shape, identity))  # noqa: PERF401 - those that are made are closed
    except BaseException as error:
        for ring in rings:
            ring.close()
            Path(ring.path).unlink()
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            size = shape.subbuf_size * (shape.num_subbuf + kind.spare)
            raise OSError(
                error.errno,
                f"no room for {cpus} ring buffers of {size} bytes each: "
                f"{os.strerror(error.errno or 0)}",
                str(Path(path).parent),
            ) from error
        raise
    return rings


class ChannelBuffers:
    """The rings of a channel, one for each CPU.

    Args:
        trace: What they belong to.
        plan: The channel.
        number: Its data stream class.
    """

    def __init__(self, trace: TraceBuffers, plan: ChannelPlan, number: int) -> None:
        self._trace = trace
        self.plan = plan
        self.number = number
        cpus = possible_cpus()
        shape = RingShape(
            plan.subbuf_size,
            plan.num_subbuf,
            plan.is_overwriting,
            # Nobody takes what is kept for snapshots.
            plan.read_timer > 0 or trace.files is None,
            plan.blocking_timeout,
        )
        identity = RingIdentity(number, trace.uuid, trace.clock)
        self.memory = channel_memory(shape, cpus, identity)
        with trace.rings.rights():
            self.rings = _make_rings(
                f"{trace.rings.path}/{plan.name}", cpus, shape, identity
            )
        if trace.files is None:
            # They are read by snapshots, which then take less time.
            for ring in self.rings:
                ring.populate()
        facts = {
            "subbuf_size": plan.subbuf_size,
            "num_subbuf": plan.num_subbuf,
            "is_overwriting": plan.is_overwriting,
            "cpus": cpus,
            "tracefile_size": plan.tracefile_size,
            "tracefile_count": plan.tracefile_count,
        }
        trace.rings.describe(plan.name, facts)
        self._files = [
            DataStreamFile(
                trace.files,
                trace.folder,
                f"{plan.name}_{ring.cpu}",
                (plan.tracefile_size, plan.tracefile_count),
            )
            if trace.files is not None
            else None
            for ring in self.rings
        ]
        self._wakes, self.wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._loop = asyncio.get_running_loop()
        self._copies = self._make_copies()
        woken_by = -1 if self._copies is None else self._copies.left
        self._woken_by = self._wakes if woken_by < 0 else woken_by
        self._loop.add_reader(self._woken_by, self._woken)
        self._classes: dict[tuple[str, int, bytes], int] = {}
        self._class_bytes = 0
        self._is_declared = self._is_closed = False
        self._pause: ExitStack | None = None
        """Holds the thread as long as nothing is to be written."""
        self._early_classes: list[str] = []
        """Of events that a program named before the channel's contexts: it may end, or
        a chunk may, in between."""
        self.failure: OSError | None = None
        """Why a part was not written."""
        self._written = self._unwritten = 0
        """What :meth:`sample` found last."""

    @property
    def lost(self) -> int:
        """How many event records found no room."""
        return sum(ring.lost for ring in self.rings)

    @property
    def lost_packets(self) -> int:
        """How many packets are not in the files; where there are none, none are."""
        if self._trace.files is None:
            return 0
        return self._unwritten + sum(
            ring.damaged + ring.overwritten + ring.cut for ring in self.rings
        )

    def declare(self, contexts: list[str]) -> None:
        """Take the contexts of the channel, as the first program has them.

        Args:
            contexts: Their declarations.
        """
        if self._is_declared:
            return
        self._is_declared = True
        self._trace.declare(stream_text(self.number, contexts, self._trace.clock))
        early, self._early_classes = self._early_classes, []
        for text in early:
            self._trace.declare(text)
        if self._trace.is_live:
            self._begin_streams()

    def _begin_streams(self) -> None:
        """Let viewers know of all data streams before any of them has events.

        They take no stream with a packet that begins before what they have seen of
        others, as the first one of a CPU does where nothing was recorded for a while.
        """
        for ring in self.rings:
            with suppress(OSError):
                end_packet(ring, is_first=True)
        self.consume()

    def event_class(
        self,
        name: str,
        level: int,
        raw: bytes,
        enums: Mapping[int, EnumLabels],
        uri: str,
    ) -> int:
        """Return the ID of an event class, which is made if it is new.

        Args:
            name: The full name of the event.
            level: Its log level.
            raw: Its fields, as a program sent them.
            enums: The enumerations that the program has named.
            uri: Where it is described.

        Raises:
            UnknownFieldClassError: One of its fields has no TSDL here, or there are
                too many classes.
        """
        fields = field_lines(raw, enums)
        key = (name, level, "\n".join(fields).encode())
        number = self._classes.get(key)
        if number is None:
            size = self._class_bytes + len(name) + len(key[2]) + len(uri)
            if len(self._classes) >= MOST_CLASSES or size > MOST_CLASS_BYTES:
                raise UnknownFieldClassError("expected fewer event classes")
            self._class_bytes = size
            number = self._classes[key] = len(self._classes)
            text = event_text(
                name, number, self.number, level=level, fields=fields, uri=uri
            )
            if self._is_declared:
                self._trace.declare(text)
            else:
                self._early_classes.append(text)
        return number

    def _make_copies(self) -> PacketCopies | None:
        files = [one for one in self._files if one is not None]
        if not files or self.plan.is_overwriting:
            return None
        wakes = (self._wakes, self.wake)
        for has_thread in (self.plan.blocking_timeout != 0, False):
            # Without memory for a thread it is done later, and without a map slower.
            with suppress(OSError):
                return PacketCopies(self.rings, files, wakes, has_thread=has_thread)
        return None

    def _held(self) -> AbstractContextManager[None]:
        """Let no thread touch rings and files meanwhile."""
        return nullcontext() if self._copies is None else self._copies.held()

    def _woken(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._woken_by, MOST_PIPE_BYTES)
        if self._pause is None:
            self.consume()

    def hold(self, *, is_held: bool) -> None:
        """Leave full sub-buffers where they are for the moment, or go on.

        Args:
            is_held: Whether they are left. What is completed is written all the same.
        """
        if self._is_closed or is_held == (self._pause is not None):
            return
        if is_held:
            self._pause = ExitStack()
            self._pause.enter_context(self._held())
        elif self._pause is not None:
            self._pause.close()
            self._pause = None
            self.consume()

    @property
    def chunk_size(self) -> int:
        """How many bytes of packets were written since a chunk was ended."""
        with self._held():
            return sum(0 if one is None else one.chunk_size for one in self._files)

    @property
    def is_removed(self) -> bool:
        """Whether somebody has removed files that are written."""
        return any(one is not None and one.is_removed for one in self._files)

    def cut(self) -> None:
        """Close the files; later packets begin new ones."""
        with self._held():
            for file in self._files:
                if file is not None:
                    file.cut()

    def clear(self) -> None:
        """Throw away the sub-buffers that are full, and the files."""
        with self._held():
            for ring, file in zip(self.rings, self._files, strict=True):
                last = None
                for packet in ring.take():
                    last = packet._replace(data=memoryview(b""))
                if file is not None:
                    try:
                        file.clear(last)
                    except OSError as error:
                        self.failure = error

    async def end_packets(self) -> bool:
        """End the packets that are not full, and wait a moment until they are whole.

        Whoever is in a record now has ended it soon, unless it is stopped there: then
        the rest of the packets comes later.

        Returns:
            Whether all that was recorded up to now is written.
        """
        if self._is_closed:
            return False
        ends = []
        for ring in self.rings:
            with suppress(OSError):
                ends.append((ring, end_packet(ring)))
        deadline = time.monotonic() + QUIET_SECONDS
        self.consume()
        # A program may end meanwhile: all of it is written then.
        while not self._is_closed and not all(
            ring.has_taken_up_to(end) for ring, end in ends
        ):
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(QUIET_PAUSE)
            self.consume()
        return not self._is_closed

    def consume(self) -> None:
        """Write the sub-buffers that are full; without files they stay."""
        if self._trace.files is None or self._is_closed:
            return
        with self._held():
            if self._copies is not None:
                self._copies.copy()
            self._consume_rest()

    def _consume_rest(self) -> None:
        """Write what is not copied otherwise."""
        for ring, file in zip(self.rings, self._files, strict=True):
            before = ring.damaged
            for packet in ring.take():
                assert file is not None  # noqa: S101 - there are files
                # The next one may find room again.
                try:
                    file.write(packet)
                except OSError as error:
                    self._unwritten += 1
                    self.failure = error
                else:
                    self._written += len(packet.data)
            if ring.damaged > before and self.failure is None:
                self.failure = OSError(
                    errno.EILSEQ, "a program damaged its ring buffer", ring.path
                )

    def counts(self) -> ChannelCounts:
        """Return what was recorded so far; nothing is waited for."""
        used = [ring.filled for ring in self.rings]
        size = self.plan.subbuf_size * self.plan.num_subbuf
        with self._held():
            written = self._written + (self._copies.copied if self._copies else 0)
        return ChannelCounts(
            written,
            self.lost,
            self.lost_packets,
            sum(used),
            size * len(used),
            max(used) / size,
        )

    def sample(self, *, is_active: bool = True) -> Usage:
        """Look how full the rings are.

        Args:
            is_active: Whether programs record: then the header of the sub-buffer that
                is next to be filled counts, as with LTTng.
        """
        size = self.plan.subbuf_size * self.plan.num_subbuf
        fullest = max(ring.used if is_active else ring.filled for ring in self.rings)
        return Usage(fullest, size, sum(ring.taken for ring in self.rings))

    async def complete(self) -> None:
        """End the sub-buffers that are not full, and write all."""
        if self._trace.files is None:
            return
        deadline = time.monotonic() + QUIET_SECONDS
        for ring in self.rings:
            while not ring.is_quiet() and time.monotonic() < deadline:  # noqa: ASYNC110 - memory tells nobody
                await asyncio.sleep(QUIET_PAUSE)
        self.end_open()

    def end_open(self) -> None:
        """Do so at once: no program writes to them."""
        self.consume()
        for ring in self.rings:
            self._end_stuck(ring)
            ring.end_open()
        self.consume()

    def _end_stuck(self, ring: Ring) -> None:
        for _ in range(self.plan.num_subbuf):
            stuck = ring.stuck
            if stuck is None:
                return
            ring.end_stuck(stuck[0])
            self.consume()

    async def free(self) -> None:
        """End what a program that was killed has not committed: others wait for it."""
        before = [ring.stuck for ring in self.rings]
        if not any(before):
            return
        # Whoever is in a record now, and lives, has ended it by then.
        await asyncio.sleep(STUCK_SECONDS)
        if self._is_closed:
            return
        for ring, stuck in zip(self.rings, before, strict=True):
            if stuck is not None and ring.stuck == stuck:
                ring.end_stuck(stuck[0])
        self.consume()

    def close(self) -> None:
        """Let the rings go; the files stay."""
        self.hold(is_held=False)
        self._is_closed = True
        self._loop.remove_reader(self._woken_by)
        if self._copies is not None:
            self._copies.close()
        os.close(self._wakes)
        os.close(self.wake)
        for file in self._files:
            if file is not None:
                file.close()
        for ring in self.rings:
            ring.close()
