"""The report of waits: where threads were off the CPU, by call stacks."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...analysis.stacks import has_stacks, off_cpu_stacks
from ...errors import CommandError
from ..exit_statuses import WRONG_USAGE
from .stacks import HOW, StacksReport

if TYPE_CHECKING:
    from .reading import Reading

__all__ = ["make_report"]

_SWITCH = "sched_switch"


def make_report(reading: Reading) -> StacksReport:
    """Read where threads waited.

    Args:
        reading: The traces.

    Raises:
        CommandError: They do not tell, or events are chosen.
    """
    options, streams = reading.options, reading.source.streams
    if options.event or options.filters:
        name = "--event" if options.event else "--filter"
        raise CommandError(
            f"{name}: not for --off-cpu, which is about {_SWITCH} alone; --stacks "
            "counts other events",
            exit_code=WRONG_USAGE,
        )
    if not any(_SWITCH in one.event_names for one in streams):
        raise CommandError(f"{reading.paths}: no event {_SWITCH}: {HOW}")
    if not has_stacks(streams):
        raise CommandError(f"{reading.paths}: no call stacks: {HOW}")
    with reading.progress() as progress:
        found = off_cpu_stacks(
            reading.source,
            reading.places(),
            selection=reading.selection,
            takes=reading.takes,
            progress=progress,
        )
    reading.refuse_unknown("waits")
    return StacksReport("off-cpu", found, reading.options.limit)
