"""The verbs of channels: enable, disable, add a context."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .contexts import ContextType, context_type, kernel_refusal
from .domains import KERNEL, SUBBUF_SIZES, USER_SPACE, Domain, domain_of
from .model import (
    AGENT_CHANNELS,
    DEFAULT_CHANNEL,
    Channel,
    ChannelAttributes,
    Context,
    Session,
)
from .names import fits
from .protocol import Request
from .refusals import refused
from .registry import Peer, Registry

__all__ = [
    "add_context",
    "channel_of",
    "check_channel",
    "check_context",
    "disable_channel",
    "enable_channel",
]

PAGE = 4096
"""The smallest sub-buffer."""
LARGEST = 1 << 36
"""Bytes of a ring buffer; no more could be mapped for each CPU."""
MOST_SUBBUFS = 1 << 14
"""Sub-buffers of a ring buffer: each has its own part of the description."""
OUTPUTS = ("mmap", "splice")
"""How packets are taken out of buffers; in user space the first one."""


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
    domain = domain_of(registry.backend, request)
    session = registry.session(peer, request.text("session"))
    await registry.relays.connect(session)
    name = request.text("channel")
    found = domain.channels(session).get(name)
    if session.was_active and (found is None or not found.enabled):
        raise refused("TRACE_ALREADY_STARTED")
    if found is not None:
        if found.enabled:
            raise refused(domain.channel_exists)
        found.enabled = True
    else:
        found = _new_channel(session, domain, name, request)
    registry.save(session)
    return asdict(found)


def check_channel(
    name: str, attributes: ChannelAttributes, domain: Domain = USER_SPACE
) -> None:
    """Refuse what cannot be a channel.

    Args:
        name: Its name, which names files.
        attributes: What it is made with.
        domain: Its domain.

    Raises:
        SessionError: It cannot be.
    """
    _check_name(name)
    _check_attributes(attributes, domain)


def _check_name(name: str) -> None:
    if not name or name.startswith(".") or "/" in name or not fits(name):
        raise refused("INVALID_CHANNEL_NAME")


def _new_channel(
    session: Session, domain: Domain, name: str, request: Request
) -> Channel:
    _check_name(name)
    if domain is KERNEL:
        buffers = _kernel_buffers(request)
    else:
        buffers = _buffers(session, request)
    attributes = _attributes(session, domain, request, buffers)
    if domain is not KERNEL:
        session.buffers = buffers
    channel = Channel(name, attributes)
    domain.channels(session)[name] = channel
    return channel


def _buffers(session: Session, request: Request) -> str:
    """Return the buffering scheme of a channel in user space."""
    # A channel that is made on the way has the scheme of the others.
    by_default = "uid" if request.verb else session.buffers or "uid"
    buffers = request.optional_text("buffers") or by_default
    if buffers not in SUBBUF_SIZES:
        raise refused("NOT_SUPPORTED")
    if session.buffers not in {None, buffers}:
        raise refused("BUFFER_TYPE_MISMATCH")
    return buffers


def _kernel_buffers(request: Request) -> str:
    """Refuse another buffering scheme than the kernel's only one."""
    buffers = request.optional_text("buffers") or "global"
    if buffers != "global":
        raise refused("NOT_SUPPORTED")
    return buffers


