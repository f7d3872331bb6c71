"""The session verbs of whole sessions: create, destroy, start, stop and so on."""

from __future__ import annotations

import os
import time

from ..._typing import TYPE_CHECKING
from ...daemon.numbers import read_time
from ...daemon.places import archive_text, shown_output
from ...daemon.run_paths import home_folder
from ...errors import SessionError
from .call import DONE, FAILED, Call, FailedError
from .current_session import remove_current, write_current
from .destinations import Destination, of_connections, of_url
from .options import NEEDED, OPTIONAL, Option

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "CREATE",
    "DESTROY",
    "REGENERATE",
    "SET_SESSION",
    "START",
    "STOP",
    "create",
    "destroy",
    "regenerate",
    "set_session",
    "start",
    "stop",
]

LIVE_TIMER = 1_000_000
"""Microseconds, as in LTTng."""
UNSUPPORTED_OUTPUT = "Unsupported output type specified for live session."

CREATE = (
    Option("output", "write the trace into the directory DIR", "o", NEEDED, "DIR"),
    Option("no-output", "write no trace"),
    Option(
        "set-url",
        "send the trace to URL: net://HOST[:PORT[:PORT]][/DIR], file://DIR",
        "U",
        NEEDED,
        "URL",
    ),
    Option("ctrl-url", "send control messages to URL, tcp://HOST", "C", NEEDED, "URL"),
    Option("data-url", "send data to URL, tcp://HOST[:PORT]", "D", NEEDED, "URL"),
    Option("shm-path", "keep the ring buffers below DIR", None, NEEDED, "DIR"),
    Option("snapshot", "record to buffers; write them with 'snapshot record'"),
    Option("live", "let viewers read it while it is recorded", None, OPTIONAL, "US"),
    Option("no-consumer", "has no meaning any more"),
)
DESTROY = (
    Option("all", "destroy all sessions", "a"),
    Option("no-wait", "do not wait until the trace is complete", "n"),
)
SET_SESSION = START = ()
STOP = (Option("no-wait", "do not wait until the trace is complete", "n"),)
REGENERATE = (
    Option("session", "of the session NAME, not the current one", "s", NEEDED, "NAME"),
)


def create(call: Call) -> int:
    """Create a session, and make it the current one."""
    name = _only_argument(call)
    if name == "auto":
        raise FailedError(FAILED, "auto is a reserved keyword for default session(s)")
    live_timer = _live_timer(call)
    destination = _destination(call, is_live=live_timer > 0)
    call.have_daemon()
    if live_timer and destination.relay is None:
        destination = _local_relay(call)
    shm_path = call.words.value("shm-path")
    session = call.client.create(
        name,
        destination.path,
        no_output=call.words.has("no-output"),
        shm_path=None if shm_path is None else os.path.abspath(shm_path),  # noqa: PTH100 - pathlib takes long to import
        home=home_folder(),
        snapshot=call.words.has("snapshot"),
        relay=destination.relay,
        live_timer=live_timer,
    )
    call.say(*_created_lines(session))
    write_current(str(session["name"]))
    if call.general.is_mi:
        from ...daemon.mi import session_element

        call.emit(session_element(session))
    return DONE


def _created_lines(session: dict[str, Any]) -> list[str]:
    """Return what people are told of a new session."""
    name = session["name"]
    lines = [f"Session {name} created."]
    if session["is_snapshot"]:
        lines = [f"Snapshot session {name} created."]
        lines += [
            f"Default snapshot output set to {one['path']}"
            for one in session["snapshot_outputs"]
        ]
        lines.append(
            "Every channel enabled for this session will be set to mmap output and "
            "default to overwrite mode."
        )
    output = shown_output(session)
    if session["live_timer"]:
        lines = [f"Live session {name} created."]
    if output is not None:
        lines.append(f"Traces will be output to {output}")
    if session["live_timer"]:
        lines.append(f"Live timer interval set to {session['live_timer']} us")
    if session["shm_path"] is not None:
        lines.append(f"Shared memory path set to {session['shm_path']}")
    return lines


def _only_argument(call: Call) -> str | None:
    arguments = call.words.arguments
    if len(arguments) > 1:
        raise FailedError(FAILED, f"Unknown argument: {arguments[1]}")
    return arguments[0] if arguments else None


def _live_timer(call: Call) -> int:
    """Return after how many microseconds viewers see events; 0: there are none."""
    if not call.words.has("live"):
        return 0
    text = call.words.value("live")
    if text is None:
        return LIVE_TIMER
    timer = read_time(text)
    if timer is None:
        raise FailedError(FAILED, f"Wrong value for --live parameter: {text}")
    if timer >= 1 << 32:
        raise FailedError(FAILED, f"32-bit overflow in --live parameter: {text}")
    if timer == 0:
        raise FailedError(FAILED, "Live timer interval must be greater than zero")
    return timer


def _local_relay(call: Call) -> Destination:
    """Return the relay daemon of this machine, which is started if there is none."""
    from .local_relay import URL, has_relay, start_relay

    if not has_relay():
        call.say("Spawning a relayd daemon")
        start_relay()
    return of_url(call, URL)


def _destination(call: Call, *, is_live: bool = False) -> Destination:
    """Return where options let the trace be written, if they do."""
    words = call.words
    if words.has("live") and words.has("snapshot"):
        raise FailedError(FAILED, "Snapshot and live modes are mutually exclusive.")
    control, data = words.value("ctrl-url"), words.value("data-url")
    output, url = words.value("output"), words.value("set-url")
    given = (output, url, data if control is None else control)
    if sum(one is not None for one in given) > 1:
        raise FailedError(
            FAILED,
            "Only one of the --set-url, --ctrl-url/data-url, or --output options may "
            "be used at once.",
        )
    if (control is None) != (data is None):
        raise FailedError(FAILED, "Both control and data URLs must be specified.")
    if control is not None and data is not None:
        return of_connections(call, control, data)
    found = Destination() if url is None else of_url(call, url)
    is_local = output is not None or found.path is not None or words.has("no-output")
    if is_live and is_local:
        raise FailedError(FAILED, UNSUPPORTED_OUTPUT)
    if url is not None:
        return found
    return Destination(None if output is None else os.path.abspath(output))  # noqa: PTH100 - as above


