"""The verbs of recording event rules: enable and disable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import SelectionError, SessionError
from ..expressions import compile_filter
from .channel_verbs import channel_of
from .domains import KERNEL, domain_of
from .kernel_rules import KernelPoints, check_kernel_rule, check_with_kernel
from .model import AGENT_DOMAINS, RULE_TYPES, Channel, EventRule, Session
from .names import MOST_NAMES, check_named
from .probe_locations import PLACES, check_readable, read_location
from .protocol import Request
from .refusals import refused
from .registry import Peer, Registry

__all__ = ["check_rule", "disable_event", "enable_event"]

LEVEL_TYPES = ("ALL", "RANGE", "SINGLE")
ALL_EVENTS = ("TRACEPOINT", "SYSCALL")
"""The types of rules that are meant by all events of the kernel."""


async def enable_event(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Make a rule, or enable it again.

    Args:
        registry: The sessions.
        peer: Who asks.
        request: ``session``, ``domain``, ``channel``, ``name``, ``filter``; in user
            space ``level_type``, ``level``, ``exclusions``; of the kernel ``type``, one
            of :data:`~.model.RULE_TYPES` or ``ALL`` for tracepoints and system calls,
            the ``location`` of a probe, and ``names`` in place of ``name``: a rule for
            each.

    Returns:
        The name of its ``channel``; ``is_matching`` is false if the kernel has nothing
        that it matches. With ``names``, ``results`` has that of each name, or its
        ``refusal`` and ``detail``.

    Raises:
        SessionError: It is enabled, or one of its conditions cannot be.
    """
    domain = domain_of(registry.backend, request)
    session = registry.session(peer, request.text("session"))
    if domain is KERNEL:
        return await _enable_of_kernel(registry, peer, session, request)
    rule = _rule(request)
    await registry.relays.connect(session)
    channel = channel_of(session, domain, request, is_made=True)
    if not _enable(_rules_of(session, channel, request), rule):
        raise refused(domain.rule_enabled)
    await _tell(registry, session)
    return {"channel": channel.name, "is_matching": True}


async def _enable_of_kernel(
    registry: Registry, peer: Peer, session: Session, request: Request
) -> dict[str, Any]:
    """Make rules of the kernel; what all have in common is done once."""
    names = request.texts("names")
    points = KernelPoints(registry.backend)
    if not names:
        rules = _kernel_rules(request, request.text("name"))
        done = await _enable_one(registry, peer, session, request, rules, points)
        await _tell(registry, session)
        return done
    if len(names) > MOST_NAMES:
        raise refused("INVALID", f"expected up to {MOST_NAMES:,} names")
    results: list[dict[str, Any]] = []
    for name in names:
        try:
            rules = _kernel_rules(request, name)
            one = await _enable_one(registry, peer, session, request, rules, points)
        except SessionError as error:
            one = _refusal(error)
        results.append(one)
    try:
        if any("channel" in one for one in results):
            await _tell(registry, session)
    except SessionError as error:
        results = [_refusal(error) if "channel" in one else one for one in results]
    return {"results": results}


def _refusal(error: SessionError) -> dict[str, Any]:
    return {"refusal": error.name, "detail": error.detail}


async def _enable_one(  # noqa: PLR0913, PLR0917 - all that a rule needs
    registry: Registry,
    peer: Peer,
    session: Session,
    request: Request,
    rules: Sequence[EventRule],
    points: KernelPoints,
) -> dict[str, Any]:
    """Make what is one rule of the kernel for people; nobody is told yet."""
    for one in rules:
        check_readable(one.location, peer)
    is_matching = await check_with_kernel(registry.backend, rules, points)
    await registry.relays.connect(session)
    channel = channel_of(session, KERNEL, request, is_made=True)
    enabled = [_enable(channel.rules, one) for one in rules]
    if not any(enabled):
        raise refused(KERNEL.rule_enabled)
    return {"channel": channel.name, "is_matching": is_matching}


def _rules_of(session: Session, channel: Channel, request: Request) -> list[EventRule]:
    name = request.optional_text("domain")
    if name in AGENT_DOMAINS:
        return session.agents.setdefault(name, [])
    return channel.rules


def _enable(rules: list[EventRule], wanted: EventRule) -> bool:
    """Return whether a rule has been enabled that was not."""
    found = next((one for one in rules if one.is_same_as(wanted)), None)
    if found is None:
        rules.append(wanted)
        return True
    was_enabled, found.enabled = found.enabled, True
    return not was_enabled


def _rule(request: Request) -> EventRule:
    rule = EventRule(
        request.text("name"),
        level_type=request.optional_text("level_type") or "ALL",
        level=request.number("level", -1),
        filter=request.optional_text("filter"),
        exclusions=request.texts("exclusions"),
    )
    check_rule(rule)
    return rule


def _kernel_rules(request: Request, name: str) -> list[EventRule]:
    wanted = request.choice("type", {"ALL", *RULE_TYPES})
    # As LTTng has it: all events are two rules.
    types = ALL_EVENTS if wanted == "ALL" else (wanted,)
    location = None
    if wanted in PLACES:
        location = read_location(request.member("location"), wanted)
    rules = [
        EventRule(
            name,
            filter=request.optional_text("filter"),
            exclusions=request.texts("exclusions"),
            type=one,
            location=location,
        )
        for one in types
    ]
    for rule in rules:
        check_kernel_rule(rule)
    return rules


def check_rule(rule: EventRule) -> None:
    """Refuse what cannot be a rule.

    Args:
        rule: What was asked for.

    Raises:
        SessionError: It cannot be.
    """
    check_named(rule.name)
    if rule.level_type not in LEVEL_TYPES:
        raise refused("INVALID")
    if rule.filter is not None:
        try:
            compile_filter(rule.filter)
        except SelectionError as error:
            raise refused("FILTER_INVAL", str(error)) from error


async def disable_event(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Disable the rules of exactly ``name``, or all without one.

    Of the kernel only those of ``type``, unless that is ``ALL``.

    Raises:
        SessionError: There is none.
    """
    domain = domain_of(registry.backend, request)
    session = registry.session(peer, request.text("session"))
    channel = channel_of(session, domain, request, is_made=False)
    name = request.optional_text("name")
    wanted = request.optional_text("type") or "ALL"
    chosen = [
        one
        for one in _rules_of(session, channel, request)
        if name in {None, one.name} and wanted in {"ALL", one.type}
    ]
    if not chosen and name is not None:
        raise refused(domain.rule_missing)
    for one in chosen:
        one.enabled = False
    await _tell(registry, session)
    return {}


async def _tell(registry: Registry, session: Session) -> None:
    registry.save(session)
    if session.active:
        await registry.backend.apply(session)
