"""CPUs, threads, system calls and interrupts, as LTTng's kernel tracer records them.

``sched_switch`` says which thread runs on a CPU. A thread waits for a CPU from
``sched_waking`` (where that was not recorded, ``sched_wakeup``) to the switch to it, a
new one from ``sched_wakeup_new``; of several, the last one counts. What runs before the
first switch of a CPU and after its last one is not counted. A thread has the name
with which it left its CPU for the last time: who executes a program has a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..._typing import TYPE_CHECKING
from ...graph import Graph, Inputs, Selection, Stream
from ..durations import Durations
from ..events import LongPair, PairRule, PairTimes
from ..events.origin import Origins
from ..events.pairs import by_time, found_rules, joined_pairs, pair_times
from ..events.table import EventReader

if TYPE_CHECKING:
    from ... import core
    from ...damage import Damage
    from ...graph import LostNotice
    from ..stacks import FunctionTimes

__all__ = ["SWITCH", "CpuUse", "KernelUse", "ThreadUse", "kernel_use"]

SWITCH = "sched_switch"
"""The event without which nobody knows which thread runs."""
_IDLE = 0
"""Thread ID of what runs when nothing does."""
_SOFT_INTERRUPTS = (
    *("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK"),
    *("IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"),
)
"""Names of the numbers, as Linux has them."""
_EVENTS = (SWITCH, "irq_handler_entry", "softirq_entry", "irq_softirq_entry")
"""One of them is in a trace that has anything to show, or system calls are."""
_SYSTEM_CALLS = "syscall_entry_"
_STATE = "lttng_statedump_process_state"
_BORN = "threads that began"
_OLD_NAME, _STATE_NAME = "name at the end of a turn", "name at the beginning"
_WAKING = ("sched_waking", "sched_wakeup_new")
_WAKEUP = ("sched_wakeup", "sched_wakeup_new")


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuUse:
    """What ran on a CPU, from its first switch to its last one."""

    cpu: int
    """Number of the CPU."""
    running: int
    """How long threads ran, nanoseconds."""
    idle: int
    """How long none did, nanoseconds."""
    switches: int
    """How often another thread ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadUse:
    """What a thread did."""

    thread: int
    """Thread ID."""
    name: str | None
    """Its name: the last one that it had."""
    running: int
    """How long it ran, nanoseconds."""
    turns: int
    """How often it began to run."""
    latencies: Durations[LongPair]
    """How long it waited for a CPU after it was woken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelUse:
    """What happened on a machine, as a trace of its kernel has it."""

    trace: str
    """Name of the trace."""
    space: int
    """What tells traces of the same name apart; see :class:`.graph.Stream`."""
    cpus: list[CpuUse]
    """The CPUs, in order; none where a program alone was recorded."""
    threads: list[ThreadUse]
    """The threads, those that ran longest first; without what runs when none does.
    Where no switches were recorded, those with system calls."""
    system_calls: list[PairTimes]
    """The system calls of each thread, those that took longest first."""
    interrupts: list[PairTimes]
    """The interrupts, by number."""
    soft_interrupts: list[PairTimes]
    """The soft interrupts, by number."""
    raised: list[PairTimes]
    """How long soft interrupts waited after they were raised, by number."""
    losses: list[LostNotice]
    """What the tracer lost."""
    damage: list[Damage]
    """What could not be read."""
    waits: list[FunctionTimes] = field(default_factory=list)
    """Where functions of programs waited, the longest first; for whoever has added
    it, of traces with call stacks."""
    function_calls: list[FunctionTimes] = field(default_factory=list)
    """Which functions called the system, the longest first; likewise."""

    def calls_by_name(self) -> list[PairTimes]:
        """Return the system calls of all threads by name, the longest first."""
        return joined_pairs(self.system_calls)


def kernel_use(
    streams: Sequence[Stream],
    *,
    selection: Selection | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[KernelUse]:
    """Read traces of kernels.

    Args:
        streams: The data streams; of other traces than those of kernels, nothing is
            read.
        selection: Which part of the traces is read; all by default.
        progress: Called with the number of event records read so far.

    Returns:
        What happened, for each trace with anything of that.
    """
    traces: dict[int, list[Stream]] = {}
    for stream in streams:
        traces.setdefault(stream.process_space, []).append(stream)
    return [
        _use(own, selection, progress)
        for own in traces.values()
        if any(_is_shown(name) for stream in own for name in stream.event_names)
    ]


def _is_shown(event: str | None) -> bool:
    return event in _EVENTS or (event or "").startswith(_SYSTEM_CALLS)


def _use(
    streams: Sequence[Stream],
    selection: Selection | None,
    progress: Callable[[int], object] | None,
) -> KernelUse:
    rules = _rules(streams)
    sink = EventReader(rules)
    inputs = Inputs(streams)
    damage = Graph([inputs], sink, (), selection, progress=progress).run()
    found = pair_times(rules, sink.table, Origins(streams))
    times: dict[str, list[PairTimes]] = {}
    for one in found:
        # The first ones are of the rules: nothing is in them.
        if one.durations.count or one.incomplete:
            kind = "syscall" if one.rule.grouping == "who" else one.rule.name
            times.setdefault(kind, []).append(one)
    cpus, threads = _cpus(sink.table), _threads(sink.table, times)
    if streams[0].trace.parsed.environment.get("kernel_of") == "program":
        # When others left their CPUs was not recorded.
        born = {_thread(one) for one in times.get(_BORN, ())} | _callers(times)
        cpus, threads = [], [one for one in threads if one.thread in born]
    return KernelUse(
        trace=streams[0].trace.name,
        space=streams[0].process_space,
        cpus=cpus,
        threads=threads,
        system_calls=by_time(times.get("syscall", ())),
        interrupts=_by_number(times.get("irq", ())),
        soft_interrupts=_by_number(_named(times.get("softirq", ()))),
        raised=_by_number(_named(times.get("raised softirq", ()))),
        losses=sink.losses,
        damage=damage,
    )


def _rules(streams: Sequence[Stream]) -> list[PairRule]:
    names = {name for stream in streams for name in stream.event_names if name}
    woken = _WAKING if _WAKING[0] in names else _WAKEUP
    system_calls = (
        rule._replace(grouping="who") for rule in found_rules(streams) if not rule.nests
    )
    return [
        PairRule(
            "wake-up",
            woken,
            (SWITCH,),
            keys=("tid", "next_tid"),
            label="comm",
            reach="everything",
            nests=False,
            grouping="key",
        ),
        _interrupt("irq", "irq_handler_entry", "irq_handler_exit", "irq", "name"),
        _soft_interrupt("softirq", "entry", "exit"),
        _soft_interrupt("raised softirq", "raise", "entry"),
        _name(_STATE_NAME, _STATE, "tid", "name"),
        _name(_BORN, "sched_wakeup_new", "tid", "comm"),
        _name(_OLD_NAME, SWITCH, "prev_tid", "prev_comm"),
        *system_calls,
    ]


def _interrupt(
    name: str, begin: str, end: str, key: str, label: str | None = None
) -> PairRule:
    return PairRule(
        name,
        (begin,),
        (end,),
        keys=(key, key),
        label=label,
        reach="cpu",
        nests=False,
        grouping="key",
    )


def _soft_interrupt(name: str, begin: str, end: str) -> PairRule:
    """Return the rule for both names: LTTng puts a prefix before the kernel's."""
    rule = _interrupt(name, f"softirq_{begin}", f"softirq_{end}", "vec")
    return rule._replace(
        begins=(*rule.begins, f"irq_softirq_{begin}"),
        ends=(*rule.ends, f"irq_softirq_{end}"),
    )


