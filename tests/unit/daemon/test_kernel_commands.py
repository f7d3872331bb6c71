"""The commands for the kernel in LTTng's documents, typed one after another."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest

from support.kernel_tracer import why_not
from support.session_daemon import SessionDaemon
from vestige.daemon.client import Client
from vestige.errors import SessionError

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


@pytest.fixture
def daemon(daemon: SessionDaemon) -> SessionDaemon:
    """A daemon with a session."""
    daemon.lttng("create", "my-kernel-session", "--output=/tmp/my-kernel-trace")
    return daemon


CREATED = "kernel event {} created in channel channel0\n"
ADDED = "Added {} to the user ID tracker inclusion set\n"


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (
            ["enable-event", "--kernel", "sched_switch,sched_process_fork"],
            CREATED.format("sched_switch") + CREATED.format("sched_process_fork"),
        ),
        (
            ["enable-event", "--kernel", "--syscall", "open,write,read,close"],
            "".join(map(CREATED.format, ("open", "write", "read", "close"))),
        ),
        (
            ["enable-event", "--kernel", "--all"],
            "All kernel events are enabled in channel channel0\n",
        ),
        (
            ["enable-event", "--kernel", "--syscall", "--all"],
            "All kernel system calls are enabled in channel channel0\n",
        ),
        (["enable-event", "--kernel", "lttng_logger"], CREATED.format("lttng_logger")),
        (["enable-event", "--kernel", "sched_*"], CREATED.format("sched_*")),
        (
            [
                *("enable-event", "--kernel", "sched_switch"),
                '--filter=prev_comm == "bash"',
            ],
            "Event sched_switch: Filter 'prev_comm == \"bash\"' successfully set\n",
        ),
        (
            [
                *("enable-event", "--kernel", "--all"),
                "--filter=$ctx.tid == 1988 || $ctx.tid == 1534",
            ],
            "Filter '$ctx.tid == 1988 || $ctx.tid == 1534' successfully set\n",
        ),
        (
            ["enable-channel", "--kernel", "my-channel"],
            "kernel channel my-channel enabled for session my-kernel-session\n",
        ),
        (
            [
                *("enable-channel", "--kernel", "--tracefile-count=8"),
                *("--tracefile-size=4194304", "my-channel"),
            ],
            "kernel channel my-channel enabled for session my-kernel-session\n",
        ),
        (
            ["untrack", "--kernel", "--uid", "--all"],
            "User ID tracking policy set to `exclude all`\n",
        ),
        (
            ["track", "--kernel", "--uid=root,11"],
            ADDED.format("root") + ADDED.format("11"),
        ),
    ],
)
def test_a_command_of_the_document_is_done(daemon, words, out):
    """Without a word on standard error."""
    assert daemon.lttng(*words) == (0, out, "")


def test_a_probe_of_a_program_has_its_place(daemon):
    """The document's, for the C library that is here."""
    mapped = Path("/proc/self/maps").read_text().split()
    library = next(one for one in mapped if "/libc.so" in one)
    probe = f"--userspace-probe={library}:malloc"
    done = daemon.lttng("enable-event", "--kernel", probe, "libc_malloc")
    assert done == (0, CREATED.format("libc_malloc"), "")
    shown = daemon.lttng("list", "my-kernel-session").out
    assert "      libc_malloc (type: userspace-probe) [enabled]\n" in shown
    assert "        Function:      malloc()\n        Lookup method: ELF\n" in shown


def test_a_program_that_is_nowhere_is_named(daemon):
    """The document's server is in no directory of $PATH here."""
    probe = "--userspace-probe=sdt:no-serv:server:accept_request"
    done = daemon.lttng("enable-event", "--kernel", probe, "server_accept_request")
    assert (done.status, done.out) == (1, "")
    assert done.err == (
        "Error: Binary not found.\nError: Unable to parse userspace probe options\n"
    )


