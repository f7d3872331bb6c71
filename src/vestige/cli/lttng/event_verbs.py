"""The session verbs of recording event rules: enable-event, disable-event."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...daemon.log_levels import level_name, level_number
from ...daemon.refusals import REFUSALS
from ...errors import SessionError
from .call import DONE, FAILED, WORDS_OF_DOMAINS, Call, FailedError
from .channel_verbs import SESSION
from .event_names import names_of, split_names
from .options import NEEDED, Option

if TYPE_CHECKING:
    from typing import Any

    from ...daemon.xml_tree import Element

__all__ = [
    "DISABLE_EVENT",
    "ENABLE_EVENT",
    "check_exclusions",
    "disable_event",
    "enable_event",
]

DOMAINS = (
    Option("kernel", "the kernel, as root", "k"),
    Option("userspace", "tracepoints of programs", "u"),
    Option("jul", "loggers of java.util.logging", "j"),
    Option("log4j", "loggers of log4j", "l"),
    Option("python", "loggers of Python", "p"),
)
_TYPES = (
    Option("tracepoint", "tracepoints (default)"),
    Option("syscall", "system calls, of the kernel"),
    Option(
        "probe",
        "a probe in the kernel: SYMBOL, SYMBOL+OFFSET, ADDRESS",
        None,
        NEEDED,
        "PLACE",
    ),
    Option(
        "userspace-probe",
        "a probe that the kernel puts into a program: PATH:SYMBOL, elf:PATH:SYMBOL, "
        "sdt:PATH:PROVIDER:NAME",
        None,
        NEEDED,
        "PLACE",
    ),
    Option(
        "function",
        "entry and return of a function of the kernel: as --probe",
        None,
        NEEDED,
        "PLACE",
    ),
)
ENABLE_EVENT = (
    *DOMAINS,
    SESSION,
    Option("channel", "in the channel NAME", "c", NEEDED, "NAME"),
    Option("all", "all events", "a"),
    Option("exclude", "but these names, with commas between", "x", NEEDED, "NAMES"),
    Option("filter", "only if the expression is true", "f", NEEDED, "EXPRESSION"),
    Option("loglevel", "at least as severe as LEVEL", None, NEEDED, "LEVEL"),
    Option("loglevel-only", "of exactly this level", None, NEEDED, "LEVEL"),
    *_TYPES,
)
DISABLE_EVENT = (
    *DOMAINS,
    SESSION,
    Option("channel", "in the channel NAME", "c", NEEDED, "NAME"),
    Option("all-events", "all rules", "a"),
    Option("all", "of any type"),
    Option("tracepoint", "tracepoints, of the kernel"),
    Option("syscall", "system calls, of the kernel"),
    Option("probe", "probes, of the kernel"),
    Option("function", "functions, of the kernel"),
)
CHANNEL_NOT_FOUND = 59
"""The exit status where rules have no channel."""
TYPE_NOT_AVAILABLE = 5
"""The exit status where a type of events is for the kernel."""
_KERNEL_ALONE = ("syscall", "probe", "function")
"""Types of rules that user space does not have."""
_ALL_DOMAINS = "--kernel/--userspace/--jul/--log4j/--python"


def enable_event(call: Call) -> int:
    """Make recording event rules, or enable them again."""
    domain = _domain(call)
    if domain == "KERNEL":
        from .kernel_event_verbs import enable_kernel_events

        return enable_kernel_events(call)
    names = names_of(call, "all")
    session = call.session(call.words.value("session"))
    if any(call.words.has(one.name) for one in _TYPES[1:]):
        raise FailedError(
            TYPE_NOT_AVAILABLE, "Event type not available for user-space tracing"
        )
    level_type, level = _level(call, domain)
    exclusions = [
        one for text in call.words.values("exclude") for one in split_names(text)
    ]
    if exclusions and domain != "UST":
        word = WORDS_OF_DOMAINS[domain]
        raise FailedError(
            FAILED, f"Event name exclusions are not yet implemented for {word} events"
        )
    status = DONE
    shown: list[Element] = []
    for name in names:
        rule = {
            "name": name,
            "level_type": level_type,
            "level": level,
            "filter": call.words.value("filter"),
            "exclusions": exclusions,
        }
        check_exclusions(name, exclusions)
        failed = _enable_one(call, session, domain, rule)
        status = failed or status
        if call.general.is_mi:
            shown.append(_rule_shown(domain, rule, is_done=failed == DONE))
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        call.emit(element("events", *shown), is_success=status == DONE)
    return status


def _domain(call: Call) -> str:
    domain = call.domain("kernel userspace jul log4j python")
    if domain is None:
        raise FailedError(FAILED, f"Please specify a domain ({_ALL_DOMAINS}).")
    return domain


def _level(call: Call, domain: str) -> tuple[str, int]:
    words = call.words
    if words.has("loglevel") and words.has("loglevel-only"):
        raise FailedError(
            FAILED, "Please specify only one of --loglevel and --loglevel-only."
        )
    for option, kind in (("loglevel", "RANGE"), ("loglevel-only", "SINGLE")):
        text = words.value(option)
        if text is not None:
            number = level_number(domain, text)
            if number is None:
                raise FailedError(
                    REFUSALS["INVALID"].status, f"Unknown loglevel {text}"
                )
            return kind, number
    return "ALL", -1


def check_exclusions(name: str, exclusions: list[str]) -> None:
    """Refuse exclusions that make no sense.

    Args:
        name: The pattern of names that are meant.
        exclusions: Patterns of names that are not.

    Raises:
        FailedError: The name is no pattern, or nothing would be left of it.
    """
    if exclusions and "*" not in name:
        raise FailedError(
            FAILED, f"Event {name}: Exclusions can only be used with a globbing pattern"
        )
    for one in exclusions:
        # What ends in its only star leaves nothing of a pattern with the same start.
        if one.find("*") == len(one) - 1 and name.startswith(one[:-1]):
            raise FailedError(
                FAILED, f"Event {name}: {one} excludes all events from {name}"
            )


def _enable_one(call: Call, session: str, domain: str, rule: dict[str, Any]) -> int:
    name, expression = rule["name"], rule["filter"]
    asked = call.words.value("channel")
    try:
        channel = call.client.enable_event(
            session,
            name,
            asked,
            domain=domain,
            level_type=rule["level_type"],
            level=rule["level"],
            filter=expression,
            exclusions=rule["exclusions"],
        )
    except SessionError as error:
        if error.name == "NO_SESSIOND":
            raise
        where = f"channel {_channel_named(asked, error)}, session {session}"
        if error.name == "FILTER_INVAL":
            if error.detail is not None:
                call.error(error.detail)
            where += f", filter '{expression}'"
        call.error(f"Event {name}: {error.message} ({where})")
        return error.status
    _say_enabled(call, domain, rule, channel)
    return DONE


def _channel_named(asked: str | None, error: SessionError) -> str:
    if asked is not None:
        return asked
    return "<default>" if error.name == "NEED_CHANNEL_NAME" else "channel0"


def _say_enabled(call: Call, domain: str, rule: dict[str, Any], channel: str) -> None:
    name, expression = rule["name"], rule["filter"]
    is_all = call.words.has("all")
    exclusions = [
        one for text in call.words.values("exclude") for one in split_names(text)
    ]
    quoted = ", ".join(f'"{one}"' for one in exclusions)
    excluding = f" excluding {quoted}" if exclusions else ""
    word = WORDS_OF_DOMAINS[domain]
    if domain != "UST":
        channel = "channel0"
    if expression is not None:
        start = "" if is_all else f"Event {name}{excluding}: "
        call.say(f"{start}Filter '{expression}' successfully set")
    elif is_all:
        call.say(f"All {word} events{excluding} are enabled in channel {channel}")
    elif domain == "UST":
        call.say(f"{word} event {name}{excluding} created in channel {channel}")
    else:
        call.say(f"{word} event {name} enabled")


def _rule_shown(domain: str, rule: dict[str, Any], *, is_done: bool) -> Element:
    from ...daemon.mi import event_element
    from ...daemon.xml_tree import element

    level = rule["level"]
    name = level_name(domain, level) if isinstance(level, int) else ""
    return event_element(
        {**rule, "filter": None, "enabled": is_done},
        name,
        element("success", is_done),
        is_domain_of_levels=rule["level_type"] != "ALL",
    )


def disable_event(call: Call) -> int:
    """Disable recording event rules."""
    domain = _domain(call)
    is_all = call.words.has("all-events")
    kind = _disabled_type(call, domain)
    names = names_of(call, "all-events")
    session = call.session(call.words.value("session"))
    asked = call.words.value("channel")
    status = DONE
    shown: list[Element] = []
    for name in names:
        chosen = None if is_all else name
        failed = _disable_one(call, session, domain, chosen, kind)
        status = failed or status
        if call.general.is_mi:
            from ...daemon.xml_tree import element

            shown.append(
                element(
                    "event",
                    element("name", name),
                    element("enabled", failed != DONE),
                    element("success", failed == DONE),
                )
            )
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        channel = element("name", asked or "channel0")
        call.emit(
            element("channel", channel, element("events", *shown)),
            is_success=status == DONE,
        )
    return status


def _disabled_type(call: Call, domain: str) -> str:
    """Return the type of rules that is meant: that of user space has but one."""
    if domain == "KERNEL":
        from .kernel_event_verbs import disabled_type

        return disabled_type(call)
    if any(call.words.has(one) for one in ("tracepoint", *_KERNEL_ALONE)):
        raise FailedError(
            FAILED,
            "Disabling userspace and agent (-j | -l | -p) event(s) based on "
            "instrumentation type is not supported.",
        )
    return "ALL"


def _disable_one(
    call: Call, session: str, domain: str, name: str | None, kind: str
) -> int:
    asked = call.words.value("channel")
    channel = asked or "channel0"
    word = WORDS_OF_DOMAINS[domain]
    shown = "any" if kind == "ALL" else kind.lower()
    try:
        call.client.disable_event(session, name, asked, domain=domain, type=kind)
    except SessionError as error:
        if error.name == "NO_SESSIOND":
            raise
        channel = _channel_named(asked, error)
        is_channel_missing = error.name == "UST_CHAN_NOT_FOUND"
        call.error(
            f"{name or '*'} of type {shown} : {error.message} (channel {channel}, "
            f"session {session})"
        )
        return CHANNEL_NOT_FOUND if is_channel_missing else error.status
    if name is None:
        call.say(f"All {word} events of type {shown} are disabled in channel {channel}")
    else:
        call.say(
            f"{word} {name} of type {shown} disabled in channel {channel} for session "
            f"{session}"
        )
    return DONE
