"""Where a session and its archives are, as people and programs are told."""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from .xml_tree import element

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .model import Session
    from .xml_tree import Element

__all__ = ["archive_element", "archive_text", "described", "shown_output"]


def described(session: Session) -> dict[str, Any]:
    """Return what clients are told of a session.

    Where what is sent is kept in memory until then is nobody's business.

    Args:
        session: The session.
    """
    facts = session.to_json()
    if session.relay:
        facts["output"] = shown_output(facts)
    return facts


def shown_output(session: Mapping[str, Any]) -> str | None:
    """Return where a session is written or sent to, as LTTng shows it.

    Args:
        session: What the daemon tells of it.

    Returns:
        ``None`` if it has no output.
    """
    relay = session.get("relay")
    if relay:
        from ..live.output_url import read_uri  # noqa: PLC0415 - few sessions are sent

        return f"{relay[0]} [data: {read_uri(relay[1]).port}]"
    output: str | None = session["output"]
    return output


def archive_text(path: str, relay: list[str] | None) -> str:
    """Say where an archive is, after "is now readable".

    Args:
        path: Its path, or where it is below the output of a relay daemon.
        relay: The URIs of that, if it is on one.
    """
    if not relay:
        return f"at {path}"
    from ..live.output_url import read_uri  # noqa: PLC0415 - few sessions are sent

    control, data = map(read_uri, relay)
    host = f"[{control.host}]" if ":" in control.host else control.host
    ports = f"control port {control.port}, data port {data.port}"
    return f"on relay tcp://{host}/{path} [{ports}]"


def archive_element(path: str, relay: list[str] | None) -> Element:
    """Say where an archive is to programs.

    Args:
        path: As of :func:`archive_text`.
        relay: As there.
    """
    if not relay:
        return element("location", element("local", element("absolute_path", path)))
    from ..live.output_url import read_uri  # noqa: PLC0415 - few sessions are sent

    control, data = map(read_uri, relay)
    place = element(
        "relay",
        element("host", control.host),
        element("control_port", control.port),
        element("data_port", data.port),
        element("protocol", "TCP"),
        element("relative_path", path),
    )
    return element("location", place)
