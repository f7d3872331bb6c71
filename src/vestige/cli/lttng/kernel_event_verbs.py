"""What enable-event and disable-event do with rules of the kernel."""

from __future__ import annotations

from itertools import groupby

from ..._typing import TYPE_CHECKING, NamedTuple
from ...daemon.refusals import refused
from ...errors import SessionError
from .call import DONE, FAILED, WARNED, Call, FailedError
from .event_names import names_of
from .probe_words import kernel_location, program_location

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...daemon.xml_tree import Element

__all__ = ["KERNEL_TYPES", "disabled_type", "enable_kernel_events"]

KERNEL_TYPES = {
    "tracepoint": "TRACEPOINT",
    "syscall": "SYSCALL",
    "probe": "PROBE",
    "function": "FUNCTION",
    "userspace-probe": "USERSPACE_PROBE",
}
"""Options that choose a type of rules, and what the protocol calls it."""
_OF_ALL = {"ALL": "events", "TRACEPOINT": "tracepoints", "SYSCALL": "system calls"}
"""What people are told of rules for all events of a type."""
_TOO_LATE = (
    "The command tried to enable an event in a new domain for a session that has "
    "already been started once."
)


class _Wanted(NamedTuple):
    """What a command line says of all its rules."""

    session: str
    channel: str | None
    type: str
    location: dict[str, Any] | None
    filter: str | None

    def where(self, error: SessionError) -> str:
        """Say to what an error belongs, as LTTng does."""
        by_default = "<default>" if error.name == "NEED_CHANNEL_NAME" else "channel0"
        where = f"channel {self.channel or by_default}, session {self.session}"
        return where if self.filter is None else f"{where}, filter '{self.filter}'"


def enable_kernel_events(call: Call) -> int:
    """Make recording event rules of the kernel, or enable them again.

    Args:
        call: The call of enable-event.

    Returns:
        The exit status.
    """
    kind = _type(call)
    names = names_of(call, "all")
    session = call.session(call.words.value("session"))
    _check(call, kind)
    wanted = _Wanted(
        session,
        call.words.value("channel"),
        kind,
        _location(call, kind),
        call.words.value("filter"),
    )
    status = DONE
    shown: list[Element] = []
    known: dict[bool, list[str]] = {}
    for name, one, result in _enabled(call, names, wanted):
        failed = _tell(call, name, one, result, known)
        status = failed or status
        if call.general.is_mi:
            shown.append(_shown(name, one, is_done=failed == DONE))
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        call.emit(element("events", *shown), is_success=status == DONE)
    return status


def _type(call: Call) -> str:
    chosen = [one for one in KERNEL_TYPES if call.words.has(one)]
    if len(chosen) > 1:
        raise FailedError(FAILED, "Multiple event type not supported.")
    return KERNEL_TYPES[chosen[0]] if chosen else "ALL"


def _check(call: Call, kind: str) -> None:
    """Refuse what rules of the kernel cannot have."""
    if call.words.has("loglevel") or call.words.has("loglevel-only"):
        call.warn("Kernel loglevels are not supported.")
    if call.words.has("exclude"):
        raise FailedError(
            FAILED, "Event name exclusions are not yet implemented for kernel events"
        )
    if call.words.has("filter") and kind not in _OF_ALL:
        name = kind.lower().replace("_", "-")
        raise FailedError(
            FAILED, f"Filter expressions are not supported for {name} events"
        )
    if call.words.has("all") and kind not in _OF_ALL:
        raise FailedError(FAILED, "Missing event name(s).")


def _location(call: Call, kind: str) -> dict[str, Any] | None:
    words = call.words
    if kind == "PROBE":
        failure = "Unable to parse probe options"
        return kernel_location(words.value("probe") or "", failure)
    if kind == "FUNCTION":
        failure = "Unable to parse function probe options"
        return kernel_location(words.value("function") or "", failure)
    if kind == "USERSPACE_PROBE":
        failure = "Unable to parse userspace probe options"
        return program_location(words.value("userspace-probe") or "", failure)
    return None


