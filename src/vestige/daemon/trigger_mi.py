"""The machine interface of triggers: their documents as ``lttng --mi xml`` has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .xml_tree import Element, element

__all__ = ["trigger_element"]

Values = Mapping[str, Any]
"""What the daemon tells of something."""


def trigger_element(trigger: Values, *, with_errors: bool = True) -> Element:
    """Return a trigger.

    Args:
        trigger: What the daemon tells of it.
        with_errors: Whether counts of errors are in it.
    """
    condition = trigger["condition"]
    action = trigger["action"]
    if action["type"] == "list":
        parts = (_action(one, with_errors=with_errors) for one in action["actions"])
        shown = element("action", element("action_list", *parts))
    else:
        shown = _action(action, with_errors=with_errors)
    return element(
        "trigger",
        element("name", trigger["name"]),
        element("owner_uid", trigger["owner_uid"]),
        element(
            "condition",
            _condition(condition),
            _errors(condition, is_shown=with_errors),
        ),
        shown,
        _errors(trigger, is_shown=with_errors),
    )


def _errors(values: Values, *, is_shown: bool) -> Element | None:
    if not is_shown:
        return None
    return element(
        "error_query_results",
        *(
            element(
                "error_query_result",
                element("name", one["name"]),
                element("description", one["description"]),
                element("error_query_result_counter", element("value", one["value"])),
            )
            for one in values["errors"]
        ),
    )


def _condition(condition: Values) -> Element:
    kind = condition["type"]
    name = f"condition_{kind.replace('-', '_')}"
    if kind == "event-rule-matches":
        return element(
            name,
            element("event_rule", _rule(condition["rule"])),
            element("capture_descriptors", *map(_expression, condition["captures"])),
        )
    parts: list[Element | None] = [element("session_name", condition["session"])]
    if "channel" in condition:
        parts.append(element("channel_name", condition["channel"]))
        parts.append(element("domain", condition["domain"]))
    if "threshold_bytes" in condition:
        parts.append(element("threshold_bytes", condition["threshold_bytes"]))
    elif "threshold_ratio" in condition:
        ratio = f"{condition['threshold_ratio']:.6f}"
        parts.append(element("threshold_ratio", ratio))
    return element(name, *parts)


def _rule(rule: Values) -> Element:
    kind = rule["type"]
    name = f"event_rule_{kind.replace('-', '_')}"
    if kind == "kernel-kprobe":
        place = _kernel_location(rule["location"])
        return element(name, element("event_name", rule["event_name"]), place)
    if kind == "kernel-uprobe":
        place = _program_location(rule["location"])
        return element(name, element("event_name", rule["event_name"]), place)
    expression = rule["filter"]
    exclusions = [
        element("name_pattern_exclusion", one) for one in rule.get("exclusions") or ()
    ]
    site = rule.get("emission_site")
    return element(
        name,
        None if site is None else element("emission_site", site),
        element("name_pattern", rule["name"]),
        None if expression is None else element("filter_expression", expression),
        _log_level(rule.get("log_level")),
        element("name_pattern_exclusions", *exclusions) if exclusions else None,
    )


def _log_level(level: Values | None) -> Element | None:
    if level is None:
        return None
    name = f"log_level_rule_{level['type'].replace('-', '_')}"
    return element("log_level_rule", element(name, element("level", level["level"])))


def _kernel_location(location: Values) -> Element:
    if location["type"] == "address":
        place = element(
            "kernel_probe_location_address", element("address", location["address"])
        )
    else:
        place = element(
            "kernel_probe_location_symbol_offset",
            element("name", location["name"]),
            element("offset", location["offset"]),
        )
    return element("kernel_probe_location", place)


def _program_location(location: Values) -> Element:
    start = "userspace_probe_location"
    lookup = f"{start}_lookup_method"
    if location["type"] == "function":
        place = element(
            f"{start}_function",
            element("name", location["function"]),
            element("binary_path", location["path"]),
            element("instrumentation_type", "ENTRY"),
            element(lookup, element(f"{lookup}_function_elf")),
        )
    else:
        place = element(
            f"{start}_tracepoint",
            element("probe_name", location["probe"]),
            element("provider_name", location["provider"]),
            element("binary_path", location["path"]),
            element(lookup, element(f"{lookup}_tracepoint_sdt")),
        )
    return element(start, place)


def _expression(expression: Values) -> Element:
    kind, name = expression["type"], expression.get("name", "")
    if kind == "element":
        inner = element(
            "event_expr_array_field_element",
            element("index", expression["index"]),
            _expression(expression["of"]),
        )
    elif kind == "app-context":
        inner = element(
            "event_expr_app_specific_context_field",
            element("provider_name", expression["provider"]),
            element("type_name", name),
        )
    elif kind == "channel-context":
        inner = element("event_expr_channel_context_field", element("name", name))
    else:
        inner = element("event_expr_payload_field", element("name", name))
    return element("event_expr", inner)


def _action(action: Values, *, with_errors: bool) -> Element:
    session, output = action.get("session"), action.get("output")
    policy = action["rate_policy"]
    is_every = policy["type"] == "every-n"
    count = element("interval" if is_every else "threshold", policy["count"])
    return element(
        "action",
        element(
            f"action_{action['type'].replace('-', '_')}",
            None if session is None else element("session_name", session),
            None if output is None else _output(output),
            element(
                "rate_policy",
                element(f"rate_policy_{policy['type'].replace('-', '_')}", count),
            ),
        ),
        _errors(action, is_shown=with_errors),
    )


def _output(output: Values) -> Element:
    place = output.get("path") or output.get("url") or output.get("ctrl_url")
    shown = {"name": output.get("name"), "ctrl_url": place}
    shown |= {one: output.get(one) for one in ("data_url", "max_size")}
    return element(
        "output",
        *(None if one is None else element(name, one) for name, one in shown.items()),
    )
