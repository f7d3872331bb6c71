"""The session verbs of inclusion sets: track, untrack."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...errors import SessionError
from .call import DONE, FAILED, Call, FailedError
from .channel_verbs import SESSION
from .options import OPTIONAL, Option

if TYPE_CHECKING:
    from ...daemon.xml_tree import Element

__all__ = ["TRACK", "track", "untrack"]

TRACK = (
    Option("kernel", "what the kernel records, as root", "k"),
    Option("userspace", "programs in user space", "u"),
    SESSION,
    Option(
        "pid", "process IDs; in user space the same as --vpid", "p", OPTIONAL, "PIDS"
    ),
    Option("vpid", "process IDs as processes see them", None, OPTIONAL, "PIDS"),
    Option("uid", "users, of the kernel", None, OPTIONAL, "USERS"),
    Option("vuid", "users, by number or name", None, OPTIONAL, "USERS"),
    Option("gid", "groups, of the kernel", None, OPTIONAL, "GROUPS"),
    Option("vgid", "groups, by number or name", None, OPTIONAL, "GROUPS"),
    Option("all", "all of them", "a"),
)
_NAMES = {
    "pid": "process ID",
    "vpid": "virtual process ID",
    "uid": "user ID",
    "vuid": "virtual user ID",
    "gid": "group ID",
    "vgid": "virtual group ID",
}


def track(call: Call) -> int:
    """Allow processes to record."""
    return _change(call, is_added=True)


def untrack(call: Call) -> int:
    """Forbid processes to record."""
    return _change(call, is_added=False)


def _change(call: Call, *, is_added: bool) -> int:
    chosen = [one for one in _NAMES if call.words.has(one)]
    if not chosen:
        raise FailedError(FAILED, "At least one process attribute must be specified")
    domain = call.domain("kernel userspace")
    if domain is None:
        raise FailedError(FAILED, "Please specify a domain (--kernel/--userspace).")
    session = call.session(call.words.value("session"))
    status = DONE
    shown: list[Element] = []
    for option in chosen:
        attribute = "vpid" if option == "pid" and domain == "UST" else option
        if domain == "UST" and attribute not in {"vpid", "vuid", "vgid"}:
            raise FailedError(
                FAILED,
                f"The {_NAMES[attribute]} process attribute cannot be tracked in the "
                "user space domain.",
            )
        values = _values(call, option, attribute)
        done = [
            (one, _change_one(call, session, domain, attribute, one, is_added=is_added))
            for one in values
        ]
        status = next((FAILED for _, is_done in done if not is_done), status)
        if call.general.is_mi:
            from ...daemon.mi import tracker_element

            shown.append(tracker_element(attribute, done))
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        call.emit(element("process_attr_trackers", *shown), is_success=status == DONE)
    return status


def _values(call: Call, option: str, attribute: str) -> list[str | None]:
    texts = call.words.values(option)
    if not texts:
        if not call.words.has("all"):
            raise FailedError(
                FAILED,
                f"Missing value(s) of the {_NAMES[attribute]} process attribute: "
                "expected some, or --all",
            )
        return [None]
    if call.words.has("all"):
        raise FailedError(
            FAILED,
            "The --all option cannot be used with a list of process attribute values",
        )
    values = [one for text in texts for one in text.split(",")]
    for one in values:
        is_number = one.isascii() and one.isdecimal()
        if not is_number and (attribute in {"pid", "vpid"} or not one):
            raise FailedError(
                FAILED,
                f"{one} is not a valid {_NAMES[attribute]} value; expected an integer",
            )
    return [*values]


def _change_one(  # noqa: PLR0913 - as the daemon asks for them
    call: Call,
    session: str,
    domain: str,
    attribute: str,
    value: str | None,
    *,
    is_added: bool,
) -> bool:
    name = _NAMES[attribute]
    try:
        client = call.client
        do = client.track if is_added else client.untrack
        do(session, attribute, value, domain=domain)
    except SessionError as error:
        if error.name == "PROCESS_ATTR_EXISTS":
            call.warn(f"{value} is already in the {name} inclusion set")
            return True
        if error.name in {"PROCESS_ATTR_MISSING", "TRACKING_POLICY"}:
            call.warn(f"{value} is not in the {name} inclusion set")
            return True
        if error.name in {"USER_NOT_FOUND", "GROUP_NOT_FOUND"}:
            kind = "User" if error.name == "USER_NOT_FOUND" else "Group"
            call.error(f"{kind} `{value}` was not found")
            return False
        if error.name == "NO_SESSIOND":
            raise
        call.error(error.message)
        return False
    if value is None:
        policy = "include all" if is_added else "exclude all"
        call.say(
            f"{name.capitalize()} tracking policy set to `{policy}`".replace(
                " id ", " ID "
            )
        )
    elif is_added:
        call.say(f"Added {value} to the {name} tracker inclusion set")
    else:
        call.say(f"Removed {value} from the {name} tracker inclusion set")
    return True
