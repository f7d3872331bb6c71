"""Session configurations: the XML of ``lttng save`` and ``lttng load``.

The document is that of LTTng 2.13 (``session.xsd``), so that either tool loads what the
other saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from ..errors import VestigeError
from .contexts import ContextType, context_type
from .model import (
    AGENT_CHANNELS,
    AGENT_DOMAINS,
    KERNEL_TRACKERS,
    TRACKERS,
    Channel,
    ChannelAttributes,
    Context,
    Session,
)
from .saved_rules import read_rule, write_rule
from .xml_reader import parse_xml
from .xml_tree import Element, element

__all__ = ["read_configuration", "write_configuration"]

_ATTRIBUTES = {
    "subbuffer_size": "subbuf_size",
    "subbuffer_count": "num_subbuf",
    "switch_timer_interval": "switch_timer",
    "read_timer_interval": "read_timer",
    "blocking_timeout": "blocking_timeout",
    "monitor_timer_interval": "monitor_timer",
    "tracefile_size": "tracefile_size",
    "tracefile_count": "tracefile_count",
}
"""Elements of a channel, and the attributes that they hold."""
_BUFFERS = {"PER_UID": "uid", "PER_PID": "pid"}


def write_configuration(session: Session) -> str:
    """Return the document of a session.

    Args:
        session: The session; of what it has recorded, nothing is said.
    """
    buffers = "PER_PID" if session.buffers == "pid" else "PER_UID"
    domains = [_write_kernel(session)] if session.has_kernel() else []
    if session.channels or any(one is not None for one in session.trackers.values()):
        of_agents = AGENT_CHANNELS.values()
        channels = [
            _write_channel(one)
            for one in session.channels.values()
            if one.name not in of_agents
        ]
        domains.append(
            element(
                "domain",
                element("type", "UST"),
                element("buffer_type", buffers),
                element("channels", *channels),
                _write_trackers(session.trackers),
            )
        )
        domains.extend(
            _write_agent(session, domain, buffers) for domain in AGENT_DOMAINS
        )
    document = element(
        "sessions",
        element(
            "session",
            element("name", session.name),
            element("shared_memory_path", session.shm_path)
            if session.shm_path
            else None,
            element("domains", *domains),
            element("started", session.active),
            _write_mode(session),
            element("output", _write_output(session)),
        ),
    )
    lines = "\n".join(document.lines())
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{lines}\n'


def _write_kernel(session: Session) -> Element:
    channels = map(_write_channel, session.kernel_channels.values())
    return element(
        "domain",
        element("type", "KERNEL"),
        element("buffer_type", "GLOBAL"),
        element("channels", *channels),
        _write_trackers(session.kernel_trackers),
    )


def _write_mode(session: Session) -> Element | None:
    if session.is_snapshot:
        return element("attributes", element("snapshot_mode", "true"))
    if session.live_timer:
        timer = element("live_timer_interval", session.live_timer)
        return element("attributes", timer)
    found = []
    if session.rotation_timer:
        timer = element("time_us", session.rotation_timer)
        found.append(element("periodic", timer))
    if session.rotation_size:
        size = element("bytes", session.rotation_size)
        found.append(element("size_threshold", size))
    if not found:
        return None
    return element("attributes", element("rotation_schedules", *found))


def _write_output(session: Session) -> Element:
    if session.is_snapshot:
        outputs = [
            element(
                "output",
                element("name", one.name),
                element("max_size", one.max_size),
                _write_destination(one.path, one.data),
            )
            for one in session.snapshot_outputs
        ]
        return element("snapshot_outputs", *outputs)
    # The schema wants a path in any case: LTTng's is empty, too, if there is no output.
    if session.relay:
        return _write_destination(*session.relay)
    return _write_destination(session.output or "")


def _write_destination(path: str, data: str | None = None) -> Element:
    place = element("path", path)
    if data is not None:
        place = element(
            "net_output", element("control_uri", path), element("data_uri", data)
        )
    return element(
        "consumer_output",
        element("enabled", "true"),
        element("destination", place),
    )


def _write_agent(session: Session, domain: str, buffers: str) -> Element:
    """Return a domain of loggers: its rules stand in its only channel."""
    channel = session.channels.get(AGENT_CHANNELS[domain])
    shown = None
    if channel is not None:
        rules = session.agents.get(domain, [])
        shown = _write_channel(replace(channel, rules=rules))
    return element(
        "domain",
        element("type", domain),
        element("buffer_type", buffers),
        element("channels", shown),
    )


def _write_channel(channel: Channel) -> Element:
    return element(
        "channel",
        element("name", channel.name),
        element("enabled", channel.enabled),
        *_write_attributes(channel.attributes),
        element("events", *map(write_rule, channel.rules)),
        element("contexts", *map(_write_context, channel.contexts)),
    )


def _write_attributes(attributes: ChannelAttributes) -> list[Element]:
    return [
        element("overwrite_mode", "OVERWRITE" if attributes.overwrite else "DISCARD"),
        element("subbuffer_size", attributes.subbuf_size),
        element("subbuffer_count", attributes.num_subbuf),
        element("switch_timer_interval", attributes.switch_timer),
        element("read_timer_interval", attributes.read_timer),
        element("output_type", attributes.output.upper()),
        element("blocking_timeout", attributes.blocking_timeout),
        element("monitor_timer_interval", attributes.monitor_timer),
        element("tracefile_size", attributes.tracefile_size),
        element("tracefile_count", attributes.tracefile_count),
        element("live_timer_interval", 0),
    ]


def _write_context(context: Context) -> Element:
    if context.kind == "PERF":
        kind = ContextType(context.kind, context.name, is_of_user_space=True)
        perf = element(
            "perf",
            element("type", context.type),
            element("config", context.config),
            element("name", kind.counter_field),
        )
        return element("context", perf)
    if context.kind == "APP":
        provider, name = ContextType(
            "APP", context.name, is_of_user_space=True
        ).application
        app = element(
            "app", element("provider_name", provider), element("ctx_name", name)
        )
        return element("context", app)
    return element("context", element("type", context.kind))


def _write_trackers(sets: Mapping[str, list[str] | None]) -> Element | None:
    trackers = []
    for attribute, values in sets.items():
        if values is None:
            continue
        made = [
            element(attribute, element("id" if one.isdecimal() else "name", one))
            for one in values
        ]
        trackers.append(
            element(
                f"{attribute}_process_attr_tracker",
                element("process_attr_values", *made),
            )
        )
    return element("process_attr_trackers", *trackers)


def read_configuration(
    text: str, uid: int, gid: int, path: str | None = None
) -> list[tuple[Session, bool]]:
    """Return the sessions that a document describes.

    Args:
        text: The document.
        uid: Whose sessions they will be.
        gid: As above.
        path: Where it comes from, for errors.

    Returns:
        The sessions, none of them active, and whether each is to be started.

    Raises:
        VestigeError: It is no such document, or asks for what there is not.
    """
    document = parse_xml(text, path)
    if document.name != "sessions":
        raise VestigeError("expected an element 'sessions'", path=path)
    sessions = []
    for one in document.all("session"):
        name = one.text_of("name")
        try:
            session = _read_session(one, Session(name, uid, gid))
        except ValueError as error:
            raise VestigeError(f"session '{name}': {error}", path=path) from error
        sessions.append((session, one.value("started") == "true"))
    return sessions


def _read_session(one: Element, session: Session) -> Session:
    session.shm_path = one.text_of("shared_memory_path") or None
    session.is_snapshot = one.value("attributes/snapshot_mode") in {"true", "1"}
    session.live_timer = one.number("attributes/live_timer_interval", 0)
    place = "output/consumer_output/destination"
    session.relay = _read_relay(one, place)
    session.output = one.text_of(f"{place}/path") or None
    schedules = "attributes/rotation_schedules"
    session.rotation_timer = one.number(f"{schedules}/periodic/time_us", 0)
    session.rotation_size = one.number(f"{schedules}/size_threshold/bytes", 0)
    if session.rotation_timer < 0 or session.rotation_size < 0:
        raise ValueError("expected schedules of rotations above 0")
    for output in one.all("output/snapshot_outputs/output"):
        place = "consumer_output/destination"
        path, data = _read_relay(output, place) or (
            output.text_of(f"{place}/path"),
            None,
        )
        size = output.number("max_size", 0)
        session.add_output(output.text_of("name"), path, size, data)
    for domain in one.all("domains/domain"):
        kind = domain.value("type")
        if kind == "UST":
            _read_user_space(domain, session)
        elif kind == "KERNEL":
            _read_kernel(domain, session)
        elif kind in AGENT_DOMAINS:
            _read_agent(domain, kind, session)
        else:
            raise ValueError(f"no domain '{kind}': expected UST, KERNEL or a logger's")
    return session


def _read_relay(one: Element, place: str) -> list[str] | None:
    """Return the URIs of a relay daemon, if there are any."""
    if one.find(f"{place}/net_output") is None:
        return None
    names = ("control_uri", "data_uri")
    return [one.text_of(f"{place}/net_output/{name}") for name in names]


def _read_agent(domain: Element, kind: str, session: Session) -> None:
    for one in domain.all("channels/channel"):
        session.buffers = session.buffers or _BUFFERS.get(domain.value("buffer_type"))
        channel = _read_channel(one)
        session.agents[kind] = channel.rules
        channel.name, channel.rules = AGENT_CHANNELS[kind], []
        session.channels[channel.name] = channel


def _read_user_space(domain: Element, session: Session) -> None:
    session.buffers = _BUFFERS.get(domain.value("buffer_type"))
    if session.buffers is None:
        raise ValueError("expected PER_UID or PER_PID as 'buffer_type'")
    for one in domain.all("channels/channel"):
        channel = _read_channel(one)
        session.channels[channel.name] = channel
    _read_trackers(domain, session.trackers, TRACKERS, "vpid")


def _read_kernel(domain: Element, session: Session) -> None:
    for one in domain.all("channels/channel"):
        channel = _read_channel(one, is_kernel=True)
        session.kernel_channels[channel.name] = channel
    _read_trackers(domain, session.kernel_trackers, KERNEL_TRACKERS, "pid")


def _read_trackers(
    domain: Element,
    sets: dict[str, list[str] | None],
    attributes: Iterable[str],
    of_old: str,
) -> None:
    """Read inclusion sets; those of LTTng up to 2.11 have IDs of processes alone."""
    for attribute in attributes:
        old_and_new = (
            f"process_attr_trackers/{attribute}_process_attr_tracker/process_attr_values",
            "trackers/pid_tracker/targets" if attribute == of_old else "",
        )
        for place in filter(None, old_and_new):
            for found in domain.all(place):
                values = sets[attribute] or []
                # Until LTTng 2.11 a value was a target, and in it the number.
                values += [
                    value.value("id") or value.value("name") or value.value("pid")
                    for value in found.children
                ]
                sets[attribute] = [*dict.fromkeys(values)]


def _read_channel(one: Element, *, is_kernel: bool = False) -> Channel:
    attributes = ChannelAttributes(overwrite=one.value("overwrite_mode") == "OVERWRITE")
    for name, attribute in _ATTRIBUTES.items():
        if one.find(name) is not None:
            setattr(attributes, attribute, one.number(name, 0))
    output = one.value("output_type", "MMAP")
    if output not in ({"MMAP", "SPLICE"} if is_kernel else {"MMAP"}):
        expected = "MMAP or SPLICE" if is_kernel else "MMAP"
        raise ValueError(f"output_type '{output}': expected {expected}")
    attributes.output = output.lower()
    rules = (read_rule(rule, is_kernel=is_kernel) for rule in one.all("events/event"))
    return Channel(
        one.text_of("name"),
        attributes,
        enabled=one.value("enabled", "true") == "true",
        rules=[*chain.from_iterable(rules)],
        contexts=[_read_context(context) for context in one.all("contexts/context")],
    )


def _read_context(one: Element) -> Context:
    if perf := one.find("perf"):
        name = perf.value("name").replace("_", ":", 2)
        known = context_type(name.replace("_", "-")) or context_type(name)
        return Context(
            "PERF",
            known.name if known else name,
            perf.number("type", 0),
            perf.number("config", 0),
        )
    if app := one.find("app"):
        name = f"$app.{app.value('provider_name')}:{app.value('ctx_name')}"
        return Context("APP", name)
    kind = one.value("type")
    known = context_type(kind.lower()) or context_type(kind.lower().replace("_", "-"))
    if known is None:
        raise ValueError(f"no context '{kind}'")
    return Context(kind, known.name)
