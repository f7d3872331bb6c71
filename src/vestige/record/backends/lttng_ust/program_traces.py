"""The trace that a program records to: that of its user, or one of its own."""

from __future__ import annotations

import time

from ...._typing import TYPE_CHECKING
from .buffers import TraceBuffers
from .clock import Clock, SessionClock

if TYPE_CHECKING:
    from .application import Application
    from .recorded_session import RecordedSession

__all__ = ["trace_of"]


def trace_of(
    application: Application, session: RecordedSession, clock: Clock
) -> TraceBuffers:
    """Return what a program records to, which is made if there is none.

    Args:
        application: The program.
        session: The session.
        clock: What programs read times from.

    Raises:
        OSError: There is no room for buffers, or the like.
    """
    plan = session.plan
    # Processes elsewhere can have the same ID, or none here.
    key = id(application) if plan.is_per_process else application.uid
    found = session.traces.get(key)
    if found is not None:
        return found
    bits = f"{application.facts.bits}-bit"
    if plan.is_per_process:
        name, pid = application.facts.name, application.facts.pid
        now = time.localtime()
        stamp = time.strftime("%Y%m%d-%H%M%S", now)
        folder = f"{name.replace('/', '_')}-{pid}-{stamp}"
        parts: tuple[str, ...] = ("ust", "pid", folder)
        domain: dict[str, str | int] = {
            "tracer_buffering_scheme": "pid",
            "tracer_buffering_id": pid,
            "vpid": pid,
            "procname": name,
            "vpid_datetime": time.strftime("%Y%m%dT%H%M%S%z", now),
        }
    else:
        parts = ("ust", "uid", str(application.uid), bits)
        domain = {
            "tracer_buffering_scheme": "uid",
            "tracer_buffering_id": application.uid,
        }
    domain["trace_name"] = plan.name
    created = time.localtime(plan.created)
    domain["trace_creation_datetime"] = time.strftime("%Y%m%dT%H%M%S%z", created)
    if plan.clock_offset is not None:
        clock = SessionClock(clock, plan.clock_offset)
    traces = session.traces[key] = TraceBuffers(plan, parts, domain, clock)
    return traces
