"""Recording sessions that are read while they run, over LTTng's live protocol.

A relay daemon (``lttng-relayd``) keeps what the machines record that send it their live
sessions. :mod:`.url` says where a session is, :mod:`.messages` reads and writes what is
sent, :mod:`.viewer` asks.
"""

from __future__ import annotations

from .fetch import Fetch
from .messages import Index, IndexStatus, RemoteSession, RemoteStream
from .url import LiveUrl
from .viewer import Viewer

__all__ = [
    "Fetch",
    "Index",
    "IndexStatus",
    "LiveUrl",
    "RemoteSession",
    "RemoteStream",
    "Viewer",
]
