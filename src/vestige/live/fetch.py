"""A packet that was asked for, and what of it has come."""

from __future__ import annotations

from collections.abc import Iterator

from . import messages
from .messages import Command, Flag, Index, PacketStatus

__all__ = ["PIECE_BYTES", "Fetch"]

PIECE_BYTES = 256 * 1024
"""How much of a packet is asked for at once."""
PIECES_AHEAD = 8
"""How many pieces of a packet are asked for before the first one has come."""


class Fetch:
    """A packet that was asked for.

    Args:
        stream: The number of the data stream.
        offset: Where it begins.
        size: Its size, bytes.
    """

    def __init__(self, stream: int, offset: int, size: int) -> None:
        self.stream = stream
        self.offset = offset
        self.size = size
        self.data = bytearray()
        """What has come."""
        self.following: Index | None = None
        """What is known of the next packet."""
        self.refusal: Flag | None = None
        """What is to be asked for before it, if it was not given."""
        self.is_gone = False
        """Whether it is not there."""

    @property
    def is_done(self) -> bool:
        """Whether nothing more of it is to be asked for."""
        is_whole = len(self.data) >= self.size
        return is_whole or self.is_gone or self.refusal is not None

    @property
    def result(self) -> bytearray | Flag | None:
        """Its bytes; what is to be asked for before it; ``None``: it is not there."""
        if self.refusal is not None or self.is_gone:
            return self.refusal
        return self.data

    @property
    def whole(self) -> bytes | bytearray:
        """Its bytes, if they are there."""
        return self.data if len(self.data) == self.size else b""

    @property
    def asked(self) -> int:
        """How much of it was asked for when nothing had come, bytes."""
        return min(self.size, PIECES_AHEAD * PIECE_BYTES)

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Tell what is to be asked for next.

        Yields:
            Where a piece begins in it, and its size.
        """
        start = len(self.data)
        end = min(self.size, start + PIECES_AHEAD * PIECE_BYTES)
        for at in range(start, end, PIECE_BYTES):
            yield at, min(PIECE_BYTES, end - at)

    def request(self, at: int, size: int) -> bytes:
        """Return the request for a piece.

        Args:
            at: Where it begins in it.
            size: Its size, bytes.
        """
        body = messages.PACKET.pack(self.stream, self.offset + at, size)
        return messages.REQUEST.pack(len(body), Command.GET_PACKET, 0) + body

    def place(self, at: int) -> bytearray:
        """Return where a piece goes that has come.

        Args:
            at: Where it begins in the packet. If the one before was shorter than what
                was asked for, it was asked for in vain, and goes nowhere.
        """
        return self.data if at == len(self.data) else bytearray()

    def refuse(self, status: PacketStatus, flags: int) -> bool:
        """Take an answer that is no piece.

        Args:
            status: Why there is none.
            flags: What is to be asked for before it.

        Returns:
            Whether that is an answer that makes sense.
        """
        if status is not PacketStatus.ERROR:
            self.is_gone = True
            return True
        self.refusal = Flag(flags & 3)
        return bool(self.refusal)
