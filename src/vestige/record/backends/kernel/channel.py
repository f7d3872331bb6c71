"""A channel of the kernel: an instance with its events, and what becomes of these."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress

from ...._typing import TYPE_CHECKING, NamedTuple
from ....advice import nearest
from ....errors import SelectionError
from ...rules.kernel_contexts import check_kernel_contexts
from .beside import Beside
from .call_programs import GETS_MEMORY, CallPrograms, has_untold, joined_at
from .call_stacks import CALL_STACKS, record_stacks, stack_plans
from .channel_filters import ChannelFilters
from .contexts import (
    context_operations,
    own_context,
    source_of,
)
from .counters import Counters, counter_contexts
from .event_classes import EventClass, Operation, event_class
from .formats import EventFormat, read_format
from .lttng_names import lttng_name
from .metadata import DeclaredClass
from .own_threads import OwnThreads
from .probes import Probes
from .proc_files import is_in_pid_namespace, threads_of
from .programs import TEXT_EVENT
from .rules import CALLS, takes_name
from .selection import choose, names_like
from .state_dump import CLASSES
from .sub_buffers import has_large_pages, page_bytes, resize
from .system_calls import EXIT, content_bytes, has_unread_texts, texts
from .tracefs import Instance, NoKernelTracerError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from contextlib import ExitStack

    from .channel_filters import Filters
    from .rules import KernelRule
    from .selection import Match
    from .tracefs import Tracefs
    from .wanted import ChannelWanted

__all__ = ["Channel", "Plan"]

Tells = tuple[str, int, int]
Plan = tuple[int, int | None, list[Operation], Tells | None]
"""As :class:`vestige.record._kernel.Collector` has it."""

_WAKE_PERCENT = 25
"""How full a buffer is when it is read."""
_WAKE_PERCENT_LATE = 50
"""The same where pages are small: who reads one that a CPU has written just now slows
that CPU down, and small ones are many."""
_SMALL = 1 << 20
"""Bytes of a buffer that is read early all the same, since it is full soon."""
_LOGGER = ("ftrace", "print")
"""What is written to the marker of an instance, which needs not be switched on."""
_NEW_THREAD = ("task", "task_newtask")
"""The event that has the flags of clone(2), right before a fork."""
_FORK = ("sched", "sched_process_fork")
_SWITCH = ("sched", "sched_switch")
_WITHOUT_TEXTS = (
    "texts to which arguments of system calls point are missing, since this kernel "
    "does not tell them, or not without CAP_BPF and CAP_PERFMON: fields such as "
    "filename are empty, and filename_addr has the address"
)
_WITHOUT_MEMORY = (
    "what else arguments of system calls point to is missing, since this kernel does "
    "not tell it, or not without CAP_BPF and CAP_PERFMON: fields such as fds, readfds "
    "and v4addr are empty"
)
_BYTES = re.compile(r"^bytes: (\d+)$", re.MULTILINE)
_UNBLOCKED = os.O_RDONLY | os.O_NONBLOCK
_NOBODY = 1 << 29
"""The ID of no thread: there are none above 1 << 22 (``PID_MAX_LIMIT``)."""
_MOST_HINTS = 20
"""Of rules that take nothing, of how many it is said what may have been meant."""
_Key = tuple[str, str]


class _Known(NamedTuple):
    """An event that is or was recorded."""

    format: EventFormat
    id: int | None
    """The ID of its class; ``None``: it is not in the trace."""

    made: EventClass
    texts: Tells | None = None
    """Where it gets its texts from, if the kernel's event has none."""


