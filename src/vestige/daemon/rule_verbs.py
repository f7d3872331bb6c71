"""The verbs of recording event rules: enable and disable."""

from __future__ import annotations

from typing import Any

from ..errors import SelectionError
from ..expressions import compile_filter
from .channel_verbs import channel_of, refuse_kernel
from .model import AGENT_DOMAINS, EventRule, Session
from .protocol import Request
from .refusals import refused
from .registry import Peer, Registry

__all__ = ["check_rule", "disable_event", "enable_event"]

LEVEL_TYPES = ("ALL", "RANGE", "SINGLE")
LONGEST_NAME = 255


async def enable_event(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Make a rule, or enable it again.

    Args:
        registry: The sessions.
        peer: Who asks.
        request: ``session``, ``domain``, ``channel``, ``name``, ``level_type``,
            ``level``, ``filter``, ``exclusions``.

    Returns:
        The name of its ``channel``.

    Raises:
        SessionError: It is enabled, or one of its conditions cannot be.
    """
    refuse_kernel(request)
    session = registry.session(peer, request.text("session"))
    rule = _rule(request)
    await registry.relays.connect(session)
    channel = channel_of(session, request, is_made=True)
    domain = request.optional_text("domain") or "UST"
    rules = channel.rules
    if domain in AGENT_DOMAINS:
        rules = session.agents.setdefault(domain, [])
    found = next((one for one in rules if one.is_same_as(rule)), None)
    if found is None:
        rules.append(rule)
    elif found.enabled:
        raise refused("UST_EVENT_ENABLED")
    else:
        found.enabled = True
    await _tell(registry, session)
    return {"channel": channel.name}


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


def check_rule(rule: EventRule) -> None:
    """Refuse what cannot be a rule.

    Args:
        rule: What was asked for.

    Raises:
        SessionError: It cannot be.
    """
    if not rule.name or len(rule.name.encode(errors="replace")) > LONGEST_NAME:
        raise refused("INVALID")
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

    Raises:
        SessionError: There is none.
    """
    refuse_kernel(request)
    session = registry.session(peer, request.text("session"))
    channel = channel_of(session, request, is_made=False)
    domain = request.optional_text("domain") or "UST"
    rules = channel.rules
    if domain in AGENT_DOMAINS:
        rules = session.agents.get(domain, [])
    name = request.optional_text("name")
    chosen = [one for one in rules if name is None or one.name == name]
    if not chosen and name is not None:
        raise refused("UST_EVENT_NOT_FOUND")
    for one in chosen:
        one.enabled = False
    await _tell(registry, session)
    return {}


async def _tell(registry: Registry, session: Session) -> None:
    registry.save(session)
    if session.active:
        await registry.backend.apply(session)
