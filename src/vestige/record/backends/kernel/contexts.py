"""What each event record of a channel may tell of who runs: LTTng's contexts.

Names and types are those of LTTng 2.13, see lttng-add-context(1). What nobody knows is
-1, for users, groups and counters the same without a sign; 0 for a namespace, an empty
name, and the smallest number for priorities.
"""

from __future__ import annotations

import os
import struct

from ...._typing import TYPE_CHECKING, NamedTuple
from ...rules.kernel_counters import cpu_counter
from .call_stacks import CALL_STACKS
from .counters import UNKNOWN, counter_contexts
from .event_classes import CONTEXT, integer, text_of
from .proc_facts import IDS, NAMESPACES, facts_of
from .proc_facts import UNKNOWN as NOT_KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .event_classes import Operation

__all__ = [
    "CONTEXTS",
    "FOR_FILTERS",
    "context_fields",
    "context_operations",
    "host",
    "own_context",
    "source_of",
]

_NAME_BYTES = 16
HOST_BYTES = 65
"""Of the name of a machine, with a zero (``__NEW_UTS_LEN``)."""
_NO_PRIORITY = -(1 << 31)
_STATES = ("interruptible", "preemptible", "need_reschedule", "migratable")


class _Context(NamedTuple):
    field: str
    """In TSDL."""

    source: str
    """``record``, ``process``, ``ids``, ``spaces`` or ``switch``: what tells it."""


def _plain(name: str, source: str, size: int = 4, *, is_signed: bool) -> _Context:
    return _Context(f"{integer(size, is_signed=is_signed)} _{name};", source)


CONTEXTS: dict[str, _Context] = {
    "tid": _Context(CONTEXT, "record"),
    "pid": _plain("pid", "process", is_signed=True),
    "ppid": _plain("ppid", "process", is_signed=True),
    "procname": _Context(text_of(_NAME_BYTES).format("_procname"), "process"),
    "prio": _plain("prio", "switch", is_signed=True),
    "nice": _plain("nice", "switch", is_signed=True),
    "hostname": _Context(text_of(HOST_BYTES).format("_hostname"), "record"),
    **{one: _plain(one, "spaces", is_signed=True) for one in ("vpid", "vtid", "vppid")},
    **{one: _plain(one, "record", 1, is_signed=False) for one in _STATES[1:]},
    "interruptible": _plain("interruptible", "record", 1, is_signed=True),
    **{one: _plain(one, "ids", is_signed=False) for one in IDS},
    **{f"v{one}": _plain(f"v{one}", "ids", is_signed=False) for one in IDS},
    **{
        f"{one}_ns": _plain(f"{one}_ns", "spaces", is_signed=False)
        for one in NAMESPACES
    },
    **{name: _Context(one.field, "record") for name, one in CALL_STACKS.items()},
}
"""By LTTng's names, those of :data:`vestige.record.rules.kernel_contexts`."""

FOR_FILTERS = {"cpu_id": integer(4)}
"""What filters may ask for besides; records have it from their packet."""


def _others(names: Sequence[str]) -> list[str]:
    return [one for one in dict.fromkeys(names) if one != "tid"]


def context_fields(names: Sequence[str]) -> str:
    """Return the contexts of a channel in TSDL, that of the thread before all.

    Args:
        names: LTTng's names.
    """
    fields = [CONTEXT]
    for name in _others(names):
        if (known := CONTEXTS.get(name)) is not None:
            fields.append(known.field)
        elif (counter := cpu_counter(name)) is not None:
            fields.append(f"{integer(8)} _{counter.field};")
        else:
            fields.append(f"{FOR_FILTERS[name]} _{name};")
    return " ".join(fields)


def context_operations(
    names: Sequence[str], system: str, counters: Mapping[str, Operation] | None = None
) -> list[Operation]:
    """Return what makes contexts, behind that of the thread.

    Args:
        names: LTTng's names.
        system: The system of the event.
        counters: What makes counters; ``None``: nobody looks at them.
    """
    made = dict.fromkeys(counter_contexts(names), ("counter", 0, -1))
    made |= {name: one.operation for name, one in CALL_STACKS.items()}
    made |= counters or {}
    return [
        made.get(name, (f"context:{_kind(name, system)}", 0, 0))
        for name in _others(names)
    ]


def _kind(name: str, system: str) -> str:
    # Linux 6.12 and older tell of calls that they hold a lock: that of their tracer.
    is_call = name == "preemptible" and system == "syscalls"
    return "preemptible-call" if is_call else name


def source_of(names: Iterable[str]) -> set[str]:
    """Return what must be known for contexts.

    Args:
        names: LTTng's names.

    Returns:
        Some of ``process`` (threads and their processes), ``ids`` (users and groups),
        ``spaces`` (namespaces), ``switch`` (priorities).
    """
    found = {CONTEXTS[name].source for name in names if name in CONTEXTS}
    return found - {"record"}


def own_context(
    names: Sequence[str], machine_ids: Mapping[int, int] | None = None
) -> bytes:
    """Return the contexts of records that this process makes.

    Args:
        names: LTTng's names.
        machine_ids: The IDs that the kernel has for processes, if these are others.
    """
    process = os.getpid()
    facts = facts_of(process, process)
    parent = facts.parent
    if machine_ids is not None:
        process = machine_ids.get(process, NOT_KNOWN)
        parent = machine_ids.get(parent, NOT_KNOWN)
    ids = dict(zip(IDS, facts.ids, strict=True))
    values: dict[str, tuple[str, int | bytes]] = {
        "pid": ("<i", process),
        "ppid": ("<i", parent),
        "procname": ("<16s", facts.name),
        "hostname": ("<65s", host()),
        "prio": ("<i", _NO_PRIORITY),
        "nice": ("<i", _NO_PRIORITY),
        "cpu_id": ("<I", 0),
        "vpid": ("<i", facts.inner[0]),
        "vtid": ("<i", facts.inner[1]),
        "vppid": ("<i", facts.inner[2]),
        **dict.fromkeys(_STATES, ("<B", 1)),
        "need_reschedule": ("<B", 0),
        **{name: ("<I", value) for name, value in ids.items()},
        **{f"v{name}": ("<I", value) for name, value in ids.items()},
        **{
            f"{name}_ns": ("<I", value)
            for name, value in zip(NAMESPACES, facts.spaces, strict=True)
        },
        # They have none.
        **dict.fromkeys(CALL_STACKS, ("<I", 0)),
        # Nobody reads them then.
        **dict.fromkeys(counter_contexts(names), ("<Q", UNKNOWN)),
    }
    packed = [struct.pack(*values[name]) for name in _others(names)]
    return struct.pack("<i", process) + b"".join(packed)


def host() -> bytes:
    """Return the name of this machine, as long as LTTng has it."""
    name = os.fsencode(os.uname().nodename)
    return name[: HOST_BYTES - 1].ljust(HOST_BYTES, b"\0")
