"""Live sessions of LTTng: ``source.ctf.lttng-live``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...errors import GraphError, TraceFormatError
from ...graph.growing import Arrival, Feed
from ...live import Index, IndexStatus, LiveUrl, RemoteStream, Viewer
from ...live.messages import MOST_STREAMS, Flag
from .live_trace import LiveStream, LiveTrace

if TYPE_CHECKING:
    from pathlib import Path

    from ...graph.plan import ComponentSpec
    from ...graph.stream import Stream

__all__ = ["LttngLiveSource", "make_lttng_live"]


LOOKS = 4
"""How often a session is looked at between two times when data come."""
SHORTEST_PAUSE = 0.01
"""Seconds between two looks."""
GATHERED = 256 * 1024
"""About how many bytes of packets of a data stream are read as one part."""
MOST_AHEAD = 16 * 1024 * 1024
"""Most bytes of packets that nobody needs yet."""


class Session:
    """A session that is read.

    Args:
        number: Its number at the relay daemon.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.traces: dict[int, LiveTrace] = {}
        """Its traces, by their numbers there."""
        self.needs_streams = False
        """Whether there may be new data streams."""
        self.is_closed = False
        """Whether there will be none."""

    @property
    def streams(self) -> Iterator[LiveStream]:
        """Its data streams."""
        return (one for trace in self.traces.values() for one in trace.streams)

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come."""
        return self.is_closed and all(one.has_ended for one in self.streams)

    def heed(self, flags: Flag, trace: LiveTrace) -> None:
        """Note what is to be asked for first.

        Args:
            flags: What the relay daemon says.
            trace: The trace that it is about.
        """
        self.needs_streams |= Flag.NEW_STREAM in flags
        trace.needs_metadata |= Flag.NEW_METADATA in flags


class LttngLiveSource(Feed):
    """Reads the live sessions of one name at a relay daemon.

    A session has one part for each consumer daemon that records for it: they are
    sessions of one name.

    Args:
        url: The session.
        if_not_found: What to do while there is no such session: ``continue`` to look
            for it, ``fail`` or ``end``.
        first_index: Index of the first trace, when there are other sources.

    Raises:
        TraceFormatError: The relay daemon does not answer, or there is no such session
            and it is to fail then.
    """

    def __init__(
        self, url: LiveUrl, if_not_found: str = "continue", first_index: int = 0
    ) -> None:
        super().__init__(url.text)
        self._url = url
        self._if_not_found = if_not_found
        self._first_index = first_index
        self.roots: list[Path] = []
        """No directory: nothing is packed with the session."""
        self.directories: list[Path] = []
        """Likewise."""
        self._traces = 0
        self._ahead = 0
        self._failure: TraceFormatError | None = None
        self._viewer = Viewer(url)
        self._may_read = False
        self._sessions: list[Session] = []
        try:
            self._sessions = self._attached()
        except TraceFormatError:
            self._viewer.close()
            raise
        if not self._sessions and if_not_found == "fail":
            self._viewer.close()
            raise TraceFormatError(
                f"{url.text}: no such session ('vestige convert -i lttng-live "
                f"{url.relay}' lists those that there are)"
            )

    def close(self) -> None:
        """Stop reading."""
        for session in self._sessions:
            self._viewer.detach(session.number)
        self._sessions = []
        self._viewer.close()

    def poll(self, hungry: Collection[Stream]) -> Arrival:
        """Ask for more.

        Args:
            hungry: The data streams of which nothing is left.

        Raises:
            TraceFormatError: The relay daemon does not answer, or with rubbish.
        """
        if self._failure is not None:
            raise self._failure
        arrival = Arrival()
        try:
            self._ask_all(hungry)
        except TraceFormatError as error:
            self._failure = error
        if self._failure is not None or not any(
            one.is_unknown for part in self._sessions for one in part.streams
        ):
            # Else another one may begin before what is there.
            self._give(arrival)
        if self._failure is not None:
            # What has come is shown before that.
            arrival.ended += self.streams
            if not arrival.has_news:
                raise self._failure
        return arrival

    def _ask_all(self, hungry: Collection[Stream]) -> None:
        if not self._sessions and self._if_not_found == "continue":
            self._sessions = self._attached()
        wanted = [
            (one, [each for each in one.streams if each.is_wanted(hungry)])
            for one in self._sessions
        ]
        for session, streams in wanted:
            self._update(session)
            # Of which none is announced.
            asked = [one for one in streams if not one.has_ended]
            self._learn(session, [one for one in asked if not one.has_waiting])
            if not any(one.has_waiting for one in session.streams):
                # LTTng's relay daemon announces data streams with packets alone.
                session.needs_streams = True
        for session, streams in wanted:
            # What was announced with an index is there before its packet.
            self._update(session)
            self._take(session, streams)

    def _give(self, arrival: Arrival) -> None:
        for session in self._sessions:
            for stream in session.streams:
                stream.give(arrival)
        self.streams += arrival.streams
        for session in [one for one in self._sessions if one.has_ended]:
            self._viewer.detach(session.number)
            self._sessions.remove(session)
        if not self._sessions and self._if_not_found != "continue":
            arrival.is_end = True
            self.close()

    def _attached(self) -> list[Session]:
        """Look for the session, and begin to read it."""
        wanted = (self._url.target, self._url.session)
        sessions = [
            one for one in self._viewer.sessions() if (one.hostname, one.name) == wanted
        ]
        found = [one.id for one in sessions]
        for one in sessions:
            # Data come as often as that.
            timer = one.live_timer / 1e6 / LOOKS
            self.pause = min(self.pause, max(timer, SHORTEST_PAUSE))
        if found and not self._may_read:
            self._viewer.begin()
            self._may_read = True
        attached = []
        for number in found:
            session = Session(number)
            streams = self._viewer.attach(number)
            if streams is not None:
                self._add_streams(session, streams)
                # Some may have come between the two answers.
                session.needs_streams = True
                attached.append(session)
        return attached

    def _add_streams(self, session: Session, streams: list[RemoteStream]) -> None:
        there = sum(not one.has_ended for one in session.streams)
        if there + len(streams) > MOST_STREAMS:
            raise TraceFormatError(
                f"{self.path}: the relay daemon tells of more than {MOST_STREAMS} data "
                "streams of one session that have not ended"
            )
        for stream in streams:
            trace = session.traces.get(stream.trace_id)
            if trace is None:
                trace = LiveTrace(self._first_index + self._traces, self.path)
                self._traces += 1
                session.traces[stream.trace_id] = trace
            trace.add(stream)

    def _update(self, session: Session) -> None:
        """Ask for data streams and metadata that are new."""
        is_quiet = all(one.has_ended for one in session.streams)
        if not session.is_closed and (session.needs_streams or is_quiet):
            session.needs_streams = False
            streams = self._viewer.new_streams(session.number)
            if streams is None:
                session.is_closed = True
            else:
                self._add_streams(session, streams)
        for trace in session.traces.values():
            trace.update(self._viewer)

    def _learn(self, session: Session, streams: Sequence[LiveStream]) -> None:
        found = self._viewer.next_indexes([one.remote.id for one in streams])
        for stream, index in zip(streams, found, strict=True):
            self._heed(session, stream, index)

    def _heed(self, session: Session, stream: LiveStream, index: Index) -> None:
        """Take what is known of the next packet of a data stream."""
        if index.status is IndexStatus.OK:
            session.heed(index.flags, stream.trace)
            stream.announced = index
        elif index.status is IndexStatus.INACTIVE:
            stream.learn(index)
        elif index.status in {IndexStatus.HUNG_UP, IndexStatus.END}:
            stream.has_ended = True
        elif index.status is IndexStatus.ERROR:
            raise TraceFormatError(
                f"{self.path}: the relay daemon cannot read a data stream"
            )

    def _ask(self, stream: LiveStream) -> bool:
        """Ask for the packet that was announced, if it could be read."""
        index, fetch = stream.announced, stream.fetch
        if index is None or stream.trace.class_index(index.class_id) is None:
            return False
        if fetch is None:
            self._ahead += index.size
            stream.fetch = self._viewer.ask_packet(stream.remote.id, index)
        elif fetch.refusal is not None:
            self._viewer.ask_again(fetch)
        return True

    def _take(self, session: Session, streams: Iterable[LiveStream]) -> None:
        """Take the packets that were announced, and let those behind them come."""
        asked = [one for one in streams if self._ask(one)]
        try:
            for stream in asked:
                self._take_some(session, stream)
        except TraceFormatError:
            # What has come is as good as it was.
            for stream in asked:
                if stream.announced is not None and stream.fetch is not None:
                    stream.take(stream.announced, stream.fetch.whole)
            raise

    def _take_some(self, session: Session, stream: LiveStream) -> None:
        """Take as many packets of a data stream as are read together."""
        packets: list[bytearray] = []
        last: Index | None = None
        try:
            while (index := stream.announced) and (fetch := stream.fetch):
                data = self._viewer.packet(fetch)
                if isinstance(data, Flag):
                    session.heed(data, stream.trace)
                    break
                self._ahead -= index.size
                stream.announced = stream.fetch = None
                last = index
                packets.append(data or bytearray())
                self._heed(session, stream, self._viewer.following(fetch))
                size = sum(map(len, packets))
                self._ask_behind(session, stream, index, size)
                if size >= GATHERED:
                    break
        finally:
            if last is not None:
                stream.take(last, b"".join(packets) if packets[1:] else packets[0])

    def _ask_behind(
        self, session: Session, stream: LiveStream, index: Index, size: int
    ) -> None:
        """Ask for the packet behind one, if it can be read as that one is."""
        following = stream.announced
        if following is None or following.class_id != index.class_id:
            return
        # What is new in the metadata is there before the packet.
        if session.needs_streams or stream.trace.needs_metadata:
            return
        if self._ahead + size + following.size <= MOST_AHEAD:
            self._ask(stream)


def make_lttng_live(spec: ComponentSpec, first_index: int) -> LttngLiveSource:
    """Begin to read the session that a component is to read.

    Args:
        spec: The component.
        first_index: The number of traces of other sources before it.

    Raises:
        GraphError: It names no session.
        TraceFormatError: The relay daemon does not answer.
    """
    inputs = spec.params["inputs"]
    url = LiveUrl.parse(inputs[0])
    if len(inputs) != 1 or url is None or url.session is None:
        raise GraphError(
            f"component '{spec.name}' ({spec.class_name}): inputs: expected one "
            "net://HOST[:PORT]/host/TARGET/SESSION"
        )
    action = spec.params.get("session-not-found-action", "continue")
    return LttngLiveSource(url, action, first_index)