def _attributes(
    session: Session, domain: Domain, request: Request, buffers: str
) -> ChannelAttributes:
    is_snapshot = session.is_snapshot
    defaults = domain.default_attributes(buffers, is_snapshot=is_snapshot)
    # All channels of a session of snapshots are copied from memory.
    output = defaults.output
    if not is_snapshot:
        output = request.optional_text("output") or output
        if output not in (OUTPUTS if domain is KERNEL else OUTPUTS[:1]):
            raise refused("NOT_SUPPORTED")
    is_kept = is_snapshot and not request.flag("discard")
    attributes = ChannelAttributes(
        overwrite=request.flag("overwrite") or is_kept,
        output=output,
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
    _check_attributes(attributes, domain)
    return attributes


def _check_attributes(attributes: ChannelAttributes, domain: Domain) -> None:
    size, count = attributes.subbuf_size, attributes.num_subbuf
    least = 2 if attributes.overwrite else 1
    if (
        not PAGE <= size <= LARGEST
        or size & (size - 1)
        or not least <= count <= MOST_SUBBUFS
        or size * count > LARGEST
        or count & (count - 1)
        or attributes.blocking_timeout < -1
        or (attributes.blocking_timeout and domain is KERNEL)
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
    domain = domain_of(registry.backend, request)
    session = registry.session(peer, request.text("session"))
    channel = domain.channels(session).get(request.text("channel"))
    if channel is None:
        raise refused(domain.channel_missing)
    channel.enabled = False
    registry.save(session)
    if session.active:
        await registry.backend.apply(session)
    return {}


def channel_of(
    session: Session, domain: Domain, request: Request, *, is_made: bool
) -> Channel:
    """Return the channel that a request for rules means.

    Args:
        session: Its session.
        domain: Its domain.
        request: Its ``domain``, and ``channel`` if one is named.
        is_made: Whether it is made if it is not there.

    Raises:
        SessionError: There is none, or it must be named.
    """
    name = request.optional_text("channel")
    agent = AGENT_CHANNELS.get(request.optional_text("domain") or "")
    if agent is not None:
        name = agent
    elif name is None:
        if domain.has_other_channels(session, DEFAULT_CHANNEL):
            raise refused("NEED_CHANNEL_NAME")
        name = DEFAULT_CHANNEL
    found = domain.channels(session).get(name)
    if found is None:
        if not is_made:
            raise refused(domain.channel_missing)
        if session.was_active:
            raise refused("TRACE_ALREADY_STARTED")
        found = _new_channel(session, domain, name, Request("", {}))
    return found


async def add_context(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Add the context ``type`` to ``channel``, or to all of a domain.

    Raises:
        SessionError: It is there, the domain has none such, or it comes too late.
    """
    domain = domain_of(registry.backend, request)
    session = registry.session(peer, request.text("session"))
    if session.was_active:
        raise refused("TRACE_ALREADY_STARTED")
    kind = check_context(domain, request.text("type"))
    context = Context(kind.kind, kind.name, kind.type, kind.config)
    channels = _channels_for_context(session, domain, request)
    # To add one twice is an error in user space alone, as in LTTng.
    is_there = all(context in one.contexts for one in channels)
    if is_there and domain is not KERNEL:
        raise refused("UST_CONTEXT_EXIST")
    for channel in channels:
        if context not in channel.contexts:
            channel.contexts.append(context)
    registry.save(session)
    return {}


def check_context(domain: Domain, name: str) -> ContextType:
    """Return what the name of a context of a domain stands for.

    Args:
        domain: The domain.
        name: As it follows ``--type``.

    Raises:
        SessionError: Events of the domain cannot have it.
    """
    kind = context_type(name)
    if domain is not KERNEL:
        if kind is None or not kind.is_of_user_space:
            raise refused("UST_CONTEXT_INVAL")
        return kind
    if kind is None or not kind.is_of_kernel:
        raise refused("KERN_CONTEXT_FAIL")
    reason = kernel_refusal(kind)
    if reason is not None:
        raise refused("KERN_CONTEXT_UNAVAILABLE", reason)
    return kind


def _channels_for_context(
    session: Session, domain: Domain, request: Request
) -> list[Channel]:
    agent = AGENT_CHANNELS.get(request.optional_text("domain") or "")
    name = agent or request.optional_text("channel")
    channels = domain.channels(session)
    if name is not None:
        found = channels.get(name)
        if found is None:
            raise refused(domain.channel_missing)
        return [found]
    if not channels:
        # As when a rule comes first: the channel by default is made.
        return [_new_channel(session, domain, DEFAULT_CHANNEL, Request("", {}))]
    return [*channels.values()]
