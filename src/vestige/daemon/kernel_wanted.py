"""What sessions want of the kernel, as its recording process is told."""

from __future__ import annotations

import uuid

from ..record.backends.kernel.metadata import ClockFacts
from ..record.backends.kernel.rules import KernelRule
from ..record.backends.kernel.wanted import ChannelWanted, Wanted
from ..record.backends.lttng_ust.clock import Clock
from ..record.trace_directory import KERNEL
from .model import Channel, EventRule, Session
from .tracking_verbs import tracked_number

__all__ = ["channels_wanted", "kernel_rule", "kernel_wanted", "tracked_wanted"]

_KINDS = {
    "TRACEPOINT": "tracepoint",
    "SYSCALL": "syscall",
    "PROBE": "probe",
    "FUNCTION": "function",
    "USERSPACE_PROBE": "userspace-probe",
}


def channels_wanted(session: Session) -> list[ChannelWanted]:
    """Return what a session wants of the kernel.

    Args:
        session: The session.
    """
    return [_channel(session, one) for one in session.kernel_channels.values()]


def _channel(session: Session, channel: Channel) -> ChannelWanted:
    attributes = channel.attributes
    # Of what is sent, the relay daemon limits the files.
    limits = (attributes.tracefile_size, attributes.tracefile_count)
    size, count = (0, 0) if session.relay is not None else limits
    return ChannelWanted(
        channel.name,
        [kernel_rule(one) for one in channel.rules if one.enabled],
        attributes.subbuf_size * attributes.num_subbuf,
        attributes.overwrite,
        is_enabled=channel.enabled,
        contexts=[one.name for one in channel.contexts],
        switch_timer=attributes.switch_timer,
        is_kept=session.output is None,
        tracefile_size=size,
        tracefile_count=count,
    )


def kernel_rule(rule: EventRule) -> KernelRule:
    """Return a rule as whoever records the kernel has it.

    Args:
        rule: The rule.
    """
    return KernelRule(
        _KINDS[rule.type], rule.name, filter=rule.filter, location=rule.location
    )


def tracked_wanted(session: Session) -> dict[str, list[int] | None]:
    """Return the numbers of the inclusion sets of a session.

    Args:
        session: The session.
    """
    return {
        attribute: None
        if values is None
        else [tracked_number(attribute, one) for one in values]
        for attribute, values in session.kernel_trackers.items()
    }


def kernel_wanted(session: Session, *, is_renewed: bool = False) -> Wanted:
    """Return the trace of the kernel that a session wants.

    Args:
        session: The session.
        is_renewed: Whether there is one before it, which stays.
    """
    return Wanted(
        f"{session.output}/{KERNEL}" if session.output is not None else "",
        session.name,
        str(uuid.uuid4()),
        _clock(session),
        session.uid,
        session.gid,
        channels_wanted(session),
        live=session.live_timer,
        older="kept" if session.is_taken_over or is_renewed else "replaced",
        grows=True,
        tracked=tracked_wanted(session),
    )


def _clock(session: Session) -> ClockFacts:
    """Return the clock of a session with channels of the kernel, in all domains."""
    clock = Clock()
    offset = session.clock_offset
    return ClockFacts(
        clock.name,
        clock.description,
        clock.uuid,
        clock.frequency,
        clock.offset() if offset is None else offset,
    )
