"""The session verbs of chunks: rotate, clear, enable-rotation, disable-rotation."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...daemon.numbers import LARGEST, read_size, read_time
from ...daemon.places import archive_element, archive_text
from ...errors import SessionError
from .call import DONE, FAILED, Call, FailedError
from .options import NEEDED, Option

if TYPE_CHECKING:
    from typing import Any

    from ...daemon.xml_tree import Element

__all__ = [
    "CLEAR",
    "DISABLE_ROTATION",
    "ENABLE_ROTATION",
    "ROTATE",
    "clear",
    "disable_rotation",
    "enable_rotation",
    "rotate",
    "warn_of_failure",
]

_SESSION = Option(
    "session", "of the session NAME, not the current one", "s", NEEDED, "NAME"
)
ROTATE = (Option("no-wait", "do not print where the archive is", "n"),)
CLEAR = (Option("all", "clear all sessions", "a"),)
ENABLE_ROTATION = (
    _SESSION,
    Option("timer", "archive a chunk after TIME (us by default)", None, NEEDED, "TIME"),
    Option("size", "archive a chunk after SIZE bytes", None, NEEDED, "SIZE"),
)
DISABLE_ROTATION = (
    _SESSION,
    Option("timer", "archive chunks by time no more"),
    Option("size", "archive chunks by size no more"),
)
_WORDS = {"timer": "periodic", "size": "size-based"}


def rotate(call: Call) -> int:
    """Archive the present chunk of a session."""
    name = call.session(*call.words.arguments[:1])
    is_awaited = not call.words.has("no-wait")
    try:
        answer = call.client.rotate(name)
    except SessionError as error:
        if error.name == "NO_SESSIOND":
            raise
        raise FailedError(FAILED, str(error)) from None
    location = None
    if is_awaited:
        call.say(
            "Waiting for rotation to complete...",
            f"Trace chunk archive for session {name} is now readable "
            f"{archive_text(answer['path'], answer.get('relay'))}",
        )
    else:
        call.say(f"Rotation ongoing for session {name}")
    status = warn_of_failure(call, answer)
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        if is_awaited:
            location = archive_element(answer["path"], answer.get("relay"))
        call.emit(
            element(
                "rotation",
                element("session_name", name),
                element("state", "COMPLETED" if is_awaited else "ONGOING"),
                location,
            ),
            is_success=status == DONE,
        )
    return status


def warn_of_failure(call: Call, answer: dict[str, Any]) -> int:
    """Say why a part of a trace was not written; return the status for it.

    Args:
        call: The command.
        answer: What the daemon says.
    """
    if answer.get("failure"):
        call.error(f"A part of the trace could not be written: {answer['failure']}")
        return FAILED
    return DONE


def clear(call: Call) -> int:
    """Throw away what a session has recorded, or all have."""
    others = call.words.arguments[0 if call.words.has("all") else 1 :]
    if others:
        raise FailedError(FAILED, f"Unknown argument: {others[0]}")
    if call.words.has("all"):
        names = [str(one["name"]) for one in call.client.sessions()]
        if not names:
            call.say("No session found, nothing to do.")
    else:
        names = [call.session(*call.words.arguments)]
    cleared: list[dict[str, Any]] = []
    status = DONE
    for name in names:
        try:
            answer = call.client.clear(name)
        except SessionError as error:
            if error.name == "NO_SESSIOND":
                raise
            is_missing = error.name == "SESS_NOT_FOUND"
            call.error(f"Session name {name} not found" if is_missing else str(error))
            status = error.status
            continue
        # What is in memory alone is cleared at once.
        if answer["active"] and answer["output"] is not None:
            call.say(f'Waiting for clear of session "{name}"..')
        status = warn_of_failure(call, answer) or status
        call.say(f'Session "{name}" cleared')
        cleared.append(answer)
    if call.general.is_mi:
        from ...daemon.mi import session_element
        from ...daemon.xml_tree import element

        shown = map(session_element, cleared)
        call.emit(element("sessions", *shown), is_success=status == DONE)
    return status


def enable_rotation(call: Call) -> int:
    """Archive chunks by time or by size from now on."""
    name = call.session(call.words.value("session"))
    wanted = []
    for kind, read in (("timer", read_time), ("size", read_size)):
        if not call.words.has(kind):
            continue
        if len(call.words.values(kind)) > 1:
            raise FailedError(
                FAILED,
                f"Only one {_WORDS[kind]} rotation schedule may be set on a session.",
            )
        given = call.words.value(kind) or ""
        value = read(given)
        if value is None:
            raise FailedError(FAILED, f"Invalid value for --{kind} option: {given}")
        # LTTng has this number for none.
        if value in {0, LARGEST}:
            raise FailedError(FAILED, f"Invalid value for {_WORDS[kind]} option")
        wanted.append((kind, value))
    if not wanted:
        raise FailedError(FAILED, "No session rotation schedule parameter provided.")
    results: list[tuple[str, int | None, bool]] = []
    for kind, value in wanted:
        is_done = _set(call, name, kind, value)
        results.append((kind, value, is_done))
    return _answer(call, name, results)


def _set(call: Call, name: str, kind: str, value: int) -> bool:
    word = _WORDS[kind]
    try:
        call.client.set_rotation(name, kind, value)
    except SessionError as error:
        if error.name == "NO_SESSIOND":
            raise
        if error.name == "ROTATION_SCHEDULE_SET":
            call.error(f"A {word} rotation schedule is already set on session {name}")
        elif error.name == "INVALID":
            call.error(f"Invalid parameter for {word} rotation schedule")
        else:
            call.error(f"Failed to enable {word} rotation schedule on session {name}")
        return False
    every = f"{value} us" if kind == "timer" else f"{value} bytes written"
    call.say(f"Enabled {word} rotations every {every} on session {name}")
    return True


def disable_rotation(call: Call) -> int:
    """Archive chunks by time or by size no more."""
    name = call.session(call.words.value("session"))
    kinds = [kind for kind in ("timer", "size") if call.words.has(kind)]
    if not kinds:
        raise FailedError(FAILED, "No session rotation schedule type provided.")
    results = []
    for kind in kinds:
        word, value = _WORDS[kind], None
        try:
            value = call.client.unset_rotation(name, kind)
        except SessionError as error:
            if error.name == "NO_SESSIOND":
                raise
            if error.name == "ROTATION_SCHEDULE_NOT_SET":
                call.error(f"No {word} rotation schedule active on session {name}")
            else:
                call.error(f"Failed to list rotation schedules of session {name}")
        else:
            call.say(f"Disabled {word} rotation on session {name}")
        results.append((kind, value, value is not None))
    return _answer(call, name, results)


def _answer(call: Call, name: str, results: list[tuple[str, int | None, bool]]) -> int:
    is_success = all(is_done for *_, is_done in results)
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        call.emit(
            element(
                "rotation_schedule_results",
                element("session_name", name),
                *(
                    element(
                        "rotation_schedule_result",
                        element("rotation_schedule", _schedule(kind, value)),
                        element("success", is_done),
                    )
                    for kind, value, is_done in results
                ),
            ),
            is_success=is_success,
        )
    return DONE if is_success else FAILED


def _schedule(kind: str, value: int | None) -> Element:
    from ...daemon.mi import schedule_element

    return schedule_element(kind, value)
