"""The domains of channels: user space and the kernel.

Loggers have rules of their own, but their channels are of user space.
"""

from __future__ import annotations

import os

from .._typing import NamedTuple
from .backend import Backend
from .model import AGENT_CHANNELS, AGENT_DOMAINS, Channel, ChannelAttributes, Session
from .protocol import Request
from .refusals import refused

__all__ = ["KERNEL", "USER_SPACE", "Domain", "domain_of", "require_kernel"]

SUBBUF_SIZES = {"uid": 524288, "pid": 16384}
"""Bytes of a sub-buffer in user space, by buffering scheme."""
_KERNEL_SUBBUF_SIZE = 1 << 20
_KERNEL_READ_TIMER = 200_000


class Domain(NamedTuple):
    """A domain, and what refusals are called there."""

    name: str
    """As the protocol has it."""

    channel_exists: str
    channel_missing: str
    rule_enabled: str
    rule_missing: str

    def channels(self, session: Session) -> dict[str, Channel]:
        """Return the channels of a session in this domain, by name.

        Args:
            session: The session.
        """
        return session.kernel_channels if self is KERNEL else session.channels

    def has_other_channels(self, session: Session, by_default: str) -> bool:
        """Tell whether rules need the name of a channel.

        Args:
            session: Their session.
            by_default: The channel that needs no name.
        """
        known = {by_default, *AGENT_CHANNELS.values()}
        return any(name not in known for name in self.channels(session))

    def default_attributes(
        self, buffers: str, *, is_snapshot: bool
    ) -> ChannelAttributes:
        """Return what a channel is made with if nothing is said.

        Args:
            buffers: The buffering scheme, ``uid`` or ``pid``; the kernel has one.
            is_snapshot: Whether its session is one of snapshots.
        """
        if self is not KERNEL:
            return ChannelAttributes(subbuf_size=SUBBUF_SIZES[buffers])
        return ChannelAttributes(
            subbuf_size=_KERNEL_SUBBUF_SIZE,
            read_timer=_KERNEL_READ_TIMER,
            output="mmap" if is_snapshot else "splice",
        )


USER_SPACE = Domain(
    "UST",
    "UST_CHAN_EXIST",
    "UST_CHAN_NOT_FOUND",
    "UST_EVENT_ENABLED",
    "UST_EVENT_NOT_FOUND",
)
KERNEL = Domain(
    "KERNEL",
    "KERN_CHAN_EXIST",
    "KERN_CHAN_NOT_FOUND",
    "KERN_EVENT_EXIST",
    "NO_EVENT",
)


def domain_of(backend: Backend, request: Request) -> Domain:
    """Return the domain whose channels a request means.

    Args:
        backend: Knows whether the kernel can be recorded.
        request: Its ``domain`` is looked at.

    Raises:
        SessionError: It is the kernel, which cannot be recorded, or there is none.
    """
    name = request.optional_text("domain") or "UST"
    if name == KERNEL.name:
        require_kernel(backend)
        return KERNEL
    if name != USER_SPACE.name and name not in AGENT_DOMAINS:
        raise refused("UNSUPPORTED_DOMAIN")
    return USER_SPACE


def require_kernel(backend: Backend) -> None:
    """Refuse what is for the kernel where it cannot be recorded.

    Args:
        backend: Knows that.

    Raises:
        SessionError: It cannot.
    """
    reason = backend.kernel_refusal()
    if reason is not None:
        if os.geteuid() != 0:
            raise refused("NEED_ROOT_SESSIOND")
        raise refused("KERNEL_NOT_AVAILABLE", reason)