def test_rules_and_channels_are_disabled(daemon):
    """As the document does it, with a channel that has a name."""
    daemon.lttng("enable-channel", "--kernel", "my-chan")
    daemon.lttng("enable-event", "--kernel", "--channel=my-chan", "sched_switch")
    done = daemon.lttng("disable-event", "--kernel", "--channel=my-chan", "-a")
    said = "All kernel events of type any are disabled in channel my-chan\n"
    assert done == (0, said, "")
    done = daemon.lttng("disable-channel", "--kernel", "my-chan")
    said = "kernel channel my-chan disabled for session my-kernel-session\n"
    assert done == (0, said, "")


def test_contexts_are_added(daemon):
    """Two at once; what the kernel does not have is refused with a reason."""
    daemon.lttng("enable-channel", "--kernel", "my-channel")
    add = ("add-context", "--kernel", "--channel=my-channel")
    done = daemon.lttng(*add, "--type=tid", "--type=callstack-user")
    assert done == (
        0,
        "".join(
            f"kernel context {one} added to channel my-channel\n"
            for one in ("tid", "callstack-user")
        ),
        "",
    )
    done = daemon.lttng(*add, "--type=$app.retriever:cur_msg_id")
    error = "Error: $app.retriever:cur_msg_id: Add kernel context failed\n"
    assert done == (4, "", error)


def test_what_there_is_is_listed(daemon):
    """Tracepoints by LTTng's names, and system calls without a prefix."""
    events = daemon.lttng("list", "--kernel").out.splitlines()
    assert events[:2] == ["Kernel events:", "-------------"]
    point = "      {} (loglevel: TRACE_EMERG (0)) (type: tracepoint)"
    assert {point.format("sched_switch"), point.format("irq_softirq_entry")} <= {
        *events
    }
    assert not any("syscall_entry" in one for one in events)
    calls = daemon.lttng("list", "--kernel", "--syscall").out.splitlines()
    assert calls[:2] == ["System calls:", "-------------"]
    assert "      openat [64-bit]" in calls


def test_of_many_names_each_is_told_what_became_of_it(daemon: SessionDaemon):
    """One that is refused hinders none of the others; rules are as if one by one."""
    daemon.lttng("enable-event", "-k", "sched_switch")
    long = "x" * 256
    names = f"sched_waking,sched_switch,{long},no_such_thing,sched_wakeup,sched_waking"
    done = daemon.lttng("enable-event", "-k", names)

    assert done.out == "".join(
        map(CREATED.format, ("sched_waking", "no_such_thing", "sched_wakeup"))
    )
    *errors, warned = sorted(done.err.splitlines())
    assert [one.partition(" (")[0] for one in errors] == [
        f"Error: Event {long}: Invalid parameter",
        "Warning: Kernel event sched_switch already enabled",
        "Warning: Kernel event sched_waking already enabled",
    ]
    assert "no tracepoint of this kernel is called 'no_such_thing'" in warned
    assert done.status != 0
    listed = daemon.lttng("list", "my-kernel-session", "--kernel").out
    for name in ("sched_switch", "sched_waking", "no_such_thing", "sched_wakeup"):
        assert listed.count(f" {name} (") == 1
    assert long not in listed


def test_a_request_has_no_more_names_than_others_wait_for(daemon: SessionDaemon):
    """Who has more makes several."""
    with mock.patch.dict(os.environ, daemon.environment):
        client = Client.connect()
    with pytest.raises(SessionError) as refusal:
        client.ask(
            "enable-event",
            session="my-kernel-session",
            domain="KERNEL",
            names=["x"] * 2001,
            type="TRACEPOINT",
        )
    assert refusal.value.detail == "expected up to 2,000 names"
    names = [f"none_{number}*" for number in range(2001)]
    made = client.enable_kernel_events("my-kernel-session", names, None)
    assert [one["is_matching"] for one in made] == [False] * 2001


def test_a_thousand_names_are_one_request(daemon: SessionDaemon):
    """What all of them need is read once, also while events are recorded."""
    names = [f"none_{number}*" for number in range(1000)]
    daemon.lttng("enable-event", "-k", "sched_switch")
    daemon.lttng("start")
    done = daemon.lttng("enable-event", "-k", ",".join(names))

    assert done.status == 0
    assert done.out == "".join(map(CREATED.format, names))
    assert daemon.lttng("stop").status == 0
