"""Control of what running programs record: recording sessions for Python programs.

:class:`vestige.Session` asks the session daemon, as the commands of ``vestige lttng``
do, with the same client.
"""

from __future__ import annotations

from .._lazy import lazy_names
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .channel import Channel
    from .facts import ChannelStatistics, Losses, Program, Tracepoint
    from .kernel_channel import KernelChannel
    from .kernel_domain import KernelDomain
    from .listening import Notification, Notifications, notifications
    from .recording_event_rule import RecordingEventRule
    from .session import Session, sessions

__all__ = [
    "Channel",
    "ChannelStatistics",
    "KernelChannel",
    "KernelDomain",
    "Losses",
    "Notification",
    "Notifications",
    "Program",
    "RecordingEventRule",
    "Session",
    "Tracepoint",
    "notifications",
    "sessions",
]

_HOMES = {
    "Channel": "channel",
    "ChannelStatistics": "facts",
    "KernelChannel": "kernel_channel",
    "KernelDomain": "kernel_domain",
    "Losses": "facts",
    "Notification": "listening",
    "Notifications": "listening",
    "Program": "facts",
    "RecordingEventRule": "recording_event_rule",
    "Session": "session",
    "Tracepoint": "facts",
    "notifications": "listening",
    "sessions": "session",
}
"""The module of each public name, imported when the name is first used."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
