"""The tables of ``vestige report --kernel``, named as lttng-analyses names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...plain_text import plain
from .call_style import SHOW_ALL, CallStyle, bold, duration
from .columns import aligned_lines, part_lines
from .debuginfo import count
from .pair_table import PERCENTILES, pair_facts, pair_lines, pair_notes, percent_name

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.durations import Durations
    from ...analysis.events import PairTimes
    from ...analysis.kernel import KernelUse, ThreadUse
    from ...analysis.stacks import FunctionTimes

__all__ = ["THREAD_COLUMNS", "kernel_facts", "kernel_lines"]

THREAD_COLUMNS = (
    *("tid", "name", "running_ns", "turns", "wakeups"),
    *("latency_p50_ns", "latency_p99_ns", "latency_max_ns"),
)
"""What CSV has of a thread."""


def kernel_lines(
    machine: KernelUse, style: CallStyle, *, with_trace: bool
) -> Iterator[str]:
    """Write the tables for people.

    Args:
        machine: What happened.
        style: What is shown.
        with_trace: Whether to name the trace.

    Yields:
        The lines.
    """
    name = f" of {plain(machine.trace)}" if with_trace and machine.trace else ""
    span = max((one.running + one.idle for one in machine.cpus), default=0)
    threads = count(len(machine.threads), "thread")
    cpus = count(len(machine.cpus), "CPU")
    if machine.cpus:
        yield f"{cpus}{name}, {threads}, over {duration(span)}"
        yield from _section("CPUs (cputop)", _cpu_rows(machine), style)
    elif any(one.turns for one in machine.threads):
        yield f"{threads}{name}, of a program that was recorded without others"
    else:
        yield f"{threads}{name}; no events sched_switch, which say who ran on a CPU"
    if any(one.turns for one in machine.threads) or machine.cpus:
        yield from _section(
            "threads (cputop, schedstats): latency is from being woken to running",
            _thread_rows(machine, style),
            style,
            limit=style.limit,
        )
    tables = (
        ("system calls (syscallstats)", "system call", machine.calls_by_name()),
        ("interrupts (irqstats)", "interrupt", machine.interrupts),
        ("soft interrupts (irqstats)", "soft interrupt", machine.soft_interrupts),
        ("from raised to handled", "soft interrupt", machine.raised),
    )
    for title, what, times in tables:
        if times:
            yield ""
            yield bold(title, style)
            yield from pair_lines(times, style, what)
            yield from pair_notes(times)
    yield from part_lines(
        "waits by function (offcputime): in the program, and in the kernel",
        ("waited", "waits", "avg", "max", "runnable", "function"),
        [_function_row(one, is_wait=True) for one in machine.waits],
        style,
    )
    yield from part_lines(
        "system calls by function",
        ("total", "calls", "avg", "max", "function"),
        [_function_row(one, is_wait=False) for one in machine.function_calls],
        style,
    )
    if style.by_thread and machine.system_calls:
        yield from _calls_by_thread(machine, style)
    lost = sum(one.count or 0 for one in machine.losses if one.kind == "events")
    if lost:
        yield ""
        yield f"{count(lost, 'event')} lost by the tracer"


def _function_row(one: FunctionTimes, *, is_wait: bool) -> tuple[str, ...]:
    times = one.times
    cells = [
        duration(times.total),
        f"{times.count:,}",
        duration(times.total / times.count),
        duration(times.longest),
    ]
    if is_wait:
        cells.append(duration(times.runnable))
    name = "-" if one.function is None else one.function.name
    where = f" ({one.source})" if one.source else ""
    text = f"{name}{where} in {one.kernel or '-'}"
    return (*cells, f"{one.name}: {text}" if one.name else text)


def _section(
    title: str, rows: Sequence[Sequence[str]], style: CallStyle, *, limit: int = 0
) -> Iterator[str]:
    # The last column is a name, and the first row has the heads.
    shown = rows[: limit + 1] if limit else rows
    yield ""
    yield bold(title, style)
    yield from aligned_lines(shown, style)
    if len(shown) < len(rows):
        yield f"and {count(len(rows) - len(shown), 'row')} more: {SHOW_ALL}"


def _cpu_rows(machine: KernelUse) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("running", "idle", "busy", "switches", "CPU")]
    for one in machine.cpus:
        whole = one.running + one.idle
        share = f"{100 * one.running / whole:.1f} %" if whole else "-"
        times = duration(one.running), duration(one.idle)
        rows.append((*times, share, f"{one.switches:,}", f"{one.cpu}"))
    return rows


def _thread_rows(machine: KernelUse, style: CallStyle) -> list[tuple[str, ...]]:
    percentiles = style.percentiles or PERCENTILES
    names = map(percent_name, percentiles)
    rows: list[tuple[str, ...]] = [
        ("running", "share", "turns", "woken", *names, "max", "thread")
    ]
    whole = sum(one.running + one.idle for one in machine.cpus)
    for one in _sorted_threads(machine.threads, style.sort):
        waited = one.latencies
        rows.append(
            (
                duration(one.running),
                f"{100 * one.running / whole:.1f} %" if whole else "-",
                f"{one.turns:,}",
                f"{waited.count:,}",
                *(duration(waited.quantile(it / 100)) for it in percentiles),
                duration(waited.quantile(1)),
                _thread_name(one),
            )
        )
    return rows


def _sorted_threads(threads: Sequence[ThreadUse], key: str) -> list[ThreadUse]:
    """Sort threads, the greatest first, or by name; they come by running time."""
    if key == "name":
        return sorted(threads, key=lambda one: one.name or "")
    if key == "calls":
        return sorted(threads, key=lambda one: -one.turns)
    if key == "max":
        return sorted(threads, key=lambda one: -(one.latencies.quantile(1) or 0))
    return [*threads]


def _thread_name(one: ThreadUse) -> str:
    return f"{one.thread} ({plain(one.name)})" if one.name else str(one.thread)


def _calls_by_thread(machine: KernelUse, style: CallStyle) -> Iterator[str]:
    names = {one.thread: _thread_name(one) for one in machine.threads}
    found: dict[str, list[PairTimes]] = {}
    for one in machine.system_calls:
        origin = one.origin
        if origin is None or origin.thread is None:
            who = "no known thread"
        else:
            who = f"thread {names.get(origin.thread, origin.thread)}"
        found.setdefault(who, []).append(one)
    for who, times in found.items():
        yield ""
        yield bold(f"system calls of {who}", style)
        yield from pair_lines(times, style, "system call")


def kernel_facts(machine: KernelUse, style: CallStyle) -> dict[str, Any]:
    """Return the tables as JSON has them.

    Args:
        machine: What happened.
        style: What is shown.
    """
    limit = style.limit or None
    facts: dict[str, Any] = {
        "trace": machine.trace,
        "cpus": [
            {
                "cpu": one.cpu,
                "running_ns": one.running,
                "idle_ns": one.idle,
                "switches": one.switches,
            }
            for one in machine.cpus
        ],
        "threads": [
            _thread_facts(one)
            for one in _sorted_threads(machine.threads, style.sort)[:limit]
        ],
        "system_calls": _facts(machine.calls_by_name()[:limit], style),
        "interrupts": _facts(machine.interrupts, style),
        "soft_interrupts": _facts(machine.soft_interrupts, style),
        "raised": _facts(machine.raised, style),
        "lost_events": sum(
            one.count or 0 for one in machine.losses if one.kind == "events"
        ),
    }
    if machine.waits or machine.function_calls:
        facts["waits_by_function"] = _function_facts(machine.waits[:limit])
        facts["system_calls_by_function"] = _function_facts(
            machine.function_calls[:limit]
        )
    if style.by_thread:
        facts["system_calls_of_threads"] = [
            {"vtid": one.origin.thread, **pair_facts(one, style)}
            for one in machine.system_calls
            if one.origin is not None
        ]
    return facts


def _facts(times: Iterable[PairTimes], style: CallStyle) -> list[dict[str, Any]]:
    return [{**pair_facts(one, style), "number": one.key} for one in times]


def _function_facts(rows: Iterable[FunctionTimes]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "function": None if one.function is None else one.function.name,
            "object": None if one.function is None else one.function.object,
            "source": one.source,
            "kernel": one.kernel,
            "count": one.times.count,
            "total_ns": one.times.total,
            "max_ns": one.times.longest,
            "runnable_ns": one.times.runnable,
        }
        for one in rows
    ]


def _thread_facts(one: ThreadUse) -> dict[str, Any]:
    waited: Durations[Any] = one.latencies
    return {
        "tid": one.thread,
        "name": one.name,
        "running_ns": one.running,
        "turns": one.turns,
        "wakeups": waited.count,
        "latency_p50_ns": waited.quantile(0.5),
        "latency_p99_ns": waited.quantile(0.99),
        "latency_max_ns": waited.quantile(1),
    }