def _enabled(
    call: Call, names: list[str], wanted: _Wanted
) -> Iterator[tuple[str, _Wanted, dict[str, Any]]]:
    """Have rules made, those of a type at once; yield what became of each."""
    for kind, group in groupby(names, key=lambda name: _type_of(name, wanted)):
        one, together = wanted._replace(type=kind), [*group]
        try:
            results = call.client.enable_kernel_events(
                one.session,
                together,
                one.channel,
                type=kind,
                location=one.location,
                filter=one.filter,
            )
        except SessionError as error:
            if error.name == "NO_SESSIOND":
                raise
            result = {"refusal": error.name, "detail": error.detail}
            results = [result] * len(together)
        for name, result in zip(together, results, strict=True):
            yield name, one, result


def _type_of(name: str, wanted: _Wanted) -> str:
    # All events are one rule for people: a name means a tracepoint.
    is_named = wanted.type == "ALL" and name != "*"
    return "TRACEPOINT" if is_named else wanted.type


def _tell(
    call: Call,
    name: str,
    wanted: _Wanted,
    result: dict[str, Any],
    known: dict[bool, list[str]],
) -> int:
    """Say what became of a rule; return the exit status."""
    if "refusal" in result:
        error = refused(result["refusal"], result["detail"])
        return _report(call, name, wanted, error)
    channel = result["channel"]
    is_all = call.words.has("all")
    if wanted.filter is not None:
        start = "" if is_all else f"Event {name}: "
        call.say(f"{start}Filter '{wanted.filter}' successfully set")
    elif is_all:
        call.say(f"All kernel {_OF_ALL[wanted.type]} are enabled in channel {channel}")
    else:
        call.say(f"kernel event {name} created in channel {channel}")
    if not result.get("is_matching", True):
        _warn_of_nothing(call, name, wanted, known)
    return DONE


def _report(call: Call, name: str, wanted: _Wanted, error: SessionError) -> int:
    """Say why a rule was refused; return the exit status."""
    where = wanted.where(error)
    is_all = call.words.has("all")
    is_there = error.name == "KERN_EVENT_EXIST" and wanted.filter is None
    if is_there:
        what = "events" if is_all else f"event {name}"
        call.warn(f"Kernel {what} already enabled ({where})")
        return WARNED if is_all else error.status
    if error.name == "FILTER_INVAL" and error.detail is not None:
        call.error(error.detail)
    text = _TOO_LATE if error.name == "TRACE_ALREADY_STARTED" else error.message
    what = f"Event {name}"
    if is_all:
        what = "Events" if wanted.filter is None else "All events"
    call.error(f"{what}: {text} ({where})")
    return FAILED if is_all and wanted.filter is None else error.status


def _warn_of_nothing(
    call: Call, name: str, wanted: _Wanted, known: dict[bool, list[str]]
) -> None:
    """Say that a rule waits for what this kernel does not have.

    What it has is kept in ``known``: for system calls, and for tracepoints.
    """
    from ..suggestions import did_you_mean

    is_call = wanted.type == "SYSCALL"
    what = "system call" if is_call else "tracepoint"
    hint = ""
    if "*" not in name:
        if is_call not in known:
            known[is_call] = call.client.kernel_points(calls=is_call)
        hint = did_you_mean(name, known[is_call])
    call.warn(f"no {what} of this kernel is called '{name}'{hint}")


def _shown(name: str, wanted: _Wanted, *, is_done: bool) -> Element:
    from ...daemon.kernel_mi import kernel_event_element
    from ...daemon.xml_tree import element

    rule = {
        "name": name,
        "type": wanted.type,
        "enabled": is_done,
        "location": wanted.location,
    }
    return kernel_event_element(rule, element("success", is_done))


def disabled_type(call: Call) -> str:
    """Return the type of the rules that are disabled, ``ALL`` for any.

    Args:
        call: The call of disable-event.

    Raises:
        FailedError: It says more than one.
    """
    chosen = [one for one in KERNEL_TYPES if call.words.has(one)]
    if len(chosen) + call.words.has("all") > 1:
        raise FailedError(FAILED, "Multiple event type not supported.")
    return KERNEL_TYPES[chosen[0]] if chosen else "ALL"
