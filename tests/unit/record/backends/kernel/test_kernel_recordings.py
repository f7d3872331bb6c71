"""Recordings of a program and of the kernel, which only root can make."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import children_of, instances, instances_of, why_not
from support.recorded import build_program, kill_all, record_command, run_recorded
from support.session_daemon import stop_process
from support.shared_memory import remove_memory_of_recordings
from support.waiting import wait_until
from vestige.record.backends.in_process.clock import (
    RecordingClock,
)
from vestige.record.backends.in_process.kernel_beside import kernel_domain
from vestige.record.backends.kernel.tracefs import PLACES
from vestige.record.backends.kernel.urgency import MOST_URGENT
from vestige.record.collected import Collected
from vestige.record.rules.options import RecordingOptions
from vestige.record.trace_directory import Places

REASON = why_not() or (None if platform.machine() == "x86_64" else "numbers of calls")
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
CALLS = {
    "getpriority": 140,
    "ioprio_get": 252,
    "sched_getscheduler": 145,
    "getsid": 124,
    "getpgid": 121,
}
"""Numbers of calls that few programs make."""
COUNT = 2000
LONG_TIME = 600 if os.environ.get("VESTIGE_TORTURE") else 3
"""Seconds over which clocks might drift apart."""
PAUSE = 1000
"""Microseconds from a marker to the next."""
SECONDS = 30.0
WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
"""Starts what root does in a container."""
UUID = "0d5d1ca2-6b4a-4dd8-9dd0-6b7d0a2e6f12"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that makes a system call in a function, again and again."""
    return build_program(tmp_path_factory.mktemp("program"), "system_calls")


