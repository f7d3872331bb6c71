"""The report of a kernel's input and output: threads, system calls, disks, networks."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...analysis.kernel import KernelIo, kernel_io
from ...errors import CommandError
from ..damage_output import print_damage
from ..exit_statuses import WRONG_USAGE
from ..render.io_tables import THREAD_COLUMNS, io_facts, io_lines
from .machines import MachinesReport, MachineTexts

if TYPE_CHECKING:
    from .reading import Reading

__all__ = ["make_report"]


_TEXTS = MachineTexts("io", io_lines, io_facts, THREAD_COLUMNS)


def make_report(reading: Reading) -> MachinesReport[KernelIo]:
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
        # It may be why.
        print_damage(reading.source.damage)
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
    return MachinesReport(machines, _TEXTS)