class Channel:
    """An instance that is ready to record.

    Args:
        tracefs: Where it is made.
        clock: The clock of the instance, as the kernel calls it.
        wanted: What is recorded in it.

    Raises:
        NoKernelTracerError: The kernel cannot record so.
        OSError: A file cannot be written.
    """

    def __init__(self, tracefs: Tracefs, clock: str, wanted: ChannelWanted) -> None:
        self.problems: list[str] = []
        """What cannot be recorded, and why."""
        self.wanted = wanted
        self._tracefs = tracefs
        self._clock = clock
        self._calls: set[_Key] = set()
        """All events of system calls."""
        self._formats: dict[_Key, EventFormat] = {}
        self._known: dict[_Key, _Known] = {}
        self._enabled: set[_Key] = set()
        self._next = len(CLASSES)
        self._new: list[DeclaredClass] = []
        self._states: set[int] = set()
        self._missing: dict[tuple[str, str | None, str], str] = {}
        """Of rules that take nothing, what is said."""
        self._told: set[str] = set()
        """What was said already of what the kernel does not tell."""
        self._texts = CallPrograms(tracefs)
        self._is_renewed = False
        self._probes = Probes(tracefs)
        self._probed: dict[str, list[EventFormat]] = {}
        """The events of probes, by what their rules say."""
        try:
            check_kernel_contexts(wanted.contexts)
        except SelectionError as error:
            raise NoKernelTracerError(str(error)) from error
        self.contexts = [one for one in dict.fromkeys(wanted.contexts) if one != "tid"]
        """Those of its records, without that of the thread."""
        self._needs_switches = "switch" in source_of(self.contexts)
        self._tracks = self._leaves_out = False
        self._instance = Instance(tracefs, wanted.name)
        self._counters = Counters(tracefs, (), ())
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        """Make what the instance needs, and let it record what is wanted."""
        wanted = self.wanted
        self._counters = self._open_counters()
        # Values without their record could be taken for those of the next one.
        spared = frozenset({_SWITCH} if self._needs_switches else ())
        self._filters = ChannelFilters(
            self._instance,
            self.contexts,
            None if self._counters.contexts else spared,
            self._gets,
        )
        self._own = OwnThreads(
            self._instance,
            wanted.buffer_size,
            # Who collects in a PID namespace has other IDs than its records there.
            is_in_kernel=is_in_pid_namespace()
            or any(one in CALL_STACKS for one in self.contexts),
        )
        preparing = Beside(self._prepare)
        try:
            self.change(wanted)
        finally:
            preparing.wait()

    def _open_counters(self) -> Counters:
        """Open the counters that are wanted; those that there are not, are left out."""
        wanted = counter_contexts(self.contexts)
        counters = Counters(self._tracefs, wanted, self._instance.cpus())
        self.problems += counters.problems
        missing = {*wanted} - {*counters.contexts}
        self.contexts = [one for one in self.contexts if one not in missing]
        return counters

    def _prepare(self) -> None:
        instance, wanted = self._instance, self.wanted
        try:
            instance.write("trace_clock", self._clock)
        except OSError as error:
            what = f"this kernel has no clock {self._clock}"
            raise NoKernelTracerError(what) from error
        instance.write("options/overwrite", int(wanted.is_overwriting))
        is_read = not (wanted.is_overwriting or wanted.is_kept)
        try:
            resize(instance, wanted.buffer_size, is_read=is_read)
        except OSError as error:
            what = f"no buffers of {wanted.buffer_size} bytes for each CPU"
            raise NoKernelTracerError(f"{what}: {error.strerror}") from error
        self.page = page_bytes(instance)
        """Bytes of a page of its buffers."""
        # Older kernels wake readers for each page.
        with suppress(OSError):
            is_late = wanted.buffer_size >= _SMALL and not has_large_pages(self.page)
            percent = _WAKE_PERCENT_LATE if is_late else _WAKE_PERCENT
            instance.write("buffer_percent", percent)
        record_stacks(instance, self.contexts)
        self._stacks = stack_plans(self._tracefs, self.contexts)

    def change(self, wanted: ChannelWanted) -> None:
        """Find out what is wanted now; :meth:`switch` lets it be recorded.

        Args:
            wanted: As it is now; nothing but its rules is another.
        """
        self.wanted = wanted
        matches, hidden = self._chosen(wanted.rules)
        hidden |= self._tell_texts(matches)
        probes = [*self._probe_events()]
        self._read_counters(matches, probes)
        self._shown = {(one.system, one.name) for one in matches}
        for form in probes:
            self._shown.add((form.system, form.name))
            self._learn((form.system, form.name), is_hidden=False, form=form)
        self._wanted_events = self._shown | hidden
        for one in matches:
            self._learn((one.system, one.name), is_hidden=False)
        for key in hidden:
            self._learn(key, is_hidden=True)
        if self._takes(lttng_name(*_LOGGER)):
            self._shown.add(_LOGGER)
        self._learn(_LOGGER, is_hidden=_LOGGER not in self._shown)
        for number, (name, fields) in enumerate(CLASSES.items()):
            if number not in self._states and self._takes(name):
                self._states.add(number)
                self._new.append(DeclaredClass(number, name, fields))
        self._set_filters(matches)
        self._own.expect(self._wanted_events)

    def _tell_texts(self, matches: Sequence[Match]) -> set[_Key]:
        """Let texts of calls be told; return what is recorded for that."""
        calls = [
            self._format((one.system, one.name))
            for one in matches
            if one.system == CALLS
        ]
        self._instance.tell_contents(content_bytes(calls))
        self._is_renewed |= self._texts.tell(calls)
        is_told = self._texts.is_running or self._counters.contexts
        return {TEXT_EVENT} if is_told else set()

    def _read_counters(
        self, matches: Sequence[Match], probes: Sequence[EventFormat]
    ) -> None:
        """Let counters be read at what is wanted, where they can be."""
        if not self._counters.contexts:
            return
        events = [self._format((one.system, one.name)) for one in matches]
        self._counters.read_at(events, self._pause_calls)
        named = [(one, lttng_name(one.system, one.name)) for one in events]
        named += [(one, self._probes.names.get(one.id, one.name)) for one in probes]
        self._counters.tell_unread(named)
        self.problems += self._counters.problems
        self._counters.problems = []

    def _pause_calls(self) -> None:
        """Switch system calls off until :meth:`switch`."""
        again = {one for one in self._enabled if one[0] == CALLS}
        self._instance.disable(sorted(again))
        self._enabled -= again

    def _format(self, key: _Key) -> EventFormat:
        if (known := self._formats.get(key)) is None:
            system, name = key
            text = self._tracefs.read(f"events/{system}/{name}/format")
            known = self._formats[key] = read_format(system, name, text)
        return known

    def _set_filters(self, matches: Sequence[Match]) -> None:
        """Leave out what filters do, or let it be left out."""
        taken = {
            (one.system, one.name): [rule.filter for rule in one.rules]
            for one in matches
        }
        for rule in self.wanted.rules:
            for form in self._probed.get(_probe_key(rule), ()):
                taken.setdefault((form.system, form.name), []).append(rule.filter)
        name = lttng_name(*_LOGGER)
        if self._takes(name):
            rules = [one for one in self.wanted.rules if takes_name(one, name)]
            taken[_LOGGER] = [one.filter for one in rules]
        self._filters.apply(
            [
                (known.format, taken.get(key, [None]))
                for key, known in self._known.items()
            ]
        )
        self.problems += self._filters.problems
        self._filters.problems = []

    def _takes(self, name: str) -> bool:
        return any(takes_name(one, name) for one in self.wanted.rules)

    def _chosen(self, rules: Sequence[KernelRule]) -> tuple[list[Match], set[_Key]]:
        """Return what rules take, and what is recorded for that besides."""
        lines = self._tracefs.read("available_events").split()
        available = [(one, name) for one, _, name in map(_split, lines)]
        # No module brings more of these.
        self._calls = {one for one in available if one[0] == CALLS}
        matches, without = choose(rules, available)
        own = {*CLASSES, lttng_name(*_LOGGER)}
        self.problems += [
            self._missing_text(one, available)
            for one in without
            if not any(takes_name(one, name) for name in own)
        ]
        chosen = {(one.system, one.name) for one in matches}
        is_needed = _FORK in chosen and _NEW_THREAD not in chosen
        hidden = {_NEW_THREAD} if is_needed and _NEW_THREAD in available else set()
        if self._needs_switches and _SWITCH not in chosen and _SWITCH in available:
            hidden.add(_SWITCH)
        return matches, hidden

    def _missing_text(self, rule: KernelRule, available: Sequence[_Key]) -> str:
        """Say that there is nothing that a rule takes, and what may have been meant."""
        key = rule.kind, rule.system, rule.pattern
        if key not in self._missing:
            # To look for what is like it takes long, and many are no slips of the pen.
            is_hinted = len(self._missing) < _MOST_HINTS
            self._missing[key] = _no_event(rule, available if is_hinted else ())
        return self._missing[key]

    def _probe_events(self) -> Iterator[EventFormat]:
        """Yield the events of the probes that are wanted, which are made if need be."""
        for rule in self.wanted.rules:
            if rule.location is None:
                continue
            key = _probe_key(rule)
            if key not in self._probed:
                try:
                    made = self._probes.add(rule.kind, rule.location, rule.pattern)
                except NoKernelTracerError as error:
                    self.problems.append(str(error))
                    continue
                self._probed[key] = made
            yield from self._probed[key]

    def _learn(
        self, key: _Key, *, is_hidden: bool, form: EventFormat | None = None
    ) -> None:
        """Know an event, and declare it once it is in the trace."""
        known = self._known.get(key)
        if known is None:
            form = self._format(key) if form is None else form
            counters = self._counters.operations(form)
            contexts = context_operations(self.contexts, form.system, counters)
            told: Tells | None = None
            if self._texts.has(form):
                told = "gets_texts", joined_at(form), len(texts(form))
            elif self._texts.has_memory(form):
                told = GETS_MEMORY, joined_at(form), int(form.name.startswith(EXIT))
            made = event_class(
                form,
                self._probes.names.get(form.id),
                contexts,
                None if told is None else told[1],
            )
            known = _Known(form, None, made, told)
        if known.id is None and not is_hidden:
            if has_untold(known.format) and known.texts is None:
                self._tell_empty(known.format)
            known = known._replace(id=self._next)
            name, fields, _ = known.made
            self._new.append(DeclaredClass(self._next, name, fields))
            self._next += 1
        self._known[key] = known

    def _gets(self, event: EventFormat) -> Tells | None:
        """Return what records of an event get that the kernel's own have not."""
        known = self._known.get((event.system, event.name))
        return None if known is None else known.texts

    def _tell_empty(self, event: EventFormat) -> None:
        """Say once that fields are empty."""
        why = _WITHOUT_TEXTS if has_unread_texts(event) else _WITHOUT_MEMORY
        if why not in self._told:
            self._told.add(why)
            self.problems.append(why)

    def take_new(self) -> list[DeclaredClass]:
        """Return the classes that nobody has declared yet."""
        new, self._new = self._new, []
        return new

    @property
    def classes(self) -> int:
        """How many classes there are, also those that were not declared."""
        return self._next

    def has_events(self) -> bool:
        """Tell whether anything is recorded that somebody has asked for by its name."""
        own = lttng_name(*_LOGGER)
        return bool(self._wanted_events) or any(
            one.kind == "event" and takes_name(one, own) for one in self.wanted.rules
        )

    def states(self) -> set[int]:
        """Return the IDs of the events of the state dump that are wanted."""
        return {
            number
            for number, name in enumerate(CLASSES)
            if number in self._states and self._takes(name)
        }

    def plans(self) -> list[Plan]:
        """Return what becomes of each event."""
        plans: list[Plan] = [*self._stacks]
        for key, (form, number, made, told) in self._known.items():
            tells = told
            if key == TEXT_EVENT and (text := form.at("bpf_string")) is not None:
                tells = "text", text, self._counters.token
            if key == _NEW_THREAD:
                thread, flags = form.at("pid"), form.at("clone_flags")
                if thread is not None and flags is not None:
                    tells = "new_thread", thread, flags
            if key == _SWITCH and self._needs_switches:
                thread, priority = form.at("next_pid"), form.at("next_prio")
                if thread is not None and priority is not None:
                    tells = "switch", thread, priority
            if number is None or key not in self._shown:
                plans.append((form.id, None, [], tells))
            else:
                plans.append((form.id, number, list(made.operations), tells))
        return plans

    def filters(self) -> Filters:
        """Return what must be true of records, and the kernel does not look at."""
        return self._filters.to_read()

    def others(self) -> dict[int, int | None] | None:
        """Return what stays of the recorder's own threads: :class:`.OwnThreads`."""
        return self._own.others(one.format for one in self._known.values())

    def sources(self) -> set[str]:
        """Return what must be known of threads: see :func:`.contexts.source_of`."""
        return source_of([*self.contexts, *self._filters.asked()]) - {"switch"}

    def own_context(self, machine_ids: Mapping[int, int] | None) -> bytes:
        """Return the contexts of records that this process makes.

        Args:
            machine_ids: The IDs that the kernel has for processes, if these are others.
        """
        return own_context(self.contexts, machine_ids)

    def track(self, processes: Sequence[int] | None) -> None:
        """Let the kernel record no more threads than it must.

        Args:
            processes: Those that are wanted; ``None``: all.
        """
        self._tracks = processes is not None
        threads = {one for process in processes or () for one in threads_of(process)}
        if self._tracks:
            # What these make is recorded, too, and left out by whoever collects. To
            # name nobody would be to name all.
            self._instance.write("options/event-fork", 1)
            threads = threads or {os.getpid()}
        self._instance.write("set_event_pid", " ".join(map(str, sorted(threads))))

    def follow(self, thread: int | None) -> None:
        """Let the kernel record what a thread starts, and nothing of others.

        What the kernel was told is not taken back: see :mod:`.own_threads`.

        Args:
            thread: Its ID, as the kernel has it; ``None``: nobody's yet.
        """
        if thread is not None:
            self._instance.write("set_event_pid", thread, is_added=True)
            return
        self._tracks = True
        self._own.is_collected = True
        self._instance.write("options/event-fork", 1)
        # To name nobody would be to name all.
        try:
            self._instance.write("set_event_pid", _NOBODY)
        except OSError:
            # Before Linux 5.17 it takes none that a thread cannot have here.
            with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
                self._instance.write("set_event_pid", int(file.read()) - 1)

    def switch(self) -> None:
        """Let the kernel record what is wanted, and nothing else."""
        instance = self._instance
        wanted = self._wanted_events if self.wanted.is_enabled else set()
        if self._is_renewed:
            # What tells texts must come before what records calls, which are called in
            # the order in which they were switched on.
            self._is_renewed = False
            self._pause_calls()
        instance.disable(sorted(self._enabled - wanted))
        new = wanted - self._enabled
        if self._calls and self._calls <= new and instance.enable_all(CALLS):
            new -= self._calls
        for key, why in instance.enable(sorted(new)):
            name, _, _ = self._known[key].made
            self.problems.append(f"no event {name}: the kernel refuses it: {why}")
        self._enabled = set(wanted)

    def open_files(self, opened: ExitStack) -> list[tuple[int, int, int]]:
        """Open the files of all CPUs: number, pages, statistics.

        Args:
            opened: Closes them.
        """
        of = self._instance.open_until
        return [
            (
                cpu,
                of(opened, f"per_cpu/cpu{cpu}/trace_pipe_raw", _UNBLOCKED),
                of(opened, f"per_cpu/cpu{cpu}/stats"),
            )
            for cpu in self._instance.cpus()
        ]

    def fill(self) -> list[int]:
        """Return how many bytes of each CPU were not read yet."""
        counts = []
        for cpu in self._instance.cpus():
            found = _BYTES.search(self._instance.read(f"per_cpu/cpu{cpu}/stats"))
            counts.append(int(found[1]) if found else 0)
        return counts

    def leave_out(self, threads: Sequence[int]) -> None:
        """Record nothing of some threads, besides those that are left out already.

        Those who collect leave them out where the kernel does not.

        Args:
            threads: Their IDs.
        """
        self._own.leave_out(threads)

    def forget(self, ended: Collection[int], used: Collection[int]) -> set[int]:
        """Leave out no more threads that have ended: see :meth:`.OwnThreads.forget`."""
        return self._own.forget(ended, used)

    def begin_dump(self) -> None:
        """Leave out what threads that are left out do and start in the meantime."""
        # To take it back, the kernel waits for all CPUs. Who collects needs it not.
        self._leaves_out = self._own.is_in_kernel
        if self._leaves_out:
            self._instance.write("options/event-fork", 1)

    def end_dump(self) -> None:
        """Leave out such threads alone."""
        if self._leaves_out and not self._tracks:
            self._instance.write("options/event-fork", 0)
        self._leaves_out = False

    def record(self, *, is_on: bool) -> None:
        """Let it record, or stop that."""
        self._instance.record(is_on=is_on)

    def close(self) -> None:
        """Remove the instance."""
        with suppress(OSError):
            self._instance.remove()
        self._texts.close()
        self._counters.close()
        self._probes.close()


def _no_event(rule: KernelRule, available: Sequence[_Key]) -> str:
    text = f"this kernel has no event {rule.text}"
    like = names_like(rule, available)
    return f"{text}; there {nearest(rule.text, like)}" if like else text


def _probe_key(rule: KernelRule) -> str:
    return json.dumps((rule.kind, rule.location, rule.pattern), sort_keys=True)


def _split(line: str) -> tuple[str, str, str]:
    return line.partition(":")
