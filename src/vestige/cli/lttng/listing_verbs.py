"""The session verbs that show: list, status."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...daemon.log_levels import level_name
from ...daemon.places import shown_output
from ...errors import SessionError
from .call import DOMAINS as DOMAIN_OF
from .call import DONE, FAILED, Call, FailedError
from .event_verbs import DOMAINS
from .options import NEEDED, Option
from .session_text import (
    channel_lines,
    domain_names,
    has_kernel,
    has_user_space,
    rule_line,
    session_lines,
    session_state,
)

if TYPE_CHECKING:
    from typing import Any

    from ...daemon.xml_tree import Element

__all__ = ["LIST", "STATUS", "list_", "status"]

LIST = (
    *DOMAINS,
    Option("channel", "only the channel NAME", "c", NEEDED, "NAME"),
    Option("domain", "only the names of domains", "d"),
    Option("fields", "the fields of tracepoints as well", "f"),
    Option("syscall", "system calls of the kernel, not tracepoints", "S"),
)
STATUS = ()
_FIELD_TYPES = ("OTHER", "INTEGER", "ENUM", "FLOAT", "STRING")
_LOGGERS = {"JUL": "jul", "LOG4J": "log4j", "PYTHON": "python"}


def status(call: Call) -> int:
    """Show the current session."""
    call.verb = "list"
    return _show_session(call, call.session())


def list_(call: Call) -> int:
    """Show sessions, one session, or what could be recorded."""
    if call.words.has("syscall") and not call.words.has("kernel"):
        call.warn("--syscall will only work with the Kernel domain (-k)")
        return FAILED
    if call.words.arguments:
        return _show_session(call, call.words.arguments[0])
    domains = [one.name for one in DOMAINS if call.words.has(one.name)]
    if domains:
        return _show_points(call, domains)
    sessions = call.client.sessions()
    if call.general.is_mi:
        from ...daemon.mi import session_element
        from ...daemon.xml_tree import element

        call.emit(element("sessions", *map(session_element, sessions)), is_success=None)
    if not sessions:
        call.say("Currently no available recording session")
        return DONE
    call.say("Available recording sessions:")
    for number, one in enumerate(sessions, 1):
        call.say(f"  {number}) {one['name']} [{session_state(one)}]")
        output = shown_output(one)
        if output is not None:
            call.say(f"    Trace output: {output}")
        if one["live_timer"]:
            call.say(f"    Live timer interval: {one['live_timer']} us")
        call.say("")
    call.say("")
    call.say("Use lttng list <session_name> for more details")
    return DONE


def _show_session(call: Call, name: str) -> int:
    try:
        session = call.client.describe(name)
    except SessionError as error:
        if error.name != "SESS_NOT_FOUND":
            raise
        raise FailedError(FAILED, f"Session '{name}' not found") from None
    chosen = call.words.value("channel")
    channels = {**session["channels"], **session["kernel_channels"]}
    is_missing = chosen is not None and chosen not in channels
    if call.general.is_mi:
        _emit_session(call, session, chosen)
    elif call.words.has("domain"):
        call.say(*session_lines(session), *domain_names(session))
    else:
        domains = {DOMAIN_OF[one.name] for one in DOMAINS if call.words.has(one.name)}
        lines = channel_lines(session, chosen, domains or None)
        call.say(*session_lines(session), *lines)
    if is_missing:
        raise FailedError(FAILED, f"Channel {chosen} not found")
    return DONE


def _emit_session(call: Call, session: dict[str, Any], chosen: str | None) -> None:
    from ...daemon.mi import schedules_element, session_element
    from ...daemon.xml_tree import element

    is_brief = call.words.has("domain")
    domains = _domain_elements(session, chosen, is_brief=is_brief)
    if has_kernel(session):
        domains.insert(0, _kernel_element(session, chosen, is_brief=is_brief))
    shown = session_element(
        session, schedules_element(session), element("domains", *domains)
    )
    call.emit(element("sessions", shown), is_success=None)


def _kernel_element(
    session: dict[str, Any], chosen: str | None, *, is_brief: bool
) -> Element:
    from ...daemon.kernel_mi import kernel_event_element
    from ...daemon.mi import channel_element, trackers_element
    from ...daemon.xml_tree import element

    kind = (element("type", "KERNEL"), element("buffer_type", "GLOBAL"))
    if is_brief:
        return element("domain", *kind)
    channels = [
        channel_element(
            one, element("events", *map(kernel_event_element, one["rules"]))
        )
        for name, one in session["kernel_channels"].items()
        if chosen in {None, name}
    ]
    trackers = trackers_element(session["kernel_trackers"])
    return element("domain", *kind, trackers, element("channels", *channels))


def _domain_elements(
    session: dict[str, Any], chosen: str | None, *, is_brief: bool
) -> list[Element]:
    from ...daemon.mi import channel_element, event_element, trackers_element
    from ...daemon.xml_tree import element

    def rule_element(domain: str, rule: dict[str, Any]) -> Element:
        return event_element(
            rule,
            level_name(domain, rule["level"]),
            is_domain_of_levels=rule["level_type"] != "ALL",
        )

    if not has_user_space(session):
        return []
    buffers = element(
        "buffer_type", "PER_PID" if session["buffers"] == "pid" else "PER_UID"
    )
    channels = [
        channel_element(
            one,
            element("events", *(rule_element("UST", rule) for rule in one["rules"])),
        )
        for name, one in session["channels"].items()
        if chosen in {None, name}
    ]
    more = (trackers_element(session["trackers"]), element("channels", *channels))
    domains = [
        element("domain", element("type", "UST"), buffers, *(() if is_brief else more))
    ]
    for domain, rules in session["agents"].items():
        events = element("events", *(rule_element(domain, rule) for rule in rules))
        domains.append(
            element(
                "domain",
                element("type", domain),
                buffers,
                None if is_brief or chosen is not None else events,
            )
        )
    return domains


def _show_points(call: Call, options: list[str]) -> int:
    domains: list[Element] = []
    for option in options:
        if option == "kernel":
            domains += _show_kernel(call)
        elif option == "userspace":
            has_fields = call.words.has("fields")
            programs, silent = call.client.listed_programs(fields=has_fields)
            _show_tracepoints(call, programs)
            call.warn_of_silent(silent, "its tracepoints are not listed.")
            if call.general.is_mi:
                domains.append(_tracepoints_element(call, programs))
        else:
            programs = call.client.loggers(option.upper())
            _show_loggers(call, option, programs)
            if call.general.is_mi:
                domains.append(_loggers_element(option.upper(), programs))
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        # System calls stand for themselves, as in LTTng.
        is_events = len(domains) == 1 and domains[0].name == "events"
        shown = domains[0] if is_events else element("domains", *domains)
        call.emit(shown, is_success=None)
    return DONE


def _show_kernel(call: Call) -> list[Element]:
    """Show what the kernel can record; return it for the machine interface."""
    from .kernel_text import call_line, tracepoint_line

    is_calls = call.words.has("syscall")
    what = "system calls" if is_calls else "kernel events"
    try:
        names = call.client.kernel_points(calls=is_calls)
    except SessionError as error:
        if error.name == "NO_SESSIOND":
            raise
        raise FailedError(FAILED, f"Unable to list {what}: {error.message}") from None
    call.say("System calls:" if is_calls else "Kernel events:", "-------------")
    line = call_line if is_calls else tracepoint_line
    call.say(*(f"      {line(one)}" for one in names), "")
    if not call.general.is_mi:
        return []
    from ...daemon.kernel_mi import kernel_event_element
    from ...daemon.xml_tree import element

    kind = "SYSCALL" if is_calls else "TRACEPOINT"
    events = element(
        "events", *(kernel_event_element({"name": one, "type": kind}) for one in names)
    )
    if is_calls:
        return [events]
    about = (element("type", "KERNEL"), element("buffer_type", "GLOBAL"))
    return [element("domain", *about, events)]


def _show_loggers(call: Call, option: str, programs: list[dict[str, Any]]) -> None:
    call.say(f"{option} events (Logger name):", "-" * 25, "")
    if not programs:
        call.say("None", "")
    for program in programs:
        call.say(f"PID: {program['pid']} - Name: {program['name']}")
        call.say(*(f"      - {name}" for name in program["loggers"]), "")


def _loggers_element(domain: str, programs: list[dict[str, Any]]) -> Element:
    from ...daemon.mi import event_element, program_element
    from ...daemon.xml_tree import element

    # Loggers have no level of their own: LTTng shows the name of 0.
    level = level_name(domain, 0) or "UNKNOWN"
    shown = (
        program_element(
            one["pid"],
            one["name"],
            [event_element({"name": name}, level) for name in one["loggers"]],
        )
        for one in programs
    )
    return element(
        "domain",
        element("type", domain),
        element("buffer_type", "PER_PID"),
        element("pids", *shown),
    )


def _show_tracepoints(call: Call, programs: list[dict[str, Any]]) -> None:
    call.say("UST events:", "-------------", "")
    if not programs:
        call.say("None", "")
    for program in programs:
        call.say(f"PID: {program['pid']} - Name: {program['name']}")
        for event in program["events"]:
            call.say(f"      {rule_line(event, 'UST', is_point=True)}")
            if call.words.has("fields"):
                for field in event["fields"]:
                    hidden = " [no write]" if field["nowrite"] else ""
                    call.say(
                        f"        field: {field['name']} ({field['type']}){hidden}"
                    )
        call.say("")


def _tracepoints_element(call: Call, programs: list[dict[str, Any]]) -> Element:
    from ...daemon.mi import event_element, program_element
    from ...daemon.xml_tree import element

    def fields_element(event: dict[str, Any]) -> Element | None:
        if not call.words.has("fields"):
            return None
        fields = (
            element(
                "event_field",
                element("name", field["name"]),
                element("type", _field_type(field["type"])),
                element("nowrite", int(field["nowrite"])),
            )
            for field in event["fields"]
        )
        return element("event_fields", *fields)

    shown = [
        program_element(
            one["pid"],
            one["name"],
            [
                event_element(
                    {"name": event["name"]},
                    level_name("UST", event["level"]),
                    fields_element(event),
                )
                for event in one["events"]
            ],
        )
        for one in programs
    ]
    return element(
        "domain",
        element("type", "UST"),
        element("buffer_type", "PER_PID"),
        element("pids", *shown),
    )


def _field_type(name: str) -> str:
    return name.upper() if name.upper() in _FIELD_TYPES else "OTHER"
