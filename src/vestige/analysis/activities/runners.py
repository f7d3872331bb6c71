"""Whose events those of spans and coroutines are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ... import core
from ...units import Vpid
from ..threads import Process, Thread
from .open_things import ProcessKey, Runner

__all__ = ["runner_of"]


def runner_of(
    event: core.Event,
    names: Mapping[ProcessKey, str],
    wanted: Sequence[int | Thread] | None,
) -> Runner:
    """Return the thread of an event, and of others in its data stream.

    Args:
        event: The event.
        names: Names of processes.
        wanted: The threads that count, or their thread IDs; all by default.
    """
    environment = event.stream.trace.parsed.environment
    vpid, vtid = environment.get("vpid"), None
    for scope in (event.packet_context, event.context):
        vpid, vtid = scope.get("vpid", vpid), scope.get("vtid", vtid)
    vpid = vpid if isinstance(vpid, int) else -1
    process = (event.stream.process_space, vpid)
    name = names.get(process) or environment.get("procname")
    thread = Thread(
        process=Process(
            None if vpid < 0 else Vpid(vpid),
            str(name) if name else None,
            event.stream.trace.name,
        ),
        tid=vtid if isinstance(vtid, int) else None,
    )
    return Runner(process, thread, is_wanted=_is_wanted(thread, wanted))


def _is_wanted(thread: Thread, wanted: Sequence[int | Thread] | None) -> bool:
    if wanted is None:
        return True
    own = thread.process.trace, thread.process.pid, thread.tid
    return any(
        thread.tid == one
        if isinstance(one, int)
        else own == (one.process.trace, one.process.pid, one.tid)
        for one in wanted
    )
