"""Of the recorder's own threads nothing is recorded, whoever leaves it out."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

import vestige
from support.kernel_tracer import children_of, instances_of, why_not
from support.waiting import wait_until
from vestige.record.backends.in_process.clock import RecordingClock
from vestige.record.backends.in_process.kernel_beside import kernel_domain
from vestige.record.backends.kernel.metadata import ClockFacts
from vestige.record.backends.kernel.own_threads import OwnThreads
from vestige.record.backends.kernel.rules import KernelRule
from vestige.record.backends.kernel.session_trace import SessionTrace
from vestige.record.backends.kernel.tracefs import Tracefs
from vestige.record.backends.kernel.wanted import ChannelWanted, Wanted
from vestige.record.backends.kernel.watched_threads import WatchedThreads
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
CALLS = 100


class Written:
    """Takes the settings of an instance."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def write(self, path: str, value: str, *, is_added: bool = False) -> None:
        """Take one."""
        assert path == "set_event_notrace_pid"
        self.said.append(value if is_added else f"={value}")


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


def test_the_kernel_forgets_who_has_ended_once_the_id_is_used_again():
    """Not before: to take it back costs others events."""
    own, said = own_threads(is_in_kernel=True)
    own.leave_out([7, 8, 9])
    assert own.forget({8}, ()) == {8}
    assert said == ["7 8 9"]

    assert own.forget({8, 9}, {8}) == {9}
    assert own.forget({9}, {9}) == set()
    own.leave_out([8])
    assert said == ["7 8 9", "=7 9", "=7", "8"]


def test_who_has_ended_is_not_told_the_kernel_later():
    """When it has to leave threads out after all."""
    own, said = own_threads()
    own.leave_out([7, 8])
    assert own.forget({8}, ()) == set()
    own.expect([MANY])

    assert said == ["7"]


@contextmanager
def waiting_thread():
    """A thread that waits; it has ended at the end, for the kernel, too."""
    over = Event()
    thread = Thread(target=over.wait, daemon=True)
    thread.start()
    try:
        yield thread.native_id
    finally:
        over.set()
        thread.join()
        place = Path(f"/proc/self/task/{thread.native_id}")
        wait_until(lambda: not place.exists(), "the end of a thread", 60)


@pytest.mark.parametrize("has_descriptors", [True, False])
def test_who_has_ended_is_known_at_once_or_when_one_looks(monkeypatch, has_descriptors):
    """The kernel tells of threads since Linux 6.9."""
    if not has_descriptors:

        def refuse(*_):
            raise OSError(errno.EINVAL, "")

        monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    watched = WatchedThreads()
    with waiting_thread() as first, waiting_thread() as second:
        watched.add({100: first, 101: second})
        watched.add({100: first})
        assert watched.ended() == []
        assert (watched.pause is None) == bool(watched.descriptors)

    assert sorted(watched.ended()) == [100, 101]
    assert (watched.ended(), watched.descriptors, watched.pause) == ([], [], None)


@contextmanager
def stranger(thread):
    """A process that gets an ID that was another's; in the end it makes calls."""
    for _ in range(1000):
        reads, writes = os.pipe()
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(thread - 1))
        process = os.fork()
        if process == 0:
            os.close(writes)
            os.read(reads, 1)
            for _ in range(CALLS):
                os.getpgid(0)
            os._exit(0)
        os.close(reads)
        try:
            if process == thread:
                yield
                return
        finally:
            os.close(writes)
            os.waitpid(process, 0)
    pytest.skip(f"others have taken the ID {thread} each time")


@needs_tracer
@pytest.mark.parametrize("size", [LARGE, SMALL])
def test_who_gets_the_id_of_an_own_thread_is_recorded(tmp_path, size):
    """Where those who collect leave it out, and where the kernel does."""
    clock = ClockFacts("monotonic", "", UUID, 10**9, 0)
    channels = [ChannelWanted("c", [KernelRule("syscall", "getpgid")], size)]
    trace = SessionTrace(Wanted(str(tmp_path / "k"), "s", UUID, clock, 0, 0, channels))
    try:
        with waiting_thread() as thread:
            trace.apply(channels, {}, is_active=True)
        # Before it is asked for anything, it looks who has ended, or has the ID.
        trace.refresh()
        with stranger(thread):
            trace.refresh()
        trace.stop()
    finally:
        trace.end()

    names = Counter(
        one.name
        for one in vestige.open(tmp_path / "k")
        if one.context["tid"] == thread and one.name.startswith("syscall_")
    )
    assert names == dict.fromkeys(
        ("syscall_entry_getpgid", "syscall_exit_getpgid"), CALLS
    )


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
