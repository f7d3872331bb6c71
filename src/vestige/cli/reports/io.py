"""The report of a kernel's input and output: threads, system calls, disks, networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...analysis.kernel import KernelIo, kernel_io
from ...errors import CommandError
from ..exit_statuses import WRONG_USAGE
from ..render.io_tables import THREAD_COLUMNS, io_facts, io_lines
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ...damage import Damage
    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["IoReport", "make_report"]


class IoReport:
    """What some machines read and wrote.

    Args:
        machines: What each did.
    """

    def __init__(self, machines: Sequence[KernelIo]) -> None:
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
            yield from io_lines(one, style, with_trace=len(self.machines) > 1)

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        return {
            "version": 1,
            "report": "io",
            "machines": [io_facts(one, style) for one in self.machines],
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


def make_report(reading: Reading) -> IoReport:
    """Read traces of kernels.

    Args:
        reading: The traces.

    Raises:
        CommandError: There is none among them, or processes or events are asked for.
    """
    options = reading.options
    for name, given in (
        ("process", reading.processes),
        ("event", options.event),
        ("filter", options.filters),
    ):
        if given:
            raise CommandError(
                f"--{name}: not for --io, which needs all events of a kernel; choose "
                "threads, or a range of time",
                exit_code=WRONG_USAGE,
            )
    with reading.progress() as progress:
        machines = kernel_io(
            reading.source.streams,
            selection=reading.selection,
            threads=reading.threads,
            longest=reading.longest,
            progress=progress,
        )
    if not machines:
        raise CommandError(
            f"{reading.paths}: no events of a kernel's input and output (lttng "
            "enable-event --kernel --syscall --all, and 'sched_switch,block_rq_*,"
            "net_dev_xmit,netif_receive_skb,kmem_mm_page_*')"
        )
    # A thread that only opened files is none of those that read and wrote.
    has_some = any(
        one.threads or any(kind.durations.count for kind in one.operations)
        for one in machines
    )
    reading.refuse_unknown("input or output", has_some=has_some)
    return IoReport(machines)
