"""The verbs of channels: enable, disable, add a context."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .contexts import context_type
from .model import (
    AGENT_CHANNELS,
    AGENT_DOMAINS,
    DEFAULT_CHANNEL,
    Channel,
    ChannelAttributes,
    Context,
    Session,
)
from .protocol import Request
from .refusals import refused
from .registry import Peer, Registry

__all__ = [
    "add_context",
    "channel_of",
    "check_channel",
    "disable_channel",
    "enable_channel",
]

PAGE = 4096
"""The smallest sub-buffer."""
SUBBUF_SIZES = {"uid": 524288, "pid": 16384}
"""Bytes of a sub-buffer, by buffering scheme."""
LARGEST = 1 << 36
"""Bytes of a ring buffer; no more could be mapped for each CPU."""
MOST_SUBBUFS = 1 << 14
"""Sub-buffers of a ring buffer: each has its own part of the description."""
LONGEST_NAME = 255


def refuse_kernel(request: Request) -> None:
    """Refuse what is for the kernel, as a daemon without its modules does.

    Args:
        request: Its ``domain`` is looked at.

    Raises:
        SessionError: It is for the kernel, or for nothing that there is.
    """
    domain = request.optional_text("domain") or "UST"
    if domain == "KERNEL":
        raise refused("NEED_ROOT_SESSIOND")
    if domain != "UST" and domain not in AGENT_DOMAINS:
        raise refused("UNSUPPORTED_DOMAIN")


async def enable_channel(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Make a channel, or enable it again.

    Args:
        registry: The sessions.
        peer: Who asks.
        request: ``session``, ``domain``, ``channel``, ``buffers`` and attributes.

    Returns:
        The channel.

    Raises:
        SessionError: It is there, comes too late, or cannot be.
    """
    refuse_kernel(request)
    session = registry.session(peer, request.text("session"))
    await registry.relays.connect(session)
    name = request.text("channel")
    found = session.channels.get(name)
    if session.was_active and (found is None or not found.enabled):
        raise refused("TRACE_ALREADY_STARTED")
    if found is not None:
        if found.enabled:
            raise refused("UST_CHAN_EXIST")
        found.enabled = True
    else:
        found = _new_channel(session, name, request)
    registry.save(session)
    return asdict(found)


def check_channel(name: str, attributes: ChannelAttributes) -> None:
    """Refuse what cannot be a channel.

    Args:
        name: Its name, which names files.
        attributes: What it is made with.

    Raises:
        SessionError: It cannot be.
    """
    _check_name(name)
    _check_attributes(attributes)


def _check_name(name: str) -> None:
    if (
        not name
        or name.startswith(".")
        or "/" in name
        or len(name.encode(errors="replace")) > LONGEST_NAME
    ):
        raise refused("INVALID_CHANNEL_NAME")


def _new_channel(session: Session, name: str, request: Request) -> Channel:
    _check_name(name)
    # A channel that is made on the way has the scheme of the others.
    by_default = "uid" if request.verb else session.buffers or "uid"
    buffers = request.optional_text("buffers") or by_default
    if buffers not in SUBBUF_SIZES:
        raise refused("NOT_SUPPORTED")
    if session.buffers not in {None, buffers}:
        raise refused("BUFFER_TYPE_MISMATCH")
    attributes = _attributes(request, buffers, is_snapshot=session.is_snapshot)
    session.buffers = buffers
    channel = Channel(name, attributes)
    session.channels[name] = channel
    return channel


def _attributes(
    request: Request, buffers: str, *, is_snapshot: bool
) -> ChannelAttributes:
    defaults = ChannelAttributes(subbuf_size=SUBBUF_SIZES[buffers])
    # All channels of a session of snapshots are copied from memory.
    if request.optional_text("output") == "splice" and not is_snapshot:
        raise refused("NOT_SUPPORTED")
    is_kept = is_snapshot and not request.flag("discard")
    attributes = ChannelAttributes(
        overwrite=request.flag("overwrite") or is_kept,
        **{
            name: request.number(name, getattr(defaults, name))
            for name in (
                *("subbuf_size", "num_subbuf", "switch_timer", "read_timer"),
                *("monitor_timer", "blocking_timeout", "tracefile_size"),
                "tracefile_count",
            )
        },
    )
    if is_kept and not request.flag("overwrite"):
        # In a ring that overwrites, nobody ever waits: LTTng ignores it, too.
        attributes.blocking_timeout = 0
    _check_attributes(attributes)
    return attributes


