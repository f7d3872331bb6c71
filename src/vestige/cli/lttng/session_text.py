"""A session as people see it: channels, attributes, rules."""

from __future__ import annotations

import time

from ..._typing import TYPE_CHECKING
from ...daemon.log_levels import level_name
from ...daemon.places import shown_output

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from typing import Any

__all__ = [
    "channel_lines",
    "domain_names",
    "has_kernel",
    "has_user_space",
    "rule_line",
    "session_lines",
    "session_state",
]

_DOMAINS = {
    "JUL": "java.util.logging (JUL)",
    "LOG4J": "log4j",
    "PYTHON": "Python logging",
}
_SHORT_DOMAINS = {
    "JUL": "JUL (Java Util Logging)",
    "LOG4J": "LOG4J (Logging for Java)",
    "PYTHON": "Python (logging)",
}
_TRACKERS = {
    "pid": "Process IDs:          ",
    "uid": "User IDs:             ",
    "gid": "Group IDs:            ",
    "vpid": "Virtual process IDs:  ",
    "vuid": "Virtual user IDs:     ",
    "vgid": "Virtual group IDs:    ",
}


def session_lines(session: dict[str, Any]) -> list[str]:
    """Return the lines of a session itself.

    Args:
        session: What the daemon tells of it.
    """
    lines = [f"Recording session {session['name']}: [{session_state(session)}]"]
    output = shown_output(session)
    if output is not None:
        lines += [f"    Trace output: {output}", ""]
    lines += [f"    Notice: {one}" for one in session.get("left", ())]
    lines += [f"    Notice: {_gap(one)}" for one in session.get("kernel_gaps", ())]
    timer, size = session["rotation_timer"], session["rotation_size"]
    if timer or size:
        lines.append("Automatic rotation schedules:")
    if timer:
        lines.append(f"    timer period: {timer} us")
    if size:
        lines.append(f"    size threshold: {size} bytes")
    if timer or size:
        lines.append("")
    return lines


def _gap(times: Sequence[float]) -> str:
    """Say when the kernel was not recorded."""
    begin, *end = (time.strftime("%F %T", time.localtime(one)) for one in times)
    until = f"to {end[0]}" if end else "on"
    return f"the kernel was not recorded from {begin} {until}: its process was killed"


def session_state(session: dict[str, Any]) -> str:
    """Return whether a session is active, and its mode if that is not the usual one.

    Args:
        session: What the daemon tells of it.
    """
    activity = "active" if session["active"] else "inactive"
    return f"{activity} snapshot" if session["is_snapshot"] else activity


def has_user_space(session: dict[str, Any]) -> bool:
    """Tell whether there is anything of user space in a session.

    Args:
        session: What the daemon tells of it.
    """
    tracked = session["trackers"].values()
    return bool(session["channels"]) or any(one is not None for one in tracked)


def has_kernel(session: dict[str, Any]) -> bool:
    """Tell whether there is anything of the kernel in a session.

    Args:
        session: What the daemon tells of it.
    """
    tracked = session["kernel_trackers"].values()
    return bool(session["kernel_channels"]) or any(one is not None for one in tracked)


def domain_names(session: dict[str, Any]) -> list[str]:
    """Return the lines of a session's domains.

    Args:
        session: What the daemon tells of it.
    """
    lines = ["Domains:", "-------------"]
    if has_kernel(session):
        lines.append("  - Kernel")
    if has_user_space(session):
        lines.append("  - UST global")
    lines += [f"  - {_SHORT_DOMAINS[domain]}" for domain in session["agents"]]
    return lines


def channel_lines(
    session: dict[str, Any], chosen: str | None, domains: Container[str] | None = None
) -> Iterator[str]:
    """Yield the lines of a session's domains with all that is in them.

    Args:
        session: What the daemon tells of it.
        chosen: The only channel; ``None`` for all.
        domains: The only domains; ``None`` for all.
    """
    if has_kernel(session) and (domains is None or "KERNEL" in domains):
        yield from _kernel(session, chosen)
    if not has_user_space(session):
        return
    if domains is None or "UST" in domains:
        yield from _user_space(session, chosen)
    for domain, rules in session["agents"].items():
        if chosen is None and (domains is None or domain in domains):
            yield from (f"=== Domain: {_DOMAINS[domain]} ===", "")
            yield from ("Events (Logger name):", "---------------------")
            for rule in rules:
                yield f"    - {rule_line(rule, domain)}"
            yield ""


def _kernel(session: dict[str, Any], chosen: str | None) -> Iterator[str]:
    # Few sessions have something of the kernel.
    from .kernel_text import kernel_rule_lines

    yield from ("=== Domain: Linux kernel ===", "")
    yield from _trackers(session["kernel_trackers"])
    for channel in _chosen(session["kernel_channels"], chosen):
        yield from _one_channel(channel, has_losses=not session["is_snapshot"])
        for rule in channel["rules"]:
            yield from (f"      {line}" for line in kernel_rule_lines(rule))
        if not channel["rules"]:
            yield "      None"
        yield ""


