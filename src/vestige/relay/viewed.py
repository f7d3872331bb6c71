"""What viewers see of the sessions of a relay: the least that serving them needs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from ..live.answers import PacketFacts

__all__ = ["PacketReader", "ViewedSession", "ViewedStream"]


class PacketReader(Protocol):
    """Reads the packets of a data stream, in their order."""

    def take(self) -> PacketFacts | None:
        """Return what is known of the next packet; ``None`` if there is none yet.

        Packets that have gone away before it came to them are passed over.

        Raises:
            OSError: They cannot be read.
        """

    def pass_all(self) -> None:
        """Pass over all packets that are there."""

    def read(self, at: int, size: int) -> bytes:
        """Return a part of the file in which the last packet is.

        It is there as long as it is the last one, whatever becomes of the file's name.

        Args:
            at: The first byte.
            size: How many.

        Raises:
            OSError: There are less.
        """


class ViewedStream(Protocol):
    """A data stream, or the metadata of a trace, that arrives."""

    @property
    def id(self) -> int:
        """Its number, of all sessions."""

    @property
    def trace_id(self) -> int:
        """The number of its trace."""

    @property
    def is_metadata(self) -> bool:
        """Whether it is the metadata."""

    @property
    def path(self) -> str:
        """Where its files are, below the directory of the session."""

    @property
    def channel(self) -> str:
        """How the names of its files begin."""

    @property
    def is_closed(self) -> bool:
        """Whether nothing more arrives."""

    @property
    def beacon(self) -> tuple[int, int] | None:
        """Until when nothing more comes, and the ID of its class.

        None where the last that has come is a packet.
        """

    def follow(self) -> PacketReader:
        """Return what reads its packets, from the first that is there on."""

    @property
    def metadata_size(self) -> int:
        """Bytes of metadata that are there."""

    def read_metadata(self, at: int, size: int) -> bytes:
        """Return a part of the metadata.

        Args:
            at: The first byte.
            size: No more than so many.

        Raises:
            OSError: They cannot be read.
        """


class ViewedSession(Protocol):
    """A session that viewers may read."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def hostname(self) -> str:
        """The machine that records."""

    @property
    def name(self) -> str:
        """What it is called there."""

    @property
    def live_timer(self) -> int:
        """As often its data arrive, microseconds; 0: it is not live."""

    @property
    def has_ended(self) -> bool:
        """Whether whoever has sent it has gone."""

    @property
    def showings(self) -> int:
        """A number that is another one when there are other data streams."""

    @property
    def streams(self) -> Collection[ViewedStream]:
        """Its data streams that viewers may know of."""