def _check_attributes(attributes: ChannelAttributes) -> None:
    size, count = attributes.subbuf_size, attributes.num_subbuf
    least = 2 if attributes.overwrite else 1
    if (
        not PAGE <= size <= LARGEST
        or size & (size - 1)
        or not least <= count <= MOST_SUBBUFS
        or size * count > LARGEST
        or count & (count - 1)
        or attributes.blocking_timeout < -1
        or (attributes.blocking_timeout and attributes.overwrite)
        or min(attributes.switch_timer, attributes.read_timer, attributes.monitor_timer)
        < 0
        or min(attributes.tracefile_size, attributes.tracefile_count) < 0
        or 0 < attributes.tracefile_size < size
    ):
        raise refused("INVALID")


async def disable_channel(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Disable a channel: none of its rules matches any longer.

    Raises:
        SessionError: There is none of this name.
    """
    refuse_kernel(request)
    session = registry.session(peer, request.text("session"))
    channel = session.channels.get(request.text("channel"))
    if channel is None:
        raise refused("UST_CHAN_NOT_FOUND")
    channel.enabled = False
    registry.save(session)
    if session.active:
        await registry.backend.apply(session)
    return {}


def channel_of(session: Session, request: Request, *, is_made: bool) -> Channel:
    """Return the channel that a request for rules means.

    Args:
        session: Its session.
        request: Its ``domain``, and ``channel`` if one is named.
        is_made: Whether it is made if it is not there.

    Raises:
        SessionError: There is none, or it must be named.
    """
    domain = request.optional_text("domain") or "UST"
    name = request.optional_text("channel")
    if domain in AGENT_CHANNELS:
        name = AGENT_CHANNELS[domain]
    elif name is None:
        if session.has_other_channels():
            raise refused("NEED_CHANNEL_NAME")
        name = DEFAULT_CHANNEL
    found = session.channels.get(name)
    if found is None:
        if not is_made:
            raise refused("UST_CHAN_NOT_FOUND")
        if session.was_active:
            raise refused("TRACE_ALREADY_STARTED")
        found = _new_channel(session, name, Request("", {}))
    return found


async def add_context(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Add the context ``type`` to ``channel``, or to all of a domain.

    Raises:
        SessionError: It is there, is none of user space, or comes too late.
    """
    refuse_kernel(request)
    session = registry.session(peer, request.text("session"))
    if session.was_active:
        raise refused("TRACE_ALREADY_STARTED")
    kind = context_type(request.text("type"))
    if kind is None or not kind.is_of_user_space:
        raise refused("UST_CONTEXT_INVAL")
    context = Context(kind.kind, kind.name, kind.type, kind.config)
    channels = _channels_for_context(session, request)
    if all(context in one.contexts for one in channels):
        raise refused("UST_CONTEXT_EXIST")
    for channel in channels:
        if context not in channel.contexts:
            channel.contexts.append(context)
    registry.save(session)
    return {}


def _channels_for_context(session: Session, request: Request) -> list[Channel]:
    domain = request.optional_text("domain") or "UST"
    name = AGENT_CHANNELS.get(domain) or request.optional_text("channel")
    if name is not None:
        found = session.channels.get(name)
        if found is None:
            raise refused("UST_CHAN_NOT_FOUND")
        return [found]
    if not session.channels:
        # As when a rule comes first: the channel by default is made.
        return [_new_channel(session, DEFAULT_CHANNEL, Request("", {}))]
    return [*session.channels.values()]
