"""The session verb of snapshots, with its actions."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...daemon.numbers import read_size
from ...errors import SessionError
from .call import DONE, FAILED, UNDEFINED, Call, FailedError
from .destinations import Destination, of_connections, of_url
from .options import NEEDED, Option

if TYPE_CHECKING:
    from typing import Any

    from ...daemon.xml_tree import Element

__all__ = ["SNAPSHOT", "snapshot"]

SNAPSHOT = (
    Option(
        "session", "of the session NAME, not the current one", "s", NEEDED, "SESSION"
    ),
    Option("ctrl-url", "send control messages to URL, tcp://HOST", "C", NEEDED, "URL"),
    Option("data-url", "send data to URL, tcp://HOST[:PORT]", "D", NEEDED, "URL"),
    Option("name", "begin the names of snapshots with NAME", "n", NEEDED, "NAME"),
    Option("max-size", "write so much of the newest at most", "m", NEEDED, "SIZE"),
)
NO_LIMIT = (1 << 64) - 1
INVALID = "Invalid parameter"
"""What LTTng says of URLs that are none."""
UNWRITTEN = {"CREATE_DIR_FAIL", "SNAPSHOT_FAIL"}


def snapshot(call: Call) -> int:
    """Take a snapshot, or change or show where they are written."""
    actions = {
        "record": _record,
        "add-output": _add_output,
        "list-output": _list_output,
        "del-output": _del_output,
    }
    arguments = call.words.arguments
    session = call.session(call.words.value("session"))
    if not arguments:
        raise FailedError(FAILED, "No action specified for snapshot command.")
    if arguments[0] not in actions:
        raise FailedError(
            UNDEFINED, "Unrecognized argument used with 'snapshot' command"
        )
    try:
        found = actions[arguments[0]](call, session)
    except (SessionError, FailedError) as error:
        if isinstance(error, SessionError) and error.name == "NO_SESSIOND":
            raise
        _emit(call, arguments[0], None, is_success=False)
        call.error(_text(error))
        return FAILED
    _emit(call, arguments[0], found, is_success=True)
    return DONE


def _text(error: SessionError | FailedError) -> str:
    """Return why, and of what cannot be written more than LTTng says."""
    if isinstance(error, SessionError) and error.name in UNWRITTEN:
        return str(error)
    return str(error.message)


def _emit(call: Call, action: str, found: Element | None, *, is_success: bool) -> None:
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        shown = element(
            "snapshot_action", element("name", action), element("output", found)
        )
        call.emit(shown, is_success=is_success)


def _argument(call: Call) -> str | None:
    """Return what follows the action; an empty word is nothing."""
    return next(iter(call.words.arguments[1:]), None) or None


def _place(call: Call) -> Destination:
    """Return the directory or the relay daemon that is chosen, if one is."""
    control, data = call.words.value("ctrl-url"), call.words.value("data-url")
    if (control is None) != (data is None):
        raise FailedError(FAILED, "URLs must be specified for both data and control")
    url = _argument(call)
    if control is not None and data is not None:
        if url is not None:
            raise FailedError(FAILED, INVALID)
        return of_connections(call, control, data)
    return Destination() if url is None else of_url(call, url, is_brief=True)


def _written(call: Call) -> str | None:
    """Return how the place was written, if one is chosen."""
    return call.words.value("ctrl-url") or _argument(call)


def _max_size(call: Call) -> int:
    text = call.words.value("max-size")
    if text is None:
        return 0
    number = read_size(text)
    if number is None:
        raise FailedError(FAILED, f"Unable to handle max-size value {text}")
    return number


def _record(call: Call, session: str) -> Element:
    from ...daemon.xml_tree import element

    place, url = _place(call), _written(call)
    size = _max_size(call)
    try:
        taken = call.client.record_snapshot(
            session,
            place.path,
            name=call.words.value("name"),
            max_size=size,
            relay=place.relay,
        )
    except SessionError as error:
        if error.name == "MAX_SIZE_INVALID":
            call.error(
                "Invalid snapshot size. Cannot fit at least one packet per stream."
            )
        raise
    for said in taken["left"]:
        call.warn(said)
    call.say(f"Snapshot recorded successfully for session {session}")
    data = call.words.value("data-url")
    if data is not None:
        call.say(f"Snapshot written to ctrl: {url}, data: {data}")
    elif url is not None:
        call.say(f"Snapshot written at: {url}")
    return element(
        "snapshot",
        None if url is None else element("ctrl_url", url),
        None if data is None else element("data_url", data),
    )


def _add_output(call: Call, session: str) -> Element:
    place, url = _place(call), _written(call)
    if url is None:
        raise FailedError(
            FAILED,
            "An output destination must be specified to add a snapshot output.",
        )
    size = _max_size(call)
    added = call.client.add_snapshot_output(
        session,
        place.path,
        name=call.words.value("name"),
        max_size=size,
        relay=place.relay,
    )
    call.say(
        f"Snapshot output successfully added for session {session}",
        f"  {_line({**added, 'path': url})}",
    )
    from ...daemon.xml_tree import element

    return element(
        "snapshot",
        element("id", added["number"]),
        element("name", added["name"]),
        element("ctrl_url", url),
        element("session_name", session),
        element("max_size", added["max_size"] or NO_LIMIT),
    )


def _line(output: dict[str, Any]) -> str:
    size = output["max_size"]
    limit = f" (max size: {size} bytes)" if size else ""
    return f"[{output['number']}] {output['name']}: {output['path']}{limit}"


def _list_output(call: Call, session: str) -> Element:
    found = call.client.snapshot_outputs(session)
    outputs = found["outputs"]
    lines = [f"    {_line(one)}" for one in outputs] or ["    None"]
    lines += [f"    Notice: {one}" for one in found["left"]]
    call.say(f"Snapshot output list for session {session}", *lines)
    from ...daemon.xml_tree import element

    shown = [
        element(
            "snapshot",
            element("id", one["number"]),
            element("name", one["name"]),
            element("ctrl_url", one["path"]),
            element("data_url", one.get("data") or ""),
            element("max_size", one["max_size"]),
        )
        for one in outputs
    ]
    return element("session", element("name", session), element("snapshots", *shown))


def _del_output(call: Call, session: str) -> Element:
    wanted = _argument(call)
    if wanted is None:
        raise FailedError(
            FAILED,
            "A snapshot output name or id must be provided to delete a snapshot "
            "output.",
        )
    call.client.remove_snapshot_output(session, wanted)
    which = f"id {wanted}" if wanted.isdecimal() else wanted
    call.say(f"Snapshot output {which} successfully deleted for session {session}")
    from ...daemon.xml_tree import element

    told = element("id" if wanted.isdecimal() else "name", wanted)
    return element("snapshot", told, element("session_name", session))
