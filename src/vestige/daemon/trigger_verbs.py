"""The verbs of triggers and notifications."""

from __future__ import annotations

from typing import Any

from .domains import require_kernel
from .probe_locations import check_readable
from .protocol import Request
from .refusals import refused
from .registry import Peer, Registry
from .triggers.conditions import Condition, EventRuleMatches, read_condition
from .triggers.trigger import Trigger, read_trigger

__all__ = [
    "list_triggers",
    "register_trigger",
    "subscribe",
    "unregister_trigger",
    "unsubscribe",
]


async def register_trigger(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Add ``trigger``; the answer has it with its name.

    Raises:
        SessionError: It is none, its user has one of this name, or it is for another
            user or for the kernel.
    """
    values = request.member("trigger")
    if values is None:
        raise refused("INVALID_TRIGGER", "expected a 'trigger'")
    trigger = read_trigger(values, peer.uid)
    if peer.uid not in {0, trigger.uid}:
        raise refused("EPERM")
    _check_kernel(registry, peer, trigger)
    registry.triggers.add(trigger)
    try:
        await _tell(registry)
    except OSError:
        is_anonymous = trigger.is_anonymous
        registry.triggers.remove(trigger.uid, trigger.name, is_anonymous=is_anonymous)
        raise
    why = registry.conditions.evaluation(trigger)
    if why is not None:
        registry.on_fire(trigger, why)
    return {"trigger": trigger.to_json()}


def _check_kernel(registry: Registry, peer: Peer, trigger: Trigger) -> None:
    """Refuse a rule for the kernel where nobody would see what matches."""
    condition = trigger.condition
    if not isinstance(condition, EventRuleMatches) or condition.rule.is_of_user_space:
        return
    require_kernel(registry.backend)
    check_readable(dict(condition.rule.location), peer)
    try:
        registry.backend.check_trigger(condition.rule)
    except (ValueError, OSError) as error:
        raise refused("KERN_ENABLE_FAIL", str(error)) from error


async def unregister_trigger(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Remove the trigger ``name`` of ``owner_uid``; the answer has it.

    With ``is_anonymous`` it is one that only programs see.

    Raises:
        SessionError: There is none, or it is of another user.
    """
    uid = request.number("owner_uid", peer.uid)
    if peer.uid not in {0, uid}:
        raise refused("EPERM")
    trigger = registry.triggers.remove(
        uid, request.text("name"), is_anonymous=request.flag("is_anonymous")
    )
    await _tell(registry)
    return {"trigger": trigger.to_json()}


async def list_triggers(
    registry: Registry,
    peer: Peer,
    request: Request,  # noqa: ARG001 - of all verbs
) -> dict[str, Any]:
    """Return the triggers that the peer sees, by name."""
    found = registry.triggers.of(peer.uid)
    for one in found:
        one.discarded = registry.backend.lost_matches(one.token)
    return {"triggers": [one.to_json() for one in found]}


async def _tell(registry: Registry) -> None:
    registry.save()
    await registry.backend.watch([*registry.triggers])


async def subscribe(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Send notifications of triggers that have ``condition``, or of all without one.

    Raises:
        SessionError: It is none, or the connection is subscribed to it.
    """
    condition = _condition(request)
    registry.hub.subscribe(peer, condition)
    for trigger in registry.triggers.of(peer.uid):
        # What is so already is not told again to others.
        if trigger.condition == condition and trigger.notifies():
            why = registry.conditions.evaluation(trigger)
            if why is not None:
                registry.hub.notify(trigger, why, peer)
    return {}


async def unsubscribe(
    registry: Registry, peer: Peer, request: Request
) -> dict[str, Any]:
    """Send no more of what :func:`subscribe` has asked for with the same values.

    Raises:
        SessionError: The connection is not subscribed to it.
    """
    registry.hub.unsubscribe(peer, _condition(request))
    return {}


def _condition(request: Request) -> Condition | None:
    values = request.member("condition")
    return None if values is None else read_condition(values)
