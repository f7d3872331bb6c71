"""What a sender keeps of what was sent, for a connection that is lost."""

from __future__ import annotations

from .chunk import Chunk
from .link import RelayLink
from .plan import SenderPlan
from .resuming import remove_left, write_left
from .segments import Place, Segment, SentStream

__all__ = ["KeptFiles"]

LARGEST_FILES, SMALLEST_FILE = 32 << 20, 256 << 10
"""Bytes of all files together that are kept until they have come as a whole, and of one
at least. More data streams have one file each, and nothing of these is kept that has
come once they are larger together."""


class KeptFiles:
    """The files of data streams that have not come as a whole, and the note of them.

    Args:
        plan: What is sent.
        link: The connection.
    """

    def __init__(self, plan: SenderPlan, link: RelayLink) -> None:
        self._plan, self._link = plan, link
        self._whole: list[tuple[SentStream, Segment]] = []
        """Files that have come, and are to be closed."""
        self._is_more = False
        """Whether there is more since it was looked whether there is too much."""

    @staticmethod
    def largest_file(chunk: Chunk) -> int:
        """Return of how many bytes files are: less if there are more of them.

        Args:
            chunk: Of which chunk.
        """
        streams = [*chunk.streams()]
        largest = LARGEST_FILES // max(1, len(streams))
        if largest < SMALLEST_FILE:
            for one in streams:
                one.is_whole = True
        return largest

    def confirm(self, stream: SentStream, place: Place) -> None:
        """Note that packets have come.

        Args:
            stream: Of which stream.
            place: Up to where.
        """
        self._whole += ((stream, one) for one in stream.confirm(place))
        self._is_more |= stream.kept > 0

    def close_whole(self, chunk: Chunk) -> None:
        """Close the files that have come as a whole.

        Args:
            chunk: The chunk that is sent now.
        """
        whole, self._whole = self._whole, []
        if whole:
            self.note(chunk)
        for stream, one in whole:
            stream.free()
            self._link.connection.close_stream(one.handle, one.packets - 1)

    def keep_less(self, chunk: Chunk) -> None:
        """Keep no data streams that are one file each if they have become large.

        Args:
            chunk: The chunk that is sent now.
        """
        if not self._is_more:
            return
        self._is_more = False
        if chunk.kept > (LARGEST_FILES if self._plan.is_kept else 0):
            # Before that: who would go on with it does not have all.
            self.remove_note()
            for one in chunk.streams():
                if one.is_whole:
                    one.give_back()

    def note(self, chunk: Chunk) -> None:
        """Note how far it was sent: this process may be killed at any time.

        Args:
            chunk: The chunk that is sent now.
        """
        may_resume = chunk.may_resume and not self._link.is_moved
        if self._plan.is_kept and may_resume:
            with self._plan.rights():
                write_left(self._plan.spool, self._link.session, chunk)

    def remove_note(self) -> None:
        """Note that nobody can go on there."""
        if self._plan.is_kept:
            with self._plan.rights():
                remove_left(self._plan.spool)

    def forget(self) -> None:
        """Close no files: the connection was lost."""
        self._whole.clear()
