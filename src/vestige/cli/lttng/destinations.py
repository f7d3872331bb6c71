"""Where options let a session or a snapshot be written: a directory, a relay daemon."""

from __future__ import annotations

from ..._typing import NamedTuple
from .call import FAILED, Call, FailedError

__all__ = ["Destination", "of_connections", "of_url"]

UNRECOGNIZED = "Unrecognized URL format."


class Destination(NamedTuple):
    """A directory, or both URIs of a relay daemon."""

    path: str | None = None
    relay: list[str] | None = None


def of_url(call: Call, url: str, *, is_brief: bool = False) -> Destination:
    """Return what a URL names.

    Args:
        call: The command.
        url: The URL, or an absolute path.
        is_brief: Whether one line is said of what is none.

    Raises:
        FailedError: It names nothing that can be written to.
    """
    if url.startswith("/"):
        return Destination(url)
    from ...live.output_url import OutputUrlError, parse_output_url

    try:
        found = parse_output_url(url)
    except OutputUrlError as error:
        if is_brief:
            raise FailedError(FAILED, f"Unable to parse the URL {url}") from None
        call.error(str(error))
        call.error(f"Unable to parse the URL {url}")
        raise FailedError(FAILED, UNRECOGNIZED) from None
    if found[0].is_file:
        return Destination(found[0].path)
    if len(found) == 1:
        raise FailedError(FAILED, UNRECOGNIZED)
    return Destination(relay=[*map(str, found)])


def of_connections(call: Call, control: str, data: str) -> Destination:
    """Return the relay daemon that two URLs name.

    Args:
        call: The command.
        control: That of its control connection.
        data: That of its data connection.

    Raises:
        FailedError: They name none.
    """
    from ...live.output_url import OutputUrlError, connection_uri

    uris = []
    for word, url in (("control", control), ("data", data)):
        try:
            uris.append(connection_uri(url, is_data=word == "data"))
        except OutputUrlError as error:
            call.error(str(error))
            call.error(f"Unable to parse the {word} URL {url}")
            raise FailedError(FAILED, UNRECOGNIZED) from None
    if uris[0].scheme != uris[1].scheme:
        call.error("Control and data destination mismatch")
        raise FailedError(FAILED, UNRECOGNIZED)
    return Destination(relay=[*map(str, uris)])