def destroy(call: Call) -> int:
    """Destroy a session, or all."""
    if call.words.has("all"):
        names = [str(one["name"]) for one in call.client.sessions()]
        if not names:
            call.say("No session found, nothing to do.")
    else:
        named = call.words.arguments[:1]
        names = [call.session(*named)]
    destroyed: list[dict[str, object]] = []
    status = DONE
    for name in names:
        try:
            one, failed = _destroy_one(call, name)
            destroyed.append(one)
            status = failed or status
        except SessionError as error:
            if error.name != "SESS_NOT_FOUND":
                raise
            call.error(f"Session name {name} not found")
            status = error.status
    if status == DONE and not call.words.has("all") and call.words.arguments[1:]:
        call.error(f"Unknown argument: {call.words.arguments[1]}")
        status = FAILED
    if call.general.is_mi:
        from ...daemon.mi import session_element
        from ...daemon.xml_tree import element

        shown = [
            session_element({**one, "active": one["was_active"]}) for one in destroyed
        ]
        call.emit(element("sessions", *shown), is_success=status == DONE)
    return status


def _destroy_one(call: Call, name: str) -> tuple[dict[str, Any], int]:
    session = call.client.destroy(name)
    archive = session.get("archive")
    is_awaited = session["was_active"] and session["output"] is not None
    if (is_awaited or archive) and not call.words.has("no-wait"):
        place = archive_text(archive, session.get("relay")) if archive else ""
        where = f"Trace chunk archive for session {name} is now readable {place}"
        lines = (f"Destroying session {name}...{where}", "")
        call.say(*(lines if archive else (f"Destroying session {name}..",)))
    status = _warn_of_losses(call, session)
    call.say(f"Session {name} destroyed")
    remove_current(name)
    return session, status


def _warn_of_losses(call: Call, answer: dict[str, Any]) -> int:
    """Say what the trace lacks; return the status for it."""
    for begin, end in answer.get("gaps") or ():
        first, last = (
            time.strftime("%F %T", time.localtime(one)) for one in (begin, end)
        )
        call.warn(
            "The session daemon was killed: programs of LTTng-UST recorded nothing "
            f"from {first} to {last}."
        )
    call.warn_of_silent(
        answer.get("silent") or [],
        "what it records until it does is not in the trace.",
    )
    for key, what in (
        ("discarded_events", "events were discarded"),
        ("lost_packets", "packets were lost"),
    ):
        if count := answer.get(key):
            call.warn(
                f"{count} {what}, please refer to the documentation on channel "
                "configuration."
            )
    if failure := answer.get("failure"):
        call.error(f"A part of the trace could not be written: {failure}")
        return FAILED
    return DONE


def set_session(call: Call) -> int:
    """Make a session the current one."""
    name = _only_argument(call)
    if name is None:
        raise FailedError(FAILED, "Missing session name")
    try:
        call.client.describe(name)
    except SessionError as error:
        if error.name != "SESS_NOT_FOUND":
            raise
        raise FailedError(FAILED, f"Session '{name}' not found") from None
    write_current(name)
    call.say(f"Session set to {name}")
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        session = element("session", element("name", name))
        call.emit(element("sessions", session))
    return DONE


def start(call: Call) -> int:
    """Start a session."""
    name = call.session(_only_argument(call))
    return _switch(call, name, is_started=True)


def stop(call: Call) -> int:
    """Stop a session, and wait until its trace is complete."""
    name = call.session(_only_argument(call))
    return _switch(call, name, is_started=False)


def _switch(call: Call, name: str, *, is_started: bool) -> int:
    word = "started" if is_started else "stopped"
    status, is_done = DONE, False
    try:
        client = call.client
        answer = client.start(name) if is_started else client.stop(name)
        is_done = True
        if not is_started and not call.words.has("no-wait"):
            call.say("Waiting for data availability")
            status = _warn_of_losses(call, answer)
        elif not is_started and answer["failure"]:
            status = FAILED
        call.say(f"Tracing {word} for session {name}")
    except SessionError as error:
        if error.name in {"TRACE_ALREADY_STARTED", "TRACE_ALREADY_STOPPED"}:
            call.warn(f"Tracing already {word} for session {name}")
        elif error.name == "NO_SESSIOND":
            raise
        else:
            call.error(str(error))
        status = error.status
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        session = element(
            "session", element("name", name), element("enabled", is_started)
        )
        call.emit(
            element("sessions", session if is_done else None), is_success=status == DONE
        )
    return status


def regenerate(call: Call) -> int:
    """Write metadata or a state dump once more."""
    arguments = call.words.arguments
    if not arguments:
        raise FailedError(FAILED, "No object specified for regenerate command.")
    if arguments[0] not in {"metadata", "statedump"}:
        raise FailedError(2, "Unrecognized argument used with 'regenerate' command")
    name = call.session(call.words.value("session"))
    silent = call.client.regenerate(name, arguments[0])
    done = "Metadata" if arguments[0] == "metadata" else "State dump"
    call.say(f"{done} successfully regenerated for session {name}")
    call.warn_of_silent(silent, "it describes its state when it does.")
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        call.emit(element("regenerate_action", element("name", arguments[0])))
    return DONE
