"""Sends the spool of a recording to a relay daemon, in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from ..._typing import NamedTuple
from ...owner_rights import owner_rights
from . import messages
from .chunk import Chunk, SentTrace
from .connection import RelayAddress, RelayConnection, has_session
from .messages import RelayStream, SessionFacts
from .metadata_packets import is_plain, packetised
from .resuming import Left, read_left, remove_left, write_left
from .segments import Place, Segment, SentStream
from .spool import Packet

__all__ = ["RelaySender", "SenderPlan"]

BUSY_PAUSE, IDLE_PAUSE = 0.01, 0.2
"""Seconds between two looks at a spool that grows, and at one that does not."""
LOST_SECONDS = 3.0
"""How long anybody waits for a relay daemon that cannot be reached."""
FIRST_RETRY, LONGEST_RETRY = 0.1, 2.0
"""Seconds between attempts to reach the relay daemon."""
MOST_UNASKED = 1 << 20
"""Bytes of a stream that are sent before it is asked whether they have come."""
NO_PACKET = (1 << 64) - 1
NUMBERS_OF_NONE = 1 << 62
"""From here on, chunks have numbers that no session comes to."""
LARGEST_FILES, SMALLEST_FILE = 32 << 20, 256 << 10
"""Bytes of all files together that are kept until they have come as a whole, and of one
at least. More data streams have one file each, and nothing of these is kept that has
come once they are larger together."""
GONE_SECONDS, CLOSED_SECONDS = 10.0, 5.0
"""How long what an earlier connection has begun may still be there, and how long what
is to become of a chunk is waited for."""
FIRST_LOOK, LONGEST_LOOK = 0.001, 0.1
"""Seconds between questions whether a chunk is still there."""


class SenderPlan(NamedTuple):
    """What is sent, and where to."""

    address: RelayAddress
    session: SessionFacts
    spool: str
    """The directory of the recording."""
    uid: int
    gid: int
    """Whose it is."""
    room: int
    """Bytes in the spool after which nothing more is collected."""


class _Found(NamedTuple):
    """What there is to be sent of a trace."""

    trace: SentTrace
    time: int | None
    """Up to when all is there, if that is known."""
    streams: list[tuple[SentStream, list[Packet]]]
    metadata: bytes | None
    """All of them, if they are others than before."""

    @property
    def has_packets(self) -> bool:
        """Whether there are packets."""
        return any(packets for _, packets in self.streams)


class RelaySender:
    """The thread, and what it has reached.

    Args:
        plan: What is sent.
        on_full: Called by the thread when there is no more room in the spool, and when
            there is again.
        limits: Returns of the path of a trace and the name of a stream the bytes of its
            files, and how many are kept.
        on_again: Called by the thread when another connection was made: what comes is
            another trace.
        is_resumed: Whether another sender had begun: the first one is such, too.
    """

    def __init__(
        self,
        plan: SenderPlan,
        on_full: Callable[[bool], None] | None = None,
        limits: Callable[[str, str], tuple[int, int]] | None = None,
        on_again: Callable[[], None] | None = None,
        *,
        is_resumed: bool = False,
    ) -> None:
        self._is_resumed = is_resumed
        self._plan = plan
        self._on_full = on_full
        self._limits = limits
        self._on_again = on_again
        self._lock = threading.Lock()
        """Held while the spool is looked at, and by those who move it."""
        self._state = threading.Condition()
        self._chunks: list[Chunk] = []
        self._connection: RelayConnection | None = None
        self._opened: Chunk | None = None
        """The chunk that the relay daemon has now."""
        self._connected = 0
        """How often a connection was made."""
        self._session = plan.session
        """What the relay daemon was told of it last."""
        self._is_moved = False
        """Whether the chunk is just moved there."""
        self._has_moved = False
        """Whether one was archived on this connection."""
        self._is_more_kept = False
        self._lost_since: float | None = None
        self._whole: list[tuple[SentStream, Segment]] = []
        """Files that have come, and are to be closed."""
        self._left: Left | None = read_left(plan.spool) if is_resumed else None
        self._is_live = plan.session.live_timer > 0
        self._is_kept = not plan.session.is_snapshot
        """Whether files are kept until they have come as a whole."""
        self._flushes = 0
        """How many wait for all to be there."""
        self._ending = threading.Event()
        self._is_full = False
        self._passes = 0
        self._is_clean = False
        """Whether the last pass has found nothing that is not confirmed."""
        self.failure: Exception | None = None
        """Why nothing is sent now."""
        self.lost_packets = self.lost_bytes = 0
        """What was given up."""
        self.path = ""
        """Where the session is on the relay daemon."""
        self.may_clear = True
        """Whether it may remove chunks, as far as that is known."""
        self._woken = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="vestige-relay", daemon=True
        )

    # For those who record.

    def connect(self) -> None:
        """Reach the relay daemon, for the first time.

        Raises:
            OSError: It is not there.
            RelayRefusedError: It does not take the session.
        """
        self._connect()

    def start(self, number: int, begin: float, name: str | None = None) -> None:
        """Send what comes from now on.

        Args:
            number: The number of the first chunk.
            begin: Since when it is recorded, in seconds since 1970.
            name: What its directory is called; ``None``: as LTTng calls chunks.
        """
        chunk = Chunk(number, int(begin), self._plan.spool, name)
        if self._left is not None and self._left.chunk == number:
            self._session, chunk.left = self._left.session, self._left.files
            chunk.follows_archives = self._left.follows_archives
        else:
            self._left = None
        self._chunks.append(chunk)
        self._thread.start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Look at nothing meanwhile: files are moved."""
        with self._lock:
            yield

    def end_chunk(
        self, moved_to: str | None, end: float, *, is_removed: bool = False
    ) -> Chunk:
        """End the present chunk and begin the next one; call it while paused.

        Args:
            moved_to: Where the chunk is now; ``None`` where it was.
            end: When, in seconds since 1970.
            is_removed: Whether it is to be removed.

        Returns:
            The chunk that has ended.
        """
        chunk = self._chunks[-1]
        if is_removed:
            chunk.drop()
        chunk.finish(int(end), messages.DELETE if is_removed else messages.MOVE)
        if moved_to is not None:
            chunk.folder = moved_to
        self._chunks.append(Chunk(chunk.number + 1, int(end), self._plan.spool))
        self._woken.set()
        return chunk

    def wait_for(self, chunk: Chunk, seconds: float) -> bool:
        """Wait until a chunk that has ended is on the relay daemon as a whole.

        Args:
            chunk: The chunk.
            seconds: How long at most nothing may come.
        """
        return self._wait(lambda: chunk.is_done, seconds)

    def flush(self, seconds: float) -> bool:
        """Wait until all that is in the spool now is on the relay daemon.

        Args:
            seconds: How long at most nothing may come.
        """
        with self._state:
            first = self._passes
            self._flushes += 1
        try:
            return self._wait(
                lambda: self._passes > first + 1 and self._is_clean, seconds
            )
        finally:
            with self._state:
                self._flushes -= 1

    def _wait(self, is_done: Callable[[], bool], seconds: float) -> bool:
        """Wait as long as something comes, and less long for a lost connection."""
        self._woken.set()
        last, since = self._moved(), time.monotonic()
        with self._state:
            while not is_done():
                if not self._thread.is_alive():
                    return False
                self._state.wait(0.1)
                self._woken.set()
                is_lost = self._connection is None
                most = min(seconds, LOST_SECONDS) if is_lost else seconds
                if (moved := self._moved()) != last:
                    last, since = moved, time.monotonic()
                elif time.monotonic() > since + most:
                    return False
        return True

    def _moved(self) -> tuple[int, int]:
        """Return what changes as long as something comes to the relay daemon."""
        connection = self._connection
        return self._sent, 0 if connection is None else connection.queued

    _sent = 0
    """Packets and pieces of metadata that were sent."""

    def end(
        self, seconds: float, *, end: float, what: int = messages.NOTHING
    ) -> str | None:
        """Send what is left, and end the session on the relay daemon.

        Args:
            seconds: How long at most nothing may come.
            end: When the recording has ended, in seconds since 1970.
            what: What becomes of the last chunk there.

        Returns:
            Where the last chunk is; ``None``: it is not there as a whole.
        """
        chunk = self._chunks[-1]
        if self.flush(seconds):
            with self._lock:
                chunk.finish(int(end), what)
            self._wait(lambda: chunk.is_done, seconds)
        self._ending.set()
        self._woken.set()
        connection, failure = self._connection, self.failure
        if not chunk.is_done and connection is not None:
            # It may be waiting for a relay daemon that does nothing.
            connection.close()
            failure = failure or TimeoutError("the relay daemon confirms nothing")
        self._thread.join()
        self.failure = failure or self.failure
        self._give_up()
        return chunk.path if chunk.is_done else None

    def drop(self) -> None:
        """Forget a session that was never started."""
        self._disconnect()

    def _give_up(self) -> None:
        """Count what was not sent, or not confirmed."""
        for chunk in self._chunks:
            if not chunk.is_done:
                # The relay daemon may have refused the chunk before that.
                with suppress(OSError):
                    self._look(chunk)
            for stream in chunk.streams():
                stream.go_back()
                while packets := stream.spooled.packets(is_ended=True):
                    for packet in packets:
                        stream.spooled.take(packet)
                        self.lost_packets += 1
                        self.lost_bytes += packet.facts.size // 8
            chunk.close()

    # The thread.

    def _run(self) -> None:
        retry, pause = FIRST_RETRY, BUSY_PAUSE
        while not self._ending.is_set():
            self._woken.wait(pause)
            self._woken.clear()
            try:
                if self._connection is None:
                    self._connect()
                is_busy = self._pass()
            except Exception as error:  # noqa: BLE001 - answers may be anything
                self.failure = error
                self._disconnect()
                self._tell_room()
                self._end_pass(is_clean=False)
                # However often somebody asks meanwhile.
                self._ending.wait(retry)
                pause, retry = BUSY_PAUSE, min(retry * 2, LONGEST_RETRY)
            else:
                self.failure = self._lost_since = None
                retry = FIRST_RETRY
                longest = BUSY_PAUSE if self._is_live else IDLE_PAUSE
                pause = BUSY_PAUSE if is_busy else min(pause * 1.5, longest)
        self._disconnect()

    def _end_pass(self, *, is_clean: bool) -> None:
        with self._state:
            self._passes += 1
            self._is_clean = is_clean
            self._state.notify_all()

    def _connect(self) -> None:
        is_again = self._connected > 0 or self._left is not None
        is_same = is_again and self._may_resume()
        if is_again and not is_same:
            is_first = self._connected == 0
            self._session = self._plan.session if is_first else self._other_session()
        self._connection = RelayConnection(
            self._plan.address, self._session, self._wait_on
        )
        self.path = self._connection.path
        self.may_clear = self._connection.may_clear
        for chunk in self._chunks:
            chunk.resume(is_same=is_same)
        if not is_same and self._chunks:
            self._chunks[0].follows_archives = False
        is_other = not is_same and (self._connected > 0 or self._is_resumed)
        self._is_resumed, self._left = False, None
        self._connected += 1
        self._is_moved = self._has_moved = False
        if is_other and self._on_again is not None:
            self._on_again()

    def _may_resume(self) -> bool:
        """Tell whether this connection goes on where the one before has ended.

        Then files that have not come as a whole are sent again, and take the place of
        those that are there. Nobody may write these any more: a relay daemon that lives
        still has what it had got, and writes that first.

        Raises:
            ConnectionError: It does so now.
        """
        if not self._is_kept or self._is_moved:
            return False
        if not self._chunks or not self._chunks[0].may_resume:
            return False
        now = time.monotonic()
        if self._lost_since is None:
            self._lost_since = now
        if has_session(self._plan.address, self._session, self._chunks[0].number):
            if now < self._lost_since + GONE_SECONDS:
                raise ConnectionError("the relay daemon still has the lost connection")
            return False
        return True

    def _other_session(self) -> SessionFacts:
        """Return what is told of another trace: what is there stays as it is."""
        session = self._plan.session
        created = max(int(time.time()), self._session.created + 1)
        base = session.base_path
        if base:
            base += time.strftime("-%Y%m%d-%H%M%S", time.localtime(created))
        return session._replace(
            created=created,
            base_path=base,
            has_time=False,
            number=session.number + (self._connected << 32),
        )

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._opened = None
        self._whole.clear()
        for chunk in self._chunks:
            chunk.go_back()

    def _pass(self) -> bool:
        """Look at the first chunk once; whether there was something to do."""
        chunk = self._chunks[0]
        is_ended = chunk.end is not None
        is_busy = self._send(chunk)
        assert self._connection is not None  # noqa: S101 - for the types
        self._connection.take_answers(waits=not is_busy)
        self._close_whole()
        if self._is_more_kept:
            self._keep_less(chunk)
        is_clean = not is_busy and chunk.is_confirmed
        self._tell_room()
        if is_ended and is_clean:
            self._close_chunk(chunk)
            self._end_pass(is_clean=self._ending.is_set())
            return True
        self._end_pass(is_clean=is_clean and len(self._chunks) == 1)
        return is_busy or not is_clean

    def _wait_on(self) -> None:
        """See how much comes while the relay daemon takes nothing."""
        if self._on_full is not None:
            for chunk in self._chunks:
                self._look(chunk)
            self._tell_room()

    def _look(self, chunk: Chunk) -> None:
        """Find what has come."""
        with owner_rights(self._plan.uid, self._plan.gid), self._lock:
            if not chunk.is_dropped:
                chunk.look()
                for trace in chunk.traces.values():
                    trace.look(chunk.folder, is_ended=False)

    def _tell_room(self) -> None:
        """Say whether more is to be collected."""
        if self._on_full is not None:
            taken = sum(chunk.bytes for chunk in self._chunks)
            is_full = taken > self._plan.room
            if is_full != self._is_full:
                self._is_full = is_full
                self._on_full(is_full)

    def _send(self, chunk: Chunk) -> bool:
        self._open_chunk(chunk)
        # Before others are looked for: none of these has begun before.
        times = self._live_times(chunk)
        self._look(chunk)
        found = [
            self._found(chunk, one, times.get(path))
            for path, one in [*chunk.traces.items()]
        ]
        ready = [one for one in found if one is not None]
        # What has begun is known to viewers before they see what was recorded later.
        added = [self._announce(chunk, one) for one in ready]
        if any(added):
            connection = self._connection
            assert connection is not None  # noqa: S101 - for the types
            connection.streams_sent()
            self._note()
        largest = self._largest_file(chunk)
        for one in ready:
            self._send_packets(chunk, one, largest)
        return any(one.metadata or one.has_packets for one in ready)

    @staticmethod
    def _largest_file(chunk: Chunk) -> int:
        """Return of how many bytes files are: less if there are more of them."""
        streams = [*chunk.streams()]
        largest = LARGEST_FILES // max(1, len(streams))
        if largest < SMALLEST_FILE:
            for one in streams:
                one.is_whole = True
        return largest

    def _open_chunk(self, chunk: Chunk) -> None:
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        if self._opened is not chunk:
            if chunk.follows_archives and not self._has_moved:
                self._pretend_archive(chunk)
            connection.create_chunk(chunk.number, chunk.begin, chunk.name)
            self._opened = chunk

    def _pretend_archive(self, chunk: Chunk) -> None:
        """Let a relay daemon know that chunks were archived on an earlier connection.

        Else it would write to another directory than before. One without streams does
        it, of a time at which there was no other.
        """
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        number = chunk.number + NUMBERS_OF_NONE
        connection.create_chunk(number, 0)
        connection.close_chunk(number, int(time.time()), messages.MOVE)
        self._has_moved = True

    def _live_times(self, chunk: Chunk) -> dict[str, int | None]:
        """Return up to when all of each trace is in its files."""
        if not self._is_live:
            return {}
        with owner_rights(self._plan.uid, self._plan.gid), self._lock:
            return {
                path: one.live_time(chunk.folder) for path, one in chunk.traces.items()
            }

    def _found(self, chunk: Chunk, trace: SentTrace, time: int | None) -> _Found | None:
        """Return what there is of a trace to be sent; ``None``: nothing."""
        if chunk.is_dropped:
            # Streams go on in the next one only when it has what is on its way. That is
            # asked without the lock: while it is waited for, the spool is looked at.
            for one in [*trace.streams.values()]:
                self._confirm(one, is_urgent=True)
            return None
        with owner_rights(self._plan.uid, self._plan.gid), self._lock:
            if chunk.is_dropped:
                return None
            is_ended = chunk.end is not None
            # All that is older than the time is there now.
            trace.look(chunk.folder, is_ended=is_ended)
            # What describes packets is there before these are.
            streams = [
                (one, one.spooled.packets(is_ended=is_ended))
                for one in trace.streams.values()
            ]
            is_wanted = is_ended or self._flushes or any(found for _, found in streams)
            if trace.handle < 0 and self._is_live and not is_wanted:
                # They are published together.
                return None
            return _Found(trace, time, streams, trace.metadata(chunk.folder))

    def _announce(self, chunk: Chunk, found: _Found) -> bool:
        """Send what describes a trace; whether viewers are to see more of it."""
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        trace = found.trace
        is_new = trace.handle < 0
        if is_new:
            stream = RelayStream("metadata", trace.path, chunk.number)
            trace.handle = connection.add_stream(stream)
        self._send_metadata(trace, found.metadata)
        more = [one for one, packets in found.streams if packets and one.handle < 0]
        for one in more:
            self._add(chunk, trace, one)
        # Babeltrace 2 waits for ever for a live trace without data streams.
        return bool(more) or (is_new and not self._is_live)

    def _add(self, chunk: Chunk, trace: SentTrace, stream: SentStream) -> None:
        """Tell the relay daemon of a data stream."""
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        limits = (0, 0)
        if self._limits is not None:
            limits = self._limits(trace.path, stream.name)
        if limits != (0, 0) or self._is_live or not self._is_kept:
            # The relay daemon has several files itself, or viewers have the stream.
            stream.is_whole = True
        told = RelayStream(stream.file, trace.path, chunk.number, *limits)
        stream.handle = connection.add_stream(told)
        stream.added.add(stream.number)

    def _send_packets(self, chunk: Chunk, found: _Found, largest: int) -> None:
        """Send what is there of a trace, or that nothing is up to a time."""
        for stream, packets in found.streams:
            for packet in packets:
                if stream.is_full(largest):
                    stream.end_file()
                    self._note()
                    self._add(chunk, found.trace, stream)
                self._send_packet(stream, packet)
            if not packets and stream.handle >= 0:
                self._send_beacon(stream, found.time)
            self._confirm(stream, is_urgent=not packets)
        # While one waits for the relay daemon, others may come to go on themselves.
        for stream in [*found.trace.before.values()]:
            self._send_beacon(stream, found.time)

    def _send_beacon(self, stream: SentStream, time: int | None) -> None:
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        if time is not None and time > stream.end:
            connection.send_beacon(stream.handle, stream.class_number, time)
            stream.end = time

    def _send_metadata(self, trace: SentTrace, raw: bytes | None) -> bool:
        if raw is None:
            return False
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        if self._is_live:
            # Viewers have read what was sent, and LTTng's relay daemon takes no other:
            # the clock stays as it was described first.
            if len(raw) < trace.sent:
                return False
            if is_plain(raw):
                return self._send_plain(trace, raw)
        elif not trace.goes_on_with(raw):
            trace.resets += 1
            connection.reset_metadata(trace.handle, trace.resets)
            trace.sent = 0
        more = raw[trace.sent :]
        if more:
            connection.send_metadata(trace.handle, more)
            self._sent += 1
        trace.note(raw)
        return bool(more)

    def _send_plain(self, trace: SentTrace, raw: bytes) -> bool:
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        packets, end = packetised(raw, trace.sent)
        for one in packets:
            connection.send_metadata(trace.handle, one)
            self._sent += 1
        trace.note(raw[:end])
        return bool(packets)

    def _send_packet(self, stream: SentStream, packet: Packet) -> None:
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        facts = packet.facts
        size = facts.size // 8
        content = min(size, (facts.content + 7) // 8)
        number = stream.sent
        header = messages.data_header(stream.handle, number, content, size - content)
        connection.send_packet(stream.spooled.data, packet.at, content, header)
        if not self._plan.session.is_snapshot:
            # Those have none: LTTng's consumer sends none, either.
            connection.send_index(stream.handle, number, facts)
        stream.note(packet)
        self._sent += 1

    def _confirm(self, stream: SentStream, *, is_urgent: bool) -> None:
        """Ask whether the packets of a stream have come, if it is time to."""
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        if stream.is_confirmed or stream.is_asked:
            return
        bytes_sent = stream.spooled.taken_end - stream.confirmed.end
        if is_urgent or bytes_sent >= MOST_UNASKED:
            handle, number, place = stream.ask()
            connection.ask_pending(
                handle,
                number,
                lambda is_so: self._confirmed(stream, place, is_pending=is_so),
            )

    def _confirmed(self, stream: SentStream, place: Place, *, is_pending: bool) -> None:
        stream.is_asked = False
        if not is_pending:
            self._whole += ((stream, one) for one in stream.confirm(place))
            self._sent += 1
            self._is_more_kept |= stream.kept > 0

    def _keep_less(self, chunk: Chunk) -> None:
        """Keep no data streams that are one file each if they are large."""
        self._is_more_kept = False
        if chunk.kept > (LARGEST_FILES if self._is_kept else 0):
            if self._is_kept:
                # Before that: who would go on with it does not have all.
                with owner_rights(self._plan.uid, self._plan.gid):
                    remove_left(self._plan.spool)
            for one in chunk.streams():
                if one.is_whole:
                    one.give_back()

    def _close_whole(self) -> None:
        """Close the files that have come as a whole."""
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        whole, self._whole = self._whole, []
        if whole:
            self._note()
        for stream, one in whole:
            stream.free()
            connection.close_stream(one.handle, one.packets - 1)

    def _note(self) -> None:
        """Note how far it was sent: this process may be killed at any time."""
        may_resume = self._chunks[0].may_resume and not self._is_moved
        if self._is_kept and may_resume:
            with owner_rights(self._plan.uid, self._plan.gid):
                write_left(self._plan.spool, self._session, self._chunks[0])

    def _close_chunk(self, chunk: Chunk) -> None:
        """Let the relay daemon end a chunk; the next one is there before."""
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        assert chunk.end is not None  # noqa: S101 - as above
        following = self._chunks[1] if len(self._chunks) > 1 else None
        kept = [] if following is None else self._kept(chunk, following)
        if chunk.is_resumed and chunk.what == messages.DELETE:
            self._take_older_files(chunk)
        self._close_streams(one for one in chunk.traces.values() if one not in kept)
        connection.take_answers(waits=True)
        self._is_moved = True
        if self._is_kept:
            with owner_rights(self._plan.uid, self._plan.gid):
                remove_left(self._plan.spool)
        if following is not None:
            self._open_chunk(following)
            self._go_on(kept, following)
        chunk.path = connection.close_chunk(chunk.number, chunk.end, chunk.what)
        self._has_moved |= chunk.what == messages.MOVE
        if following is not None:
            following.follows_archives = self._has_moved
            self._is_moved = False
        if chunk.what != messages.NOTHING and not self._is_live:
            self._wait_until_gone(chunk)
        chunk.close()
        if len(self._chunks) > 1:
            del self._chunks[0]
            self._note()
        with self._state:
            chunk.is_done = True
            self._state.notify_all()
        if self._chunks[0] is chunk:
            self._ending.set()

    def _wait_until_gone(self, chunk: Chunk) -> None:
        """Wait until what is to become of a chunk was done.

        In live sessions viewers may have it for long.
        """
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        end, pause = time.monotonic() + CLOSED_SECONDS, FIRST_LOOK
        while connection.has_chunk(chunk.number) and time.monotonic() < end:
            if self._ending.wait(pause):
                return
            self._wait_on()
            pause = min(2 * pause, LONGEST_LOOK)

    def _close_streams(self, traces: Iterable[SentTrace]) -> None:
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        for trace in traces:
            for stream in trace.opened():
                connection.close_stream(stream.handle, stream.sent - 1)
            if trace.handle >= 0:
                connection.close_stream(trace.handle, NO_PACKET)

    def _take_older_files(self, chunk: Chunk) -> None:
        """Begin the files anew that the relay daemon has from earlier connections.

        It removes what it knows of, and cannot remove a directory with anything else.
        """
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        for trace in [*chunk.traces.values()]:
            if trace.handle < 0:
                told = RelayStream("metadata", trace.path, chunk.number)
                trace.handle = connection.add_stream(told)
            for stream in [*trace.streams.values()]:
                for name in stream.older_files:
                    told = RelayStream(name, trace.path, chunk.number)
                    handle = connection.add_stream(told)
                    connection.send_nothing(handle)
                    connection.close_stream(handle, 0)

    def _kept(self, chunk: Chunk, following: Chunk) -> list[SentTrace]:
        """Return the traces of a chunk that go on in the next one.

        So viewers keep what they have: there are some in live sessions.
        """
        if not self._is_live:
            return []
        with owner_rights(self._plan.uid, self._plan.gid), self._lock:
            return [
                one
                for one in chunk.traces.values()
                if one.handle >= 0 and following.is_written(one.path)
            ]

    def _go_on(self, kept: list[SentTrace], following: Chunk) -> None:
        """Let streams go on in the next chunk."""
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        places: list[tuple[int, int]] = []
        for trace in kept:
            places += ((one.handle, one.next_number) for one in trace.opened())
            places.append((trace.handle, 0))
            following.trace(trace.path).go_on(trace)
        connection.rotate_streams(following.number, places)
