"""Triggers as ``list-triggers`` shows them."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...daemon.log_levels import PREFIXES, level_name
from ...daemon.triggers.capture_text import capture_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["trigger_lines"]

_DOMAINS = {
    "user-tracepoint": "UST",
    "jul-logging": "JUL",
    "log4j-logging": "LOG4J",
    "python-logging": "PYTHON",
}


def trigger_lines(trigger: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that describe a trigger.

    Args:
        trigger: As the daemon has it.
    """
    yield f"- name: {trigger['name']}"
    yield f"  owner uid: {trigger['owner_uid']}"
    condition = trigger["condition"]
    yield f"  condition: {condition['type'].replace('-', ' ')}"
    yield from _condition_lines(condition)
    yield from _error_lines(condition["errors"], 4)
    action = trigger["action"]
    if action["type"] == "list":
        yield "  actions:"
        for one in action["actions"]:
            yield f"    {_action_text(one)}"
            yield from _error_lines(one["errors"], 6)
    else:
        yield f"  action:{_action_text(action)}"
        yield from _error_lines(action["errors"], 6)
    yield from _error_lines(trigger["errors"], 2)


def _error_lines(errors: list[dict[str, Any]], indent: int) -> Iterator[str]:
    start = " " * indent
    counted = [one for one in errors if one["value"]]
    yield f"{start}errors:{'' if counted else ' none'}"
    for one in counted:
        yield f"{start}  {one['name']}: {one['value']}"


def _condition_lines(condition: dict[str, Any]) -> Iterator[str]:
    if condition["type"] == "event-rule-matches":
        yield f"    rule: {_rule_text(condition['rule'])}"
        if condition["captures"]:
            yield "    captures:"
            for one in condition["captures"]:
                yield f"      - {capture_text(one)}"
        return
    yield f"    session name: {condition['session']}"
    if condition["type"] == "session-consumed-size":
        yield f"    threshold: {condition['threshold_bytes']} bytes"
    elif condition["type"].startswith("buffer-usage"):
        yield f"    channel name: {condition['channel']}"
        yield f"    domain: {condition['domain'].lower()}"
        if "threshold_ratio" in condition:
            yield f"    threshold (ratio): {condition['threshold_ratio']:.2f}"
        else:
            yield f"    threshold (bytes): {condition['threshold_bytes']}"


def _rule_text(rule: dict[str, Any]) -> str:
    kind = rule["type"]
    if kind in {"kernel-kprobe", "kernel-uprobe"}:
        place = _location_text(rule["location"])
        return f"{rule['event_name']} (type: {kind.replace('-', ':')}, {place})"
    if kind in {"user-tracepoint", "kernel-tracepoint"}:
        parts = [f"type: {kind.replace('-', ' ')}"]
    else:
        parts = [f"type: {kind.replace('-', ':')}"]
    if kind == "kernel-syscall":
        parts[0] += f":{rule['emission_site']}"
    if rule["filter"] is not None:
        parts.append(f"filter: {rule['filter']}")
    level = rule.get("log_level")
    if level is not None:
        parts.append(_level_text(_DOMAINS[kind], level))
    if rule.get("exclusions"):
        parts.append(f"exclusions: {','.join(rule['exclusions'])}")
    return f"{rule['name']} ({', '.join(parts)})"


def _level_text(domain: str, level: dict[str, Any]) -> str:
    name = level_name(domain, level["level"]).removeprefix(PREFIXES[domain])
    operator = "is" if level["type"] == "exactly" else "at least"
    return f"log level {operator} {name or level['level']}"


def _location_text(location: dict[str, Any]) -> str:
    match location["type"]:
        case "symbol":
            offset = location["offset"]
            plus = f"+{offset:#x}" if offset else ""
            return f"location: {location['name']}{plus}"
        case "address":
            return f"location: {location['address']:#x}"
        case "function":
            place = f"{location['path']}:{location['function']}"
            return f"location type: ELF, location: {place}"
    place = f"{location['path']}:{location['provider']}:{location['probe']}"
    return f"location type: SDT, location: {place}"


def _action_text(action: dict[str, Any]) -> str:
    kind, _, _ = action["type"].partition("-")
    text = "notify" if kind == "notify" else f"{kind} session `{action['session']}`"
    output = action.get("output", {})
    for member, about in (("path", "path"), ("url", "url")):
        if member in output:
            text += f", {about}: {output[member]}"
    if "ctrl_url" in output:
        ctrl, data = output["ctrl_url"], output["data_url"]
        text += f", control url: {ctrl}, data url: {data}"
    if "name" in output:
        text += f", name: {output['name']}"
    if "max_size" in output:
        text += f", max size: {output['max_size']}"
    policy = action["rate_policy"]
    if policy["type"] == "once-after-n":
        text += f", rate policy: once after {policy['count']} occurrences"
    elif policy["count"] > 1:
        text += f", rate policy: every {policy['count']} occurrences"
    return text
