"""What a daemon does when it is asked: each verb of the protocol by its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from .channel_verbs import add_context, disable_channel, enable_channel
from .protocol import Request
from .refusals import refused
from .registry import Peer, Registry
from .rotation_verbs import clear, rotate, set_schedule, unset_schedule
from .rule_verbs import disable_event, enable_event
from .saving_verbs import load, save
from .session_verbs import (
    create,
    describe,
    destroy,
    kernel_points,
    list_sessions,
    loggers,
    programs,
    regenerate,
    set_shm_path,
    start,
    stop,
)
from .snapshot_verbs import (
    add_snapshot_output,
    list_snapshot_outputs,
    record_snapshot,
    remove_snapshot_output,
)
from .statistics_verb import statistics
from .tracking_verbs import track, untrack
from .trigger_verbs import (
    list_triggers,
    register_trigger,
    subscribe,
    unregister_trigger,
    unsubscribe,
)

__all__ = ["VERBS", "answer"]

Verb = Callable[[Registry, Peer, Request], Awaitable[dict[str, Any]]]

VERBS: dict[str, Verb] = {
    "add-context": add_context,
    "add-snapshot-output": add_snapshot_output,
    "clear": clear,
    "create": create,
    "describe": describe,
    "destroy": destroy,
    "disable-channel": disable_channel,
    "disable-event": disable_event,
    "disable-rotation": unset_schedule,
    "enable-channel": enable_channel,
    "enable-event": enable_event,
    "enable-rotation": set_schedule,
    "kernel-points": kernel_points,
    "list": list_sessions,
    "list-snapshot-outputs": list_snapshot_outputs,
    "list-triggers": list_triggers,
    "load": load,
    "loggers": loggers,
    "programs": programs,
    "record-snapshot": record_snapshot,
    "regenerate": regenerate,
    "register-trigger": register_trigger,
    "remove-snapshot-output": remove_snapshot_output,
    "rotate": rotate,
    "save": save,
    "set-shm-path": set_shm_path,
    "start": start,
    "statistics": statistics,
    "stop": stop,
    "subscribe": subscribe,
    "track": track,
    "unregister-trigger": unregister_trigger,
    "unsubscribe": unsubscribe,
    "untrack": untrack,
}


async def answer(registry: Registry, peer: Peer, request: Request) -> dict[str, Any]:
    """Do what was asked.

    Args:
        registry: The sessions.
        peer: Who asks.
        request: What.

    Returns:
        What JSON can say of it.

    Raises:
        SessionError: It is not done.
    """
    verb = VERBS.get(request.verb)
    if verb is None:
        raise refused("UNKNOWN_VERB", request.verb)
    return await verb(registry, peer, request)
