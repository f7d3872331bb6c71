"""Contexts, filters and inclusion sets of the kernel, as they are recorded."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import vestige
from support.kernel_channels import channel_wanted, record_kernel
from support.kernel_tracer import instances, why_not
from vestige.record.backends.kernel.channel_filters import check_filter
from vestige.record.backends.kernel.contexts import CONTEXTS
from vestige.record.backends.kernel.expressions import FilterError
from vestige.record.backends.kernel.formats import read_format
from vestige.record.backends.kernel.rules import KernelRule

REASON = why_not()
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
WAKING = read_format(
    "sched",
    "sched_waking",
    """\
ID: 3
	field:char comm[4];	offset:8;	size:4;	signed:0;
	field:pid_t pid;	offset:12;	size:4;	signed:1;
""",
)
COUNT = 20
NAMES = [one for one in CONTEXTS if one != "tid" and "callstack" not in one]


def call(_=None):
    """Make a system call that few programs make, again and again."""
    for _ in range(COUNT):
        os.getpriority(os.PRIO_PROCESS, 0)


def calls(directory, name="syscall_entry_getpriority"):
    """Return the events of a name."""
    return [one for one in vestige.open(directory) if one.name == name]


CALL = KernelRule("syscall", "getpriority", "entry")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 +", "column 3"),
        ("nothing == 1", "sched_waking has no field 'nothing'"),
        ("$ctx.vip == 1", "the kernel has no context 'vip'"),
        ('tid == "one"', "a field of sched_waking is of another type"),
        ("pid.first == 1", "has no field 'pid'; there are 'tid', 'comm'"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(text, reason):
    """With the reason."""
    with pytest.raises(FilterError, match=reason):
        check_filter(text, [WAKING])


def test_a_filter_must_make_sense_for_one_event_only():
    """As patterns take events of many kinds."""
    other = WAKING._replace(id=4, name="sched_other", fields=())

    check_filter('comm == "a*" && $ctx.vtid == 7 && $ctx.cpu_id < 3', [other, WAKING])
    with pytest.raises(FilterError):
        check_filter("comm == 5", [other, WAKING])


@needs_tracer
def test_all_contexts_are_in_records(tmp_path):
    """They tell of this process what it knows itself."""
    problems, counts = record_kernel(tmp_path / "t", [CALL], call, contexts=NAMES)

    assert problems == []
    assert (counts["lost"], counts["damaged"]) == (0, 0)
    thread = threading.get_native_id()
    found = [one for one in calls(tmp_path / "t") if one.context["tid"] == thread]
    assert len(found) == COUNT
    context = found[0].context
    process, parent = os.getpid(), os.getppid()
    expected = {
        "pid": process,
        "vpid": process,
        "ppid": parent,
        "vppid": parent,
        "tid": thread,
        "vtid": thread,
        **dict(zip(("uid", "euid", "suid"), os.getresuid(), strict=True)),
        **dict(zip(("gid", "egid", "sgid"), os.getresgid(), strict=True)),
        "hostname": socket.gethostname(),
        "procname": Path("/proc/thread-self/comm").read_text().strip(),
        "pid_ns": Path("/proc/self/ns/pid").stat().st_ino,
        "mnt_ns": Path("/proc/self/ns/mnt").stat().st_ino,
        "user_ns": Path("/proc/self/ns/user").stat().st_ino,
        "interruptible": 1,
        "preemptible": 1,
        "migratable": 1,
        "prio": 20 + os.getpriority(os.PRIO_PROCESS, 0),
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
    }
    if context["prio"] == -(1 << 31):
        # It has run without a break since the recording began.
        expected["prio"] = expected["nice"] = context["prio"]
    assert {name: context[name] for name in expected} == expected
    assert {*context} >= {name.replace("-", "_") for name in NAMES}


@needs_tracer
def test_new_processes_are_known_from_their_first_record_on(tmp_path):
    """On whichever CPU they run, and however short."""

    def work(_):
        for _ in range(COUNT):
            subprocess.run(["/bin/sh", "-c", "/bin/true & wait"], check=True)

    rule = KernelRule("tracepoint", "sched_process_exit")
    names = ["pid", "ppid", "procname", "vppid", "uid"]
    record_kernel(tmp_path / "t", [rule], work, contexts=names)

    events = [
        one
        for one in calls(tmp_path / "t", "sched_process_exit")
        if one.payload["comm"] == "true"
    ]
    shells = {
        one.context["pid"]
        for one in calls(tmp_path / "t", "sched_process_exit")
        if one.context["ppid"] == os.getpid()
    }
    own = [one for one in events if one.context["ppid"] in shells]
    assert len(own) == COUNT
    for one in own:
        context = one.context
        assert context["pid"] == context["tid"]
        assert (context["procname"], context["uid"]) == ("true", os.getuid())
        assert context["vppid"] == context["ppid"]


@needs_tracer
@pytest.mark.parametrize(
    "filters",
    [
        ["$ctx.pid == {process} && who == 0"],
        ["$ctx.tid == {process} && $ctx.procname == '*'"],
        ["$ctx.pid == {process}", "$ctx.tid == {process}", "$ctx.pid == -5"],
        ["$ctx.vpid == {process} && !($ctx.cpu_id > 4096)", "nothing == 1"],
    ],
)
def test_filters_leave_out_the_rest(tmp_path, filters):
    """Each record is there once, and none that was left out is lost."""
    rules = [CALL._replace(filter=one.format(process=os.getpid())) for one in filters]

    def work(_):
        call()
        subprocess.run(["/usr/bin/nice", "/bin/true"], check=True)

    problems, counts = record_kernel(tmp_path / "t", rules, work)

    assert all("nothing" in one for one in problems)
    threads = [one.context["tid"] for one in calls(tmp_path / "t")]
    assert threads == [os.getpid()] * COUNT
    assert (counts["lost"], counts["damaged"]) == (0, 0)


@needs_tracer
@pytest.mark.parametrize("kind", ["pid", "vpid"])
def test_only_processes_in_the_set_are_recorded(tmp_path, kind):
    """All of their threads, and of a switch those where the one that goes is theirs."""
    rules = [CALL, KernelRule("tracepoint", "sched_switch")]

    def work(_):
        call()
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        subprocess.run(["/usr/bin/nice", "/bin/true"], check=True)

    tracked = {kind: [os.getpid()], "uid": [os.getuid()], "vgid": [os.getgid()]}
    record_kernel(tmp_path / "t", rules, work, contexts=["pid"], tracked=tracked)

    found = calls(tmp_path / "t")
    assert {one.context["pid"] for one in found} == {os.getpid()}
    assert len(found) == 2 * COUNT
    switches = calls(tmp_path / "t", "sched_switch")
    assert {one.context["pid"] for one in switches} == {os.getpid()}


@needs_tracer
@pytest.mark.parametrize("tracked", [{"uid": [77]}, {"pid": []}, {"vuid": []}])
def test_of_nobody_nothing_is_recorded(tmp_path, tracked):
    """An empty set has nobody in it."""
    record_kernel(tmp_path / "t", [CALL], call, tracked=tracked)

    assert calls(tmp_path / "t") == []


CHANGES_USER = """
import os, sys
print("ready", flush=True)
sys.stdin.readline()
os.setuid(65534)
os.getpriority(os.PRIO_PROCESS, 0)
"""


@needs_tracer
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_programs_that_become_another_user_are_recorded(tmp_path):
    """Where the kernel alone tells it, and where the program was there to be asked."""
    seen = []

    def work(process):
        call()
        for words in ("--reuid=65534", "--ruid=65534 --euid=0"):
            program = ["setpriv", *words.split(), "--clear-groups", "nice", "true"]
            with subprocess.Popen(program) as short:
                seen.append(short.pid)
        python = [sys.executable, "-I", "-c", CHANGES_USER]
        pipe = subprocess.PIPE
        with subprocess.Popen(python, stdin=pipe, stdout=pipe, text=True) as longer:
            seen.append(longer.pid)
            longer.stdout.readline()
            process.ask("counts", is_read=True)
            longer.stdin.close()

    contexts, tracked = ["uid", "euid"], {"uid": [65534]}
    record_kernel(tmp_path / "t", [CALL], work, contexts=contexts, tracked=tracked)

    found = {
        one.context["tid"]: (one.context["uid"], one.context["euid"])
        for one in calls(tmp_path / "t")
    }
    assert {*seen} <= {*found}
    assert os.getpid() not in found
    assert {uid for uid, _ in found.values()} == {65534}
    assert found[seen[-1]] == (65534, 65534)


@needs_tracer
def test_filters_and_sets_change_while_it_is_recorded(tmp_path):
    """What is asked for later is known later, also of threads that were there before."""
    rules = [CALL._replace(filter="who == 1")]

    def work(process):
        call()
        other = CALL._replace(filter=f"$ctx.vpid == {os.getpid()} && which == 0")
        process.ask("change", channels=[channel_wanted([other]).to_json()])
        call()
        process.ask("track", tracked={"vuid": []})
        call()
        process.ask("track", tracked={})
        call()

    # As a session does, which may ask for anything later.
    problems, _ = record_kernel(tmp_path / "t", rules, work, grows=True)

    assert problems == []
    assert len(calls(tmp_path / "t")) == 2 * COUNT


@needs_tracer
def test_nothing_is_left(tmp_path):
    """Also of what tells whose threads there are."""
    made = []

    def work(process):
        made.extend(one for one in instances() if f"-{process.id}-" in one)
        call(process)

    record_kernel(tmp_path / "t", [CALL], work, contexts=["pid"])

    assert any("processes" in one for one in made)
    assert not {*made} & {*instances()}
