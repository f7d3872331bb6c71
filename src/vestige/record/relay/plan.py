"""What a sender is to send, and where to."""

from __future__ import annotations

from contextlib import AbstractContextManager

from ..._typing import NamedTuple
from ...owner_rights import owner_rights
from .connection import RelayAddress
from .messages import SessionFacts

__all__ = ["SenderPlan"]


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

    @property
    def is_live(self) -> bool:
        """Whether it is read while it is recorded."""
        return self.session.live_timer > 0

    @property
    def is_kept(self) -> bool:
        """Whether files are kept until they have come as a whole."""
        return not self.session.is_snapshot

    def rights(self) -> AbstractContextManager[None]:
        """Have the rights of the owner meanwhile; see :func:`.owner_rights`."""
        return owner_rights(self.uid, self.gid)
