"""The verb that tells what is recorded now, so often as somebody watches."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from ..record.backends.channel_counts import NO_COUNTS, ChannelCounts
from .backend import Backend
from .model import Channel, Session
from .protocol import Request
from .registry import Peer, Registry

__all__ = ["statistics"]


async def statistics(
    registry: Registry,
    peer: Peer,
    request: Request,
) -> dict[str, Any]:
    """Return counts of all sessions that the peer sees, and the programs that run.

    No program is asked, and no file is read. With ``samples``, channels have a
    ``sample``, too: a packet that is not in a file yet, in base 64, or ``None``. That
    tells who watches how large event records are while nothing is written.

    Returns:
        ``sessions``: each with ``name``, ``uid``, ``active``, ``output``, ``created``
        and ``channels``; each of these with ``name``, ``enabled``, ``overwrite`` and
        the members of :class:`~.ChannelCounts`; ``kernel_channels`` has the same of the
        kernel. ``programs``: each with ``pid``,
        ``uid``, ``name``, ``tracer`` and ``sessions``, of those that the peer sees.
    """
    backend = registry.backend
    sessions = registry.sessions(peer)
    seen = {one.name for one in sessions}
    programs = [
        {**one, "sessions": [name for name in one["sessions"] if name in seen]}
        for one in backend.running()
    ]
    return {
        "sessions": [_described(backend, one, request) for one in sessions],
        "programs": programs,
    }


def _described(backend: Backend, session: Session, request: Request) -> dict[str, Any]:
    found = _session(session, backend.counts(session), backend.kernel_counts(session))
    if request.flag("samples"):
        for one in found["channels"]:
            sample = backend.sample(session, one["name"])
            one["sample"] = None if sample is None else b64encode(sample).decode()
    return found


def _session(
    session: Session,
    counts: dict[str, ChannelCounts],
    of_kernel: dict[str, ChannelCounts],
) -> dict[str, Any]:
    return {
        "name": session.name,
        "uid": session.uid,
        "active": session.active,
        # What is sent is not there any more.
        "output": None if session.relay else session.output,
        "created": session.created,
        "channels": [
            _channel(one, counts.get(one.name, NO_COUNTS))
            for one in session.channels.values()
        ],
        "kernel_channels": [
            _channel(one, of_kernel.get(one.name, NO_COUNTS))
            for one in session.kernel_channels.values()
        ],
    }


def _channel(channel: Channel, counts: ChannelCounts) -> dict[str, Any]:
    # What a daemon before this one has counted may be all that is known.
    known = counts._replace(
        discarded_events=max(counts.discarded_events, channel.discarded_events),
        lost_packets=max(counts.lost_packets, channel.lost_packets),
    )
    return {
        "name": channel.name,
        "enabled": channel.enabled,
        "overwrite": channel.attributes.overwrite,
        **known._asdict(),
    }
