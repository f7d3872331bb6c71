"""The report of a kernel: CPUs, threads, system calls and interrupts."""

from __future__ import annotations

from dataclasses import replace

from ..._typing import TYPE_CHECKING
from ...analysis.kernel import KernelUse, kernel_use
from ...errors import CommandError
from ..damage_output import print_damage
from ..exit_statuses import WRONG_USAGE
from ..render.kernel_tables import THREAD_COLUMNS, kernel_facts, kernel_lines
from .machines import MachinesReport, MachineTexts

if TYPE_CHECKING:
    from .reading import Reading

__all__ = ["make_report"]


_ENTRY = "syscall_entry_"
_TEXTS = MachineTexts("kernel", kernel_lines, kernel_facts, THREAD_COLUMNS)


def make_report(reading: Reading) -> MachinesReport[KernelUse]:
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
        # It may be why.
        print_damage(reading.source.damage)
        raise CommandError(
            f"{reading.paths}: nothing of a kernel: there are no events of its "
            "scheduler, system calls and interrupts (vestige record "
            "--kernel=sched,syscalls,irq -- PROGRAM)"
        )
    machines = _with_functions(machines, reading)
    if reading.threads:
        machines = [_only(one, reading) for one in machines]
        has_some = any(one.threads for one in machines)
        reading.refuse_unknown("a turn on a CPU, or a system call", has_some=has_some)
    return MachinesReport(machines, _TEXTS)


def _with_functions(machines: list[KernelUse], reading: Reading) -> list[KernelUse]:
    """Add which functions waited and called the system, where call stacks tell."""
    from ...analysis.stacks import (
        by_function,
        has_stacks,
        off_cpu_stacks,
        system_call_stacks,
    )

    if not has_stacks(reading.source.streams):
        return machines
    names = {name for one in reading.source.streams for name in one.event_names}
    has_calls = any(name and name.startswith(_ENTRY) for name in names)
    found = []
    for read in (off_cpu_stacks, *([system_call_stacks] if has_calls else [])):
        with reading.progress("reading call stacks") as progress:
            found.append(
                read(
                    reading.source,
                    reading.places(),
                    selection=reading.selection,
                    takes=reading.takes,
                    progress=progress,
                )
            )
    waits, *calls = found
    return [
        replace(
            one,
            waits=by_function(waits, one.space),
            function_calls=by_function(calls[0], one.space) if calls else [],
        )
        for one in machines
    ]


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
