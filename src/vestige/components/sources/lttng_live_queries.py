"""What ``source.ctf.lttng-live`` answers without a component."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...errors import GraphError
from ...live import LiveUrl, Viewer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["sessions", "support_info"]

WEIGHT = 0.75
"""How sure it is that a URL is one of its own."""


def sessions(params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the sessions of a relay daemon: each name of each machine once.

    Args:
        params: The parameters: ``url``.

    Raises:
        GraphError: That is no URL of a relay daemon.
        TraceFormatError: It does not answer.
    """
    url = LiveUrl.parse(params["url"])
    if url is None:
        raise GraphError(
            f"'{params['url']}' is no URL of a relay daemon: expected net://HOST[:PORT]"
        )
    found: dict[tuple[str, str], dict[str, Any]] = {}
    viewer = Viewer(url)
    try:
        for one in viewer.sessions():
            known = found.setdefault(
                (one.hostname, one.name),
                {
                    "url": f"{url.relay}/host/{one.hostname}/{one.name}",
                    "target-hostname": one.hostname,
                    "session-name": one.name,
                    "timer-us": one.live_timer,
                    "stream-count": 0,
                    "client-count": 0,
                },
            )
            known["stream-count"] += one.streams
            known["client-count"] = max(known["client-count"], one.clients)
    finally:
        viewer.close()
    return [*found.values()]


def support_info(params: Mapping[str, Any]) -> float:
    """Tell whether an input is a live session.

    Args:
        params: The parameters: ``input`` and ``type``.
    """
    if params["type"] != "string":
        return 0.0
    url = LiveUrl.parse(params["input"])
    return 0.0 if url is None or url.session is None else WEIGHT
