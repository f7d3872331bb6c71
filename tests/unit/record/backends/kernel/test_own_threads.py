"""Of the recorder's own threads nothing is recorded, whoever leaves it out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import children_of, instances_of, why_not
from vestige.record.backends.in_process.clock import RecordingClock
from vestige.record.backends.in_process.kernel_beside import kernel_domain
from vestige.record.backends.kernel.metadata import ClockFacts
from vestige.record.backends.kernel.own_threads import OwnThreads
from vestige.record.backends.kernel.rules import KernelRule
from vestige.record.backends.kernel.session_trace import SessionTrace
from vestige.record.backends.kernel.tracefs import Tracefs
from vestige.record.backends.kernel.wanted import ChannelWanted, Wanted
from vestige.record.rules.options import RecordingOptions
from vestige.record.trace_directory import Places

REASON = why_not()
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
UUID = "0d5d1ca2-6b4a-4dd8-9dd0-6b7d0a2e6f13"
LARGE, SMALL = 4 << 20, 64 << 10
FEW = [("syscalls", "sys_enter_read"), ("sched", "sched_switch")]
MANY = ("kmem", "mm_page_alloc")


class Written:
    """Takes the settings of an instance."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def write(self, path: str, value: str, *, is_added: bool = False) -> None:
        """Take one."""
        assert path == "set_event_notrace_pid"
        assert is_added == bool(value)
        self.said.append(value)


def own_threads(size: int = LARGE, *, is_in_kernel: bool = False):
    """Return what leaves threads out, and what the kernel is told."""
    instance = Written()
    return OwnThreads(instance, size, is_in_kernel=is_in_kernel), instance.said  # type: ignore[arg-type]


def test_the_kernel_is_asked_where_own_threads_cause_many_events():
    """It is told of all of them then, and goes on."""
    own, said = own_threads()
    own.expect(FEW)
    own.leave_out([7, 8])
    own.leave_out([8, 9])
    assert (said, own.others([])) == ([], {})

    own.expect([*FEW, MANY])
    own.expect(FEW)
    own.leave_out([9, 10])
    assert (said, own.others([])) == (["7 8 9", "10"], None)


@pytest.mark.parametrize(("size", "is_in_kernel"), [(SMALL, False), (LARGE, True)])
def test_the_kernel_leaves_them_out_of_what_is_small_or_is_in_kernel(
    size, is_in_kernel
):
    """Their events would take the place of others, and stacks be without events."""
    own, said = own_threads(size, is_in_kernel=is_in_kernel)
    own.expect(FEW)
    own.leave_out([7])

    assert (said, own.others([])) == (["7"], None)


@needs_tracer
def test_the_kernel_does_not_look_at_each_event_where_few_are_ours(tmp_path):
    """Nothing of those who record is there, but that others wait for them or not."""
    output = tmp_path / "kernel"
    options = RecordingOptions(kernel=("syscalls", "sched_switch"), buffer_size=LARGE)
    clock = RecordingClock(None)
    places = Places(str(tmp_path), str(tmp_path), str(output))
    domain = kernel_domain(places, options, clock, UUID)
    tracefs = Tracefs()
    try:
        domain.start()
        [instance] = instances_of(os.getpid())
        told = tracefs.read(f"instances/{instance}/set_event_notrace_pid")
        collects = int(instance.split("-")[1])
        [reader] = children_of(collects)
        tasks = Path(f"/proc/{reader}/task").iterdir()
        own = {collects, *(int(one.name) for one in tasks)}
        os.getppid()
        domain.leave_this_thread_out()
        os.getpgid(0)
        domain.stop()
    finally:
        tracefs.close()
        domain.close()

    assert told.strip() == ""
    events = [
        one
        for one in vestige.open(output)
        if not one.name.startswith("lttng_statedump_")
    ]
    mine = {one.name for one in events if one.context["tid"] == os.getpid()}
    assert "syscall_entry_getppid" in mine
    assert "syscall_entry_getpgid" not in mine
    switches = [one for one in events if one.name == "sched_switch"]
    nexts = [one.payload["next_tid"] for one in switches if one.context["tid"] in own]
    assert nexts
    assert not own & {*nexts}
    assert own & {one.payload["next_tid"] for one in switches}
    assert not Counter(
        one.name
        for one in events
        if one.context["tid"] in own and one.name != "sched_switch"
    )


@needs_tracer
def test_they_stay_left_out_when_the_kernel_must_do_it_later(tmp_path):
    """Those that collect have begun before it is asked."""
    clock = ClockFacts("monotonic", "", UUID, 10**9, 0)
    rules = [KernelRule("syscall", "*")]
    channels = [ChannelWanted("c", rules, LARGE)]
    wanted = Wanted(str(tmp_path / "kernel"), "s", UUID, clock, 0, 0, channels)
    trace = SessionTrace(wanted._replace(grows=True))
    try:
        trace.apply(channels, {}, is_active=True)
        rules = [*rules, KernelRule("tracepoint", "kmem_*")]
        trace.apply([ChannelWanted("c", rules, LARGE)], {}, is_active=True)
        [reader] = children_of(trace.process)
        own = {int(one.name) for one in Path(f"/proc/{reader}/task").iterdir()}
        code = f"import os\nfor _ in range({LARGE // 64}): os.getppid()"
        program = subprocess.Popen([sys.executable, "-S", "-c", code])
        assert program.wait() == 0
        trace.stop()
    finally:
        trace.end()

    events = Counter(
        one.context["tid"]
        for one in vestige.open(tmp_path / "kernel")
        if not one.name.startswith("lttng_statedump_")
    )
    assert events[program.pid] > LARGE // 64
    assert not own & events.keys()