@pytest.fixture(scope="module")
def recording(tmp_path_factory, program):
    """A recording of it, and who recorded."""
    output = tmp_path_factory.mktemp("kernel") / "trace"
    words = [program, str(COUNT), str(CALLS["getpriority"])]
    what = "sched_switch,sched_process_*,syscalls:*priority"
    with subprocess.Popen(
        record_command(output, words, "--kernel", what),
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        said = recorder.stderr.read()
    assert recorder.returncode == 0, said
    assert "of the kernel " in said
    return output, recorder.pid


def process_of(trace):
    """Return the process that the trace of programs is of."""
    [process] = {
        one.context["vpid"] for one in trace if one.name.endswith(":func_entry")
    }
    return process


def named(directory, name):
    """Return the events of a name."""
    return [event for event in vestige.open(directory) if event.name == name]


@needs_tracer
def test_calls_of_both_domains_are_in_order(recording):
    """Each system call is in the function that makes it: there is one clock."""
    output, _ = recording
    trace = vestige.open(output)
    process = process_of(trace)
    of_call = {"syscall_entry_getpriority": "entry", "syscall_exit_getpriority": "exit"}
    found = []
    for event in trace:
        if event.name in of_call and event.context["tid"] == process:
            found.append(of_call[event.name])
        elif event.name.startswith("lttng_ust_cyg_profile_fast:"):
            found.append(event.name.rpartition("_")[2][:2])

    # The first function is main.
    assert Counter(found) == {
        "en": COUNT + 1,
        "entry": COUNT,
        "exit": COUNT,
        "ex": COUNT + 1,
    }
    assert found == ["en", *["en", "entry", "exit", "ex"] * COUNT, "ex"]


@needs_tracer
@pytest.mark.timeout(3 * LONG_TIME + 300)
def test_calls_are_in_order_over_a_long_time(tmp_path, program):
    """Whatever the rate of the clock turns out to be in the end."""
    name = "getpgid"
    times = LONG_TIME * 1_000_000 // PAUSE
    output = tmp_path / "trace"
    words = [program, str(times), str(CALLS[name]), str(PAUSE)]
    done = subprocess.run(
        record_command(output, words, "--kernel", f"syscalls:{name}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    trace = vestige.open(output)
    process = process_of(trace)
    kinds = {
        "lttng_ust_cyg_profile_fast:func_entry": "en",
        "lttng_ust_cyg_profile_fast:func_exit": "ex",
        f"syscall_entry_{name}": "entry",
        f"syscall_exit_{name}": "exit",
    }
    wanted = iter(("en", *("en", "entry", "exit", "ex") * times, "ex"))
    wrong = count = 0
    for event in trace:
        kind = kinds.get(event.name)
        if kind is None or process not in {event.process, event.thread}:
            continue
        count += 1
        wrong += kind != next(wanted, None)

    assert count == 4 * times + 2
    assert wrong == 0


@needs_tracer
def test_both_domains_have_the_same_clock(recording):
    """Word by word: readers refuse to compare others."""
    output, _ = recording
    clocks = [
        re.search(
            r"clock \{.*?\};", (output / name / "metadata").read_text(), re.DOTALL
        )[0]
        for name in ("ust", "kernel")
    ]

    assert clocks[0] == clocks[1]
    assert "uuid" in clocks[0]


@needs_tracer
def test_nothing_of_those_who_collect_is_in_the_trace(recording):
    """Neither of the recorder's threads, nor of the process that reads the state."""
    output, recorder = recording
    states = named(output / "kernel", "lttng_statedump_process_state")
    threads = {
        one.payload["tid"] for one in states if one.payload["pid"] == recorder
    } - {recorder}
    [reader] = {one.context["tid"] for one in states}
    found = Counter(
        event.name
        for event in vestige.open(output / "kernel")
        if event.context["tid"] in {reader, *threads}
        and not event.name.startswith("lttng_statedump_")
        # A switch is of two threads.
        and event.name != "sched_switch"
    )

    assert threads
    assert not found


@needs_tracer
def test_processes_are_in_the_state_dump(recording):
    """With their threads and files; this one is there."""
    output, recorder = recording
    states = named(output / "kernel", "lttng_statedump_process_state")
    own = [one.payload for one in states if one.payload["tid"] == recorder]
    files = [
        one.payload["filename"]
        for one in named(output / "kernel", "lttng_statedump_file_descriptor")
        if one.payload["pid"] == recorder
    ]

    assert [(one["pid"], one["ppid"], one["type"]) for one in own] == [
        (recorder, os.getpid(), 0)
    ]
    assert files
    assert any(one.payload["type"] == 1 and one.payload["tid"] == 2 for one in states)


@needs_tracer
def test_new_processes_have_their_thread_groups(recording):
    """The program's parent is the recorder, which is a process."""
    output, recorder = recording
    process = process_of(vestige.open(output))
    fields = ("parent_tid", "parent_pid", "child_pid")
    forks = [
        [one.payload[name] for name in fields]
        for one in named(output / "kernel", "sched_process_fork")
        if one.payload["child_tid"] == process
    ]
    executed = [
        one.payload["filename"]
        for one in named(output / "kernel", "sched_process_exec")
        if one.payload["tid"] == process
    ]

    assert forks == [[recorder, recorder, process]]
    assert [Path(name).name for name in executed] == ["system_calls"]


@needs_tracer
def test_nothing_is_left(recording):
    """No instance of the process that read the state."""
    output, _ = recording
    states = named(output / "kernel", "lttng_statedump_start")
    [reader] = [one.context["tid"] for one in states]

    assert not [name for name in instances() if name.startswith(f"vestige-{reader}-")]


@needs_tracer
@pytest.mark.oracle
def test_babeltrace_reads_the_same(recording):
    """Both domains in one, and every line."""
    output, _ = recording
    peer = shutil.which("babeltrace2")
    if peer is None:
        pytest.skip("babeltrace2 is not installed")
    theirs = subprocess.run([peer, output], capture_output=True, text=True, check=True)
    ours = subprocess.run(
        [*record_command(output, ["x"])[:3], "convert", str(output)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert theirs.stderr == ""
    assert ours.stdout.splitlines() == theirs.stdout.splitlines()


@needs_tracer
@pytest.mark.parametrize(
    ("is_overwriting", "size"), [(False, 64 << 10), (True, 64 << 10), (False, 1 << 20)]
)
def test_what_is_read_and_what_is_lost_is_all(tmp_path, program, is_overwriting, size):
    """In small buffers and large pages, whichever event goes when one is full."""
    names = sorted(CALLS)
    # Other tests may run at the same time.
    name = names[os.getpid() % len(names)]
    count = 200_000
    options = RecordingOptions(kernel=(f"syscalls:{name}",), buffer_size=size)
    domain = kernel_domain(
        Places(str(tmp_path), str(tmp_path), str(tmp_path / "kernel")),
        options,
        RecordingClock(None),
        UUID,
        is_overwriting=is_overwriting,
    )
    try:
        domain.start()
        [instance] = instances_of(os.getpid())
        [reader] = children_of(int(instance.split("-")[1]))
        # Else it may be fast enough for all of them.
        stop_process(reader)
        try:
            subprocess.run([program, str(count), str(CALLS[name])], check=True)
        finally:
            os.kill(reader, signal.SIGCONT)
        domain.stop()
    finally:
        domain.close()
    collected = Collected()
    domain.tell(collected)

    assert collected.problems == []
    kernel = collected.kernel
    trace = vestige.open(tmp_path / "kernel")
    found = Counter(event.name for event in trace)
    calls = found[f"syscall_entry_{name}"] + found[f"syscall_exit_{name}"]
    assert kernel.records == sum(found.values())
    assert kernel.lost == sum(one.count for one in trace.losses)
    assert kernel.lost > 0
    assert calls + kernel.lost == 2 * count


@needs_tracer
def test_a_recorder_that_is_killed_leaves_a_whole_trace(tmp_path):
    """And no instance: its other process notices."""
    output = tmp_path / "trace"
    program = ["sh", "-c", "echo ready; exec sleep 60"]
    with subprocess.Popen(
        record_command(output, program, "--kernel", "sched_switch"),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as recorder:
        assert recorder.stdout.readline() == "ready\n"
        [instance] = instances_of(recorder.pid)
        kill_all(recorder)
    wait_until(lambda: instance not in instances(), "the end of the instance", SECONDS)
    remove_memory_of_recordings(tmp_path)

    assert "sched_switch" in {event.name for event in vestige.open(output / "kernel")}


@needs_tracer
def test_who_empties_buffers_goes_first(tmp_path):
    """Else they fill up while other programs run."""
    words = f"import os; os.setpriority(os.PRIO_PROCESS, 0, {MOST_URGENT})"
    tried = subprocess.run(
        [sys.executable, "-c", words], stderr=subprocess.DEVNULL, check=False
    )
    if tried.returncode:
        pytest.skip("no right to go first, as in some containers")
    program = ["sh", "-c", "echo ready; read line"]
    with subprocess.Popen(
        record_command(tmp_path / "trace", program, "--kernel", "sched_switch"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as recorder:
        assert recorder.stdout.readline() == "ready\n"
        [instance] = instances_of(recorder.pid)
        [reader] = children_of(int(instance.split("-")[1]))
        priority = os.getpriority(os.PRIO_PROCESS, reader)
        of_program = os.getpriority(os.PRIO_PROCESS, recorder.pid)
        recorder.communicate("end\n")

    assert priority == MOST_URGENT
    assert of_program == os.getpriority(os.PRIO_PROCESS, 0)


@needs_tracer
def test_an_instance_of_a_dead_process_is_removed(tmp_path):
    """By the next one that records; those of others stay."""
    output = tmp_path / "first"
    program = ["sh", "-c", "echo ready; read line"]
    with subprocess.Popen(
        record_command(output, program, "--kernel", "sched_switch"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as recorder:
        assert recorder.stdout.readline() == "ready\n"
        [instance] = instances_of(recorder.pid)
        os.kill(int(instance.split("-")[1]), signal.SIGKILL)
        _, said = recorder.communicate("end\n")
    assert recorder.returncode == 0
    assert "of the kernel, events are missing: its process has ended" in said
    wait_until(lambda: not is_used(instance), "the end of its child", SECONDS)
    done = run_recorded(tmp_path / "second", ["true"], "--kernel", "sched_switch")

    assert done.returncode == 0, done.stderr
    assert instance not in instances()


@needs_tracer
def test_words_without_events_are_told(tmp_path):
    """At once, and not again; the others are recorded."""
    output = tmp_path / "trace"
    words = record_command(output, ["cat"], "--kernel=sched_switch,scheduler")
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        first = process.stderr.readline()
        process.stdin.close()
        rest = process.stderr.read()

    said = "vestige: warning: this kernel has no event scheduler; there"
    assert first.startswith(said)
    assert "vestige: recorded " in rest
    assert said not in rest
    assert f"vestige: vestige report --kernel {output}\n" in rest
    assert (output / "kernel" / "metadata").exists()


@needs_tracer
@pytest.mark.parametrize(
    ("word", "name"),
    [("sched_swich", "sched_switch"), ("syscalls:opennat", "syscalls:openat")],
)
def test_a_single_wrong_word_is_told_with_names_like_it(tmp_path, word, name):
    """The program is recorded, and nothing of the kernel is."""
    output = tmp_path / "trace"
    done = run_recorded(output, ["true"], f"--kernel={word}")

    assert done.returncode == 0
    why = re.search(r"nothing of the kernel is recorded: (.*)", done.stderr)[1]
    assert why.startswith(f"this kernel has no event {word}; there ")
    assert f"'{name}'" in why
    assert not (output / "kernel").exists()


@needs_tracer
def test_who_cannot_give_up_rights_reads_nothing(tmp_path):
    """And says why."""
    words = record_command(tmp_path / "trace", ["true"], "--kernel=sched_switch")
    bound = ("setpriv", "--bounding-set=-setgid")
    done = subprocess.run([*bound, *words], capture_output=True, text=True, check=False)

    said = "nothing of the kernel is recorded: its reader cannot give up its rights: "
    assert done.returncode == 0
    assert f"{said}Operation not permitted" in done.stderr


@needs_tracer
def test_a_recorder_in_a_pid_namespace_says_so(tmp_path):
    """Its IDs are not those of the kernel's events."""
    into = ("unshare", "--pid", "--fork", "--mount-proc")
    outside, inside = (
        subprocess.run(
            [*before, *record_command(output, ["true"], "--kernel=sched_switch")],
            capture_output=True,
            text=True,
            check=False,
        )
        for before, output in (((), tmp_path / "out"), (into, tmp_path / "in"))
    )
    if "Operation not permitted" in inside.stderr:
        pytest.skip("no right to make a PID namespace")

    said = "the recorder is in a PID namespace"
    assert outside.returncode == 0
    assert said in inside.stderr
    in_first = Path("/proc/self/ns/pid").stat().st_ino == 0xEFFFFFFC
    assert (said in outside.stderr) is not in_first


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up rights")
@pytest.mark.skipif(
    any(Path(place, "instances").is_dir() for place in PLACES),
    reason="tracefs is mounted: root needs no right to mount it",
)
def test_without_rights_the_program_is_recorded(tmp_path):
    """And why the kernel is not is said."""
    output = tmp_path / "trace"
    words = [*WITHOUT_RIGHTS, *record_command(output, ["true"], "--kernel", "sched")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert done.returncode == 0
    assert "No kernel tracer available: " in done.stderr
    assert (output / "ust" / "metadata").exists()
    assert not (output / "kernel").exists()


def is_used(instance):
    """Tell whether somebody has a file of an instance open."""
    for place in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if f"/{instance}/" in str(place.readlink()):
                return True
    return False
