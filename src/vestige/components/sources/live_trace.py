"""Traces of a live session: metadata that grow, data streams packet by packet."""

from __future__ import annotations

from ... import core
from ..._typing import TYPE_CHECKING
from ...errors import TraceFormatError
from ...graph.stream import Stream, TraceInfo

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...graph.growing import Arrival
    from ...live import Fetch, Index, RemoteStream, Viewer

__all__ = ["LiveStream", "LiveTrace"]

LARGEST_METADATA = 256 * 1024 * 1024
"""Most bytes of metadata of a trace, as of one in files."""


class LiveTrace:
    """A trace of a live session.

    Args:
        index: Its index among the traces that are read together.
        url: The session.
    """

    def __init__(self, index: int, url: str) -> None:
        self.index = index
        self.url = url
        self.streams: list[LiveStream] = []
        """Its data streams."""
        self.info: TraceInfo | None = None
        """What its metadata say, as soon as they say enough."""
        self.needs_metadata = True
        """Whether there may be more metadata."""
        self._metadata_stream: int | None = None
        self._content = bytearray()
        self._classes: dict[int, int] = {}

    def add(self, remote: RemoteStream) -> None:
        """Add a data stream, or the metadata.

        Args:
            remote: What the relay daemon says of it.
        """
        if remote.is_metadata:
            self._metadata_stream = remote.id
            self.needs_metadata = True
        else:
            self.streams.append(LiveStream(self, remote))

    def class_index(self, class_id: int) -> int | None:
        """Return the index of a stream class, if it is known already.

        Args:
            class_id: Its ID.
        """
        return self._classes.get(class_id)

    def update(self, viewer: Viewer) -> None:
        """Ask for metadata that are new.

        Args:
            viewer: Who is asked.

        Raises:
            TraceFormatError: They are too many.
        """
        if not self.needs_metadata or self._metadata_stream is None:
            return
        before = len(self._content)
        while part := viewer.metadata(self._metadata_stream):
            self._content += part
            if len(self._content) > LARGEST_METADATA:
                raise TraceFormatError(f"{self.url}: the metadata are too large")
        if part is None:
            self._metadata_stream = None
        if len(self._content) > before:
            self._parse()
        # Until something can be read with them, there will be more.
        self.needs_metadata = self.info is None

    def _parse(self) -> None:
        # A declaration may have come in part: the rest follows.
        parsed, _ = core.TraceClass.parse_partial(bytes(self._content))
        if parsed is None:
            return
        if self.info is None:
            self.info = TraceInfo(self.index, "", parsed)
            self.info.has_name = False
        else:
            self.info.learn(parsed)
            for one in self.streams:
                if one.stream is not None:
                    one.stream.handle = one.stream.handle.following(parsed)
        described = parsed.describe()["streams"]
        self._classes = {one["id"]: index for index, one in enumerate(described)}


class LiveStream:
    """A data stream of a live session.

    Args:
        trace: Its trace.
        remote: What the relay daemon says of it.
    """

    def __init__(self, trace: LiveTrace, remote: RemoteStream) -> None:
        self.trace = trace
        self.remote = remote
        self.stream: Stream | None = None
        """Itself, as soon as its class is known."""
        self.has_ended = False
        """Whether nothing more will come."""
        self.announced: Index | None = None
        """The packet that comes next."""
        self.fetch: Fetch | None = None
        """The same, if it was asked for."""
        self._class_id: int | None = None
        self._part: core.DataStream | None = None
        self._certain: int | None = None
        self._told = -1
        self._is_told_ended = False
        self._is_numbered = False

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows yet what it holds, and from when on."""
        return self._born(None) is None and not self.has_ended

    def is_wanted(self, hungry: Collection[Stream]) -> bool:
        """Tell whether something of it is needed now.

        Args:
            hungry: The data streams of which nothing is left.
        """
        # What is there may have to wait for other data streams.
        return self._part is None and (self.stream is None or self.stream in hungry)

    @property
    def has_waiting(self) -> bool:
        """Whether a packet is announced or there."""
        return self.announced is not None or self._part is not None

    def learn(self, index: Index) -> None:
        """Take what the relay daemon says of the next packet, or of there being none.

        Args:
            index: Its answer.
        """
        self._class_id = index.class_id
        self._certain = max(index.end, self._certain or 0)

    def take(self, index: Index, data: bytes | bytearray) -> None:
        """Take packets.

        Args:
            index: What was said of the last one.
            data: Their bytes.

        Raises:
            TraceFormatError: They are none.
        """
        self.learn(index)
        if (info := self.trace.info) is None or not data:
            return
        file = core.DataFile.of_bytes(info.parsed, self._path, data)
        stream = self._born(file.stream_instance)
        if stream is not None:
            if not self._is_numbered and file.stream_instance is not None:
                # Until now nobody had said.
                stream.id = file.stream_instance
            self._is_numbered = True
            if file.stream_class != stream.class_index:
                raise TraceFormatError(
                    f"{self.trace.url}: a packet of another stream class than was said"
                )
            self._part = stream.handle.following(info.parsed, file)

    def give(self, arrival: Arrival) -> None:
        """Give out what has come.

        Args:
            arrival: Where it goes.
        """
        is_new = self.stream is None
        stream = self._born(None)
        if stream is None:
            return
        if is_new or self._told < 0:
            arrival.streams.append(stream)
            self._told = 0
        if self._part is not None:
            arrival.parts.append((stream, self._part))
            self._part = None
        if self._certain is not None and self._certain > self._told:
            self._told = self._certain
            if (time := stream.handle.nanoseconds(self._certain)) is not None:
                arrival.certain.append((stream, time))
        if self.has_ended and not self._is_told_ended:
            self._is_told_ended = True
            arrival.ended.append(stream)

    @property
    def _path(self) -> str:
        # As Babeltrace 2 calls it.
        return f"stream-{self.remote.id}"

    def _born(self, instance: int | None) -> Stream | None:
        """Return the data stream, if it is known of what class it is."""
        info = self.trace.info
        if self.stream is None and info is not None and self._class_id is not None:
            class_index = self.trace.class_index(self._class_id)
            if class_index is not None:
                handle = core.DataStream(
                    info.parsed,
                    [],
                    trace_name=info.name,
                    trace_index=info.index,
                    process_space=info.index,
                    class_index=class_index,
                    path=self._path,
                )
                identity = self.remote.id if instance is None else instance
                self.stream = Stream(info, class_index, identity, self._path, handle)
                info.grown.append(self.stream)
        return self.stream
