"""The session verbs that need no session of the daemon: view, version, help."""

from __future__ import annotations

import os
import shlex
import sys

from ... import __version__
from ..._typing import TYPE_CHECKING
from ...daemon.places import shown_output
from ...errors import SessionError
from .call import DONE, FAILED, Call, FailedError
from .options import NEEDED, Option

if TYPE_CHECKING:
    pass

__all__ = ["VIEW", "version", "view"]

VIEW = (
    Option(
        "viewer", "read with READER, a program and its arguments", "e", NEEDED, "READER"
    ),
    Option("trace-path", "read the trace in DIR", "t", NEEDED, "DIR"),
)
LTTNG = (2, 13)
"""The version of LTTng whose verbs these are."""


def view(call: Call) -> int:
    """Show the events of a session, by ``vestige view`` unless told otherwise."""
    path = call.words.value("trace-path")
    if path is None:
        path = _output_of(call, call.session(*call.words.arguments[:1]))
    viewer = call.words.value("viewer")
    if viewer is None:
        command = [sys.executable, "-m", "vestige", "view"]
    else:
        try:
            command = shlex.split(viewer)
        except ValueError as error:
            raise FailedError(FAILED, f"{viewer}: {error}") from None
        call.say(f"Trace directory: {path}", "")
    sys.stdout.flush()
    try:
        os.execvp(command[0], [*command, path])  # noqa: S606 - the viewer, without a shell
    except OSError as error:
        raise FailedError(
            FAILED, f'Failed to launch "{command[0]}" viewer: {error.strerror}'
        ) from None


def _output_of(call: Call, name: str) -> str:
    try:
        session = call.client.describe(name)
    except SessionError as error:
        if error.name != "SESS_NOT_FOUND":
            raise
        raise FailedError(FAILED, f"Session name {name} not found") from None
    if session.get("relay"):
        place = shown_output(session)
        raise FailedError(FAILED, f"Session {name} is sent to a relay daemon: {place}")
    output: str | None = session["output"]
    if output is None:
        raise FailedError(FAILED, f"Session {name} has no output")
    return output


def version(call: Call) -> int:
    """Print which version this is."""
    number = ".".join(map(str, LTTNG))
    call.say(f"lttng version {number} - Vestige {__version__}")
    call.say("")
    call.say(f"The session verbs of LTTng {number}, by Vestige.")
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        call.emit(
            element(
                "version",
                element("string", number),
                element("major", LTTNG[0]),
                element("minor", LTTNG[1]),
                element("commit", ""),
                element("patchLevel", 0),
                element("name", f"Vestige {__version__}"),
                element("description", f"The session verbs of LTTng {number}"),
                element("url", "https://github.com/vestige-trace/vestige"),
                element("license", "MIT"),
            )
        )
    return DONE