def _user_space(session: dict[str, Any], chosen: str | None) -> Iterator[str]:
    scheme = "per-process" if session["buffers"] == "pid" else "per-user"
    yield from ("=== Domain: User space ===", "", f"Buffering scheme: {scheme}", "")
    yield from _trackers(session["trackers"])
    for channel in _chosen(session["channels"], chosen):
        yield from _one_channel(channel, has_losses=not session["is_snapshot"])
        for rule in channel["rules"]:
            yield f"      {rule_line(rule, 'UST')}"
        if not channel["rules"]:
            yield "      None"
        yield ""


def _trackers(trackers: dict[str, list[str] | None]) -> Iterator[str]:
    yield "Tracked process attributes"
    for attribute, values in trackers.items():
        yield f"  {_TRACKERS[attribute]}{_tracked(values)}"
    yield from ("", "Channels:", "-------------")


def _chosen(
    channels: dict[str, dict[str, Any]], chosen: str | None
) -> list[dict[str, Any]]:
    return [one for name, one in channels.items() if chosen in {None, name}]


def _tracked(values: list[str] | None) -> str:
    if values is None:
        return "all"
    shown = [one if one.isdecimal() else f"`{one}`" for one in values]
    return ", ".join(shown) or "none"


def _one_channel(channel: dict[str, Any], *, has_losses: bool) -> Iterator[str]:
    attributes = channel["attributes"]
    is_overwriting = attributes["overwrite"]
    yield f"- {channel['name']}: [{_state(channel)}]"
    yield from ("", "    Attributes:")
    for title, text in (
        ("Event-loss mode:  ", "overwrite" if is_overwriting else "discard"),
        ("Sub-buffer size:  ", f"{attributes['subbuf_size']} bytes"),
        ("Sub-buffer count: ", str(attributes["num_subbuf"])),
        ("Switch timer:     ", _timer(attributes["switch_timer"])),
        ("Read timer:       ", _timer(attributes["read_timer"])),
        ("Monitor timer:    ", _timer(attributes["monitor_timer"])),
        # In a ring that overwrites, nobody waits.
        *(
            ()
            if is_overwriting
            else (("Blocking timeout: ", _timeout(attributes["blocking_timeout"])),)
        ),
        ("Trace file count: ", f"{attributes['tracefile_count'] or 1} per stream"),
        ("Trace file size:  ", _size(attributes["tracefile_size"])),
        ("Output mode:      ", attributes["output"]),
    ):
        yield f"      {title}{text}"
    yield from ("", "    Statistics:")
    if not has_losses:
        yield "      None"
    elif is_overwriting:
        yield f"      Lost packets: {channel['lost_packets']}"
        if channel["discarded_events"]:
            # The kernel counts event records in this mode, too.
            yield f"      Discarded events: {channel['discarded_events']}"
    else:
        yield f"      Discarded events: {channel['discarded_events']}"
    yield from ("", "    Recording event rules:")


def _state(thing: dict[str, Any]) -> str:
    return "enabled" if thing["enabled"] else "disabled"


def _timer(microseconds: int) -> str:
    return f"{microseconds} us" if microseconds else "inactive"


def _timeout(microseconds: int) -> str:
    return "infinity" if microseconds < 0 else f"{microseconds} us"


def _size(count: int) -> str:
    return f"{count} bytes" if count else "unlimited"


def rule_line(rule: dict[str, Any], domain: str, *, is_point: bool = False) -> str:
    """Return a recording event rule, or a tracepoint, in one line.

    Args:
        rule: What the daemon tells of it.
        domain: Its domain.
        is_point: Whether it is a tracepoint.
    """
    level = level_name(domain, rule["level"])
    if is_point:
        return (
            f"{rule['name']} (loglevel: {level} ({rule['level']})) (type: tracepoint)"
        )
    kind = rule["level_type"]
    sign = {"RANGE": "<=", "SINGLE": "=="}.get(kind)
    number = f" ({rule['level']})" if domain == "UST" else ""
    chosen = f" (loglevel {sign} {level}{number})" if sign else ""
    state = f" [{_state(rule)}]"
    exclusions = rule["exclusions"]
    excluding = f" [exclusions: {', '.join(exclusions)}]" if exclusions else ""
    expression = rule["filter"]
    filtered = "" if expression is None else f" [filter: '{expression}']"
    if domain != "UST":
        return f"{rule['name']}{state}{chosen}{filtered}"
    return f"{rule['name']}{chosen} (type: tracepoint){state}{excluding}{filtered}"
