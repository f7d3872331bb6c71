"""What orders and answers between the processes say, from JSON and as JSON.

JSON has lists where the collector takes tuples, texts where keys are numbers, and no
bytes.
"""

from __future__ import annotations

from binascii import a2b_base64

from ...._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..._kernel import CpuOutcome
    from .channel import Plan
    from .channel_filters import Filters
    from .process_events import Told

__all__ = ["filters_of", "plan_of", "records_of", "text_of", "told_of", "totals_of"]

_COUNTS = (
    *("records", "lost", "packets", "bytes", "damaged", "unknown"),
    "overwritten",
)
"""Of :class:`vestige.record._kernel.CpuOutcome`, what is added up."""


def plan_of(given: Any) -> Plan:
    """Return what becomes of an event.

    Args:
        given: What JSON has of it.
    """
    number, declared, operations, tells = given
    return (
        number,
        declared,
        [(kind, at, more) for kind, at, more in operations],
        None if tells is None else (tells[0], tells[1], tells[2]),
    )


def filters_of(given: Any) -> Filters:
    """Return the filters of a channel.

    Args:
        given: What JSON has of them.
    """
    text, filters = given
    return text, [
        (
            number,
            operations and [(kind, at, more) for kind, at, more in operations],
            [(one[0], one[1], one[2]) for one in code],
        )
        for number, operations, code in filters
    ]


def told_of(given: Iterable[Any]) -> list[Told]:
    """Return what was read of threads.

    Args:
        given: What JSON has of it.
    """
    return [(thread, time, (*facts[:3], *facts[3:])) for thread, time, facts in given]


def records_of(given: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, bytes]]:
    """Return records of the state dump: time, class, context and fields.

    Args:
        given: The same, with base 64 in place of bytes.
    """
    return [(time, number, a2b_base64(body)) for time, number, body in given]


def totals_of(
    outcomes: Sequence[Sequence[CpuOutcome]], gap: str | None
) -> list[dict[str, Any]]:
    """Return what became of each channel, for JSON.

    Args:
        outcomes: By channel and CPU.
        gap: What is missing besides, if anything is.
    """
    return [
        {
            "cpus": len(cpus),
            **{name: sum(getattr(one, name) for one in cpus) for name in _COUNTS},
            "failure": next((one.failure for one in cpus if one.failure), gap),
        }
        for cpus in outcomes
    ]


def text_of(error: OSError | ValueError) -> str:
    """Say for people what cannot be done.

    Args:
        error: The error.
    """
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
