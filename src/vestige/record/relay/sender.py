"""Sends the spool of a recording to a relay daemon, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from . import messages
from .chunk import Chunk, SentTrace
from .chunk_end import ChunkEnd
from .kept_files import KeptFiles
from .link import RelayLink
from .outgoing import Limits, Outgoing
from .plan import SenderPlan
from .progress import Progress
from .spool_view import Found, SpoolView

__all__ = ["RelaySender"]

BUSY_PAUSE, IDLE_PAUSE = 0.01, 0.2
"""Seconds between two looks at a spool that grows, and at one that does not."""
FIRST_RETRY, LONGEST_RETRY = 0.1, 2.0
"""Seconds between attempts to reach the relay daemon."""


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
        limits: Limits | None = None,
        on_again: Callable[[], None] | None = None,
        *,
        is_resumed: bool = False,
    ) -> None:
        self._plan = plan
        self._on_again = on_again
        self._chunks: list[Chunk] = []
        """Those that are not on the relay daemon as a whole."""
        self._ending = threading.Event()
        self._view = SpoolView(plan, self._chunks, on_full)
        self._link = RelayLink(plan, self._view.look_at_all, is_resumed=is_resumed)
        self._progress = Progress(self._link, self._is_running)
        self._kept = KeptFiles(plan, self._link)
        self._outgoing = Outgoing(plan, self._link, self._kept, self._progress, limits)
        self._ends = ChunkEnd(plan, self._link, self._view, self._kept, self._ending)
        self.failure: Exception | None = None
        """Why nothing is sent now."""
        self.lost_packets = self.lost_bytes = 0
        """What was given up."""
        self._thread = threading.Thread(
            target=self._run, name="vestige-relay", daemon=True
        )

    def _is_running(self) -> bool:
        return self._thread.is_alive()

    # For those who record.

    @property
    def path(self) -> str:
        """Where the session is on the relay daemon."""
        return self._link.path

    @property
    def may_clear(self) -> bool:
        """Whether the relay daemon may remove chunks, as far as that is known."""
        return self._link.may_clear

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
        self._link.begin(chunk)
        self._chunks.append(chunk)
        self._thread.start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Look at nothing meanwhile: files are moved."""
        with self._view.lock:
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
        self._progress.woken.set()
        return chunk

    def wait_for(self, chunk: Chunk, seconds: float) -> bool:
        """Wait until a chunk that has ended is on the relay daemon as a whole.

        Args:
            chunk: The chunk.
            seconds: How long at most nothing may come.
        """
        return self._progress.wait(lambda: chunk.is_done, seconds)

    def flush(self, seconds: float) -> bool:
        """Wait until all that is in the spool now is on the relay daemon.

        Args:
            seconds: How long at most nothing may come.
        """
        return self._progress.flush(seconds)

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
            with self._view.lock:
                chunk.finish(int(end), what)
            self.wait_for(chunk, seconds)
        self._ending.set()
        self._progress.woken.set()
        connection, failure = self._link.current, self.failure
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
                    self._view.look(chunk)
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
            self._progress.woken.wait(pause)
            self._progress.woken.clear()
            try:
                if self._link.current is None:
                    self._connect()
                is_busy = self._pass()
            except Exception as error:  # noqa: BLE001 - answers may be anything
                self.failure = error
                self._disconnect()
                self._view.tell_room()
                self._progress.end_pass(is_clean=False)
                # However often somebody asks meanwhile.
                self._ending.wait(retry)
                pause, retry = BUSY_PAUSE, min(retry * 2, LONGEST_RETRY)
            else:
                self.failure = None
                self._link.note_found()
                retry = FIRST_RETRY
                longest = BUSY_PAUSE if self._plan.is_live else IDLE_PAUSE
                pause = BUSY_PAUSE if is_busy else min(pause * 1.5, longest)
        self._disconnect()

    def _connect(self) -> None:
        is_other = self._link.connect(self._chunks)
        if is_other and self._on_again is not None:
            self._on_again()

    def _disconnect(self) -> None:
        self._link.disconnect()
        self._kept.forget()
        for chunk in self._chunks:
            chunk.go_back()

    def _pass(self) -> bool:
        """Look at the first chunk once; whether there was something to do."""
        chunk = self._chunks[0]
        is_ended = chunk.end is not None
        is_busy = self._send(chunk)
        self._link.connection.take_answers(waits=not is_busy)
        self._kept.close_whole(chunk)
        self._kept.keep_less(chunk)
        is_clean = not is_busy and chunk.is_confirmed
        self._view.tell_room()
        if is_ended and is_clean:
            self._end(chunk)
            self._progress.end_pass(is_clean=self._ending.is_set())
            return True
        self._progress.end_pass(is_clean=is_clean and len(self._chunks) == 1)
        return is_busy or not is_clean

    def _send(self, chunk: Chunk) -> bool:
        """Send what has come of a chunk; whether anything has."""
        self._link.open_chunk(chunk)
        # Before others are looked for: none of these has begun before.
        times = self._view.live_times(chunk)
        self._view.look(chunk)
        found = [
            self._found(chunk, one, times.get(path))
            for path, one in [*chunk.traces.items()]
        ]
        ready = [one for one in found if one is not None]
        # What has begun is known to viewers before they see what was recorded later.
        added = [self._outgoing.announce(chunk, one) for one in ready]
        if any(added):
            self._link.connection.streams_sent()
            self._kept.note(chunk)
        largest = self._kept.largest_file(chunk)
        for one in ready:
            self._outgoing.send_packets(chunk, one, largest)
        return any(one.metadata or one.has_packets for one in ready)

    def _found(self, chunk: Chunk, trace: SentTrace, time: int | None) -> Found | None:
        if chunk.is_dropped:
            # Streams go on in the next one only when it has what is on its way. That is
            # asked without the lock: while it is waited for, the spool is looked at.
            for one in [*trace.streams.values()]:
                self._outgoing.confirm(one, is_urgent=True)
            return None
        is_awaited = self._progress.is_awaited
        return self._view.found(chunk, trace, time, is_awaited=is_awaited)

    def _end(self, chunk: Chunk) -> None:
        """Let a chunk end on the relay daemon, of which all is there."""
        following = self._chunks[1] if len(self._chunks) > 1 else None
        self._ends.end(chunk, following)
        if following is not None:
            del self._chunks[0]
            self._kept.note(following)
        self._progress.end_chunk(chunk)
        if following is None:
            self._ending.set()