def _name(name: str, event: str, thread: str, label: str) -> PairRule:
    """Return what has no end, and names threads."""
    return PairRule(
        name,
        (event,),
        (),
        keys=(thread, thread),
        label=label,
        reach="everything",
        nests=False,
        grouping="key",
    )


def _cpus(table: core.EventTable) -> list[CpuUse]:
    found: dict[int, list[int]] = {}
    for _, cpu, thread, _, time, turns in table.running():
        sums = found.setdefault(cpu, [0, 0, 0])
        sums[1 if thread == _IDLE else 0] += time
        sums[2] += turns
    return [
        CpuUse(cpu=cpu, running=running, idle=idle, switches=turns)
        for cpu, (running, idle, turns) in sorted(found.items())
    ]


def _threads(
    table: core.EventTable, times: Mapping[str, Iterable[PairTimes]]
) -> list[ThreadUse]:
    ran: dict[int, list[int]] = {}
    names = _names(times.get(_STATE_NAME, ()))
    for _, _, thread, name, time, turns in table.running():
        sums = ran.setdefault(thread, [0, 0])
        sums[0] += time
        sums[1] += turns
        if name:
            names[thread] = name
    names |= _names(times.get(_OLD_NAME, ()))
    waited = {}
    for one in times.get("wake-up", ()):
        if (woken := _thread(one)) is not None and (
            one.durations.count or woken in ran
        ):
            waited[woken] = one.durations
            if one.label:
                names.setdefault(woken, one.label)
    found = [
        ThreadUse(
            thread=thread,
            name=names.get(thread),
            running=ran.get(thread, (0, 0))[0],
            turns=ran.get(thread, (0, 0))[1],
            latencies=waited.get(thread) or Durations({}, 0, 0),
        )
        for thread in (ran.keys() | waited.keys()) or _callers(times)
        if thread != _IDLE
    ]
    return sorted(found, key=lambda one: (-one.running, one.thread))


def _callers(times: Mapping[str, Iterable[PairTimes]]) -> set[int]:
    """Return the threads with system calls."""
    origins = (one.origin for one in times.get("syscall", ()))
    return {one.thread for one in origins if one and one.thread is not None}


def _names(times: Iterable[PairTimes]) -> dict[int, str]:
    found = ((_thread(one), one.label) for one in times)
    return {thread: name for thread, name in found if name and thread is not None}


def _thread(times: PairTimes) -> int | None:
    """Return the thread whose ID is the key."""
    key = times.key
    return int(key) if key is not None and key.lstrip("-").isdecimal() else None


def _named(times: Iterable[PairTimes]) -> Iterable[PairTimes]:
    """Name soft interrupts by their numbers."""
    names = {str(number): name for number, name in enumerate(_SOFT_INTERRUPTS)}
    return (replace(one, label=names.get(one.key or "")) for one in times)


def _by_number(times: Iterable[PairTimes]) -> list[PairTimes]:
    return sorted(times, key=lambda one: (len(one.key or ""), one.key or ""))
