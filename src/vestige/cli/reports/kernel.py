"""The report of a kernel: CPUs, threads, system calls and interrupts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..._typing import TYPE_CHECKING
from ...analysis.kernel import KernelUse, kernel_use
from ...errors import CommandError
from ..exit_statuses import WRONG_USAGE
from ..render.kernel_tables import THREAD_COLUMNS, kernel_facts, kernel_lines
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ...damage import Damage
    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["KernelReport", "make_report"]


class KernelReport:
    """What happened on some machines.

    Args:
        machines: What happened on each.
    """

    def __init__(self, machines: Sequence[KernelUse]) -> None:
        self.machines = machines

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        return [found for one in self.machines for found in one.damage]

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        for index, one in enumerate(self.machines):
            if index:
                yield ""
            yield from kernel_lines(one, style, with_trace=len(self.machines) > 1)

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        return {
            "version": 1,
            "report": "kernel",
            "machines": [kernel_facts(one, style) for one in self.machines],
            "damage": [found._asdict() for found in self.damage],
        }

    def table(self, style: CallStyle) -> Table:
        """Return the threads; see :class:`Report`."""
        rows = [
            [machine["trace"], *(one[name] for name in THREAD_COLUMNS)]
            for machine in self.facts(style)["machines"]
            for one in machine["threads"]
        ]
        return Table(("trace", *THREAD_COLUMNS), rows)


def make_report(reading: Reading) -> KernelReport:
    """Read traces of kernels.

    Args:
        reading: The traces.

    Raises:
        CommandError: There is none among them, or processes are asked for.
    """
    if reading.processes:
        raise CommandError(
            "--process: records of kernels do not have their process; choose threads",
            exit_code=WRONG_USAGE,
        )
    with reading.progress() as progress:
        machines = kernel_use(
            reading.source.streams, selection=reading.selection, progress=progress
        )
    if not machines:
        raise CommandError(
            f"{reading.paths}: no trace of a kernel: there is no event sched_switch "
            "(lttng enable-event --kernel 'sched_*','irq_*' and --syscall --all)"
        )
    if reading.threads:
        machines = [_only(one, reading) for one in machines]
        has_some = any(one.threads for one in machines)
        reading.refuse_unknown("a turn on a CPU", has_some=has_some)
    return KernelReport(machines)


def _only(machine: KernelUse, reading: Reading) -> KernelUse:
    """Leave out what is of other threads."""
    return replace(
        machine,
        threads=[one for one in machine.threads if one.thread in reading.threads],
        system_calls=[
            one
            for one in machine.system_calls
            if one.origin is not None and one.origin.thread in reading.threads
        ],
    )
