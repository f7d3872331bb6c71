"""Triggers whose rules are for the kernel."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.kernel_tracer import instances, why_not
from support.session_daemon import SECONDS, SessionDaemon, say, session_daemon
from support.waiting import wait_until
from vestige.daemon.client import Client
from vestige.record.backends.kernel.tracefs import Tracefs

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
RULE = "--condition=event-rule-matches"
NOTIFY = "--action=notify"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with functions and marked places that nobody else runs."""
    path = tmp_path_factory.mktemp("triggers") / "watched-program"
    run_tool(["gcc", "-O1", "-o", path, PROGRAMS / "marked.c"])
    return path


@pytest.fixture
def daemon() -> Iterator[SessionDaemon]:
    """A daemon."""
    with session_daemon() as one:
        assert one.start().returncode == 0
        yield one


def mine(pid: int | None) -> list[str]:
    """Return what a daemon has in tracefs."""
    probes = Tracefs()
    try:
        lines = probes.read("uprobe_events").splitlines()
    finally:
        probes.close()
    made = [one for one in lines if f":vestige_{pid}_" in one]
    return [*(one for one in instances() if one.startswith(f"vestige-{pid}-")), *made]


def test_a_session_is_started_when_a_program_gets_somewhere(daemon, program):
    """Once, by a probe that the kernel puts into it."""
    daemon.lttng("create", "pitou", f"--output={daemon.home}/trace")
    daemon.lttng("enable-event", "-u", "x")
    place = f"--location={program}:sell"
    rule = (RULE, "--type=kernel:uprobe", place, "--event-name=sold")
    added = daemon.lttng("add-trigger", *rule, "--action=start-session", "pitou")
    assert added == (0, "Added trigger `trigger0`.\n", "")
    assert "pitou [inactive]" in daemon.lttng("list").out
    assert mine(daemon.pid)

    subprocess.run([program], check=True, stdout=subprocess.DEVNULL)

    wait_until(
        lambda: "pitou [active]" in daemon.lttng("list").out, "it starts", SECONDS
    )
    daemon.lttng("remove-trigger", "trigger0")
    assert mine(daemon.pid) == []


def test_what_is_captured_is_told(daemon, program):
    """Fields by LTTng's names, and the thread; what there is not is unavailable."""
    rule = (RULE, "--type=kernel", "--name=sched_process_exec", NOTIFY)
    names = ("filename", "tid", "$ctx.tid", "nosuch")
    captures = [f"--capture={one}" for one in names]
    daemon.lttng("add-trigger", "--name=ran", *rule[:3], *captures, NOTIFY)
    with (
        mock.patch.dict(os.environ, daemon.environment),
        vestige.notifications() as told,
        subprocess.Popen([program], stdout=subprocess.DEVNULL) as running,
    ):
        # All programs of the machine match.
        found = next(one for one in told if one.captures["filename"] == str(program))
    assert found.trigger == "ran"
    assert found.captures == {
        "filename": str(program),
        "tid": running.pid,
        "$ctx.tid": running.pid,
        "nosuch": None,
    }


def test_the_trigger_of_the_document_starts_a_session(daemon, program):
    """When a program is executed whose name ends so; of the kernel's events, too."""
    output = f"--output={daemon.home}/trace"
    daemon.lttng("create", "pitou", output)
    daemon.lttng("enable-event", "--kernel", "--syscall", "--all")
    expression = f'--filter=filename == "*/{program.name}"'
    rule = (RULE, "--type=syscall", "--name=exec*", expression)
    added = daemon.lttng("add-trigger", *rule, "--action=start-session", "pitou")
    assert added.err == ""
    assert "pitou [inactive]" in daemon.lttng("list").out
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL)
    wait_until(
        lambda: "pitou [active]" in daemon.lttng("list").out, "it starts", SECONDS
    )
    daemon.lttng("destroy", "pitou")
    assert any(vestige.open(daemon.home / "trace"))


def test_nothing_is_left_of_a_daemon_that_was_killed(daemon, program):
    """Nor does the kernel go on to look at the rules."""
    for rule in (["--type=syscall"], ["--type=kernel:uprobe", f"-L{program}:sell"]):
        daemon.lttng("add-trigger", RULE, *rule, NOTIFY)
    pid = daemon.pid
    assert len(mine(pid)) == 3
    daemon.end(signal.SIGKILL)
    wait_until(lambda: not mine(pid), "they are removed", SECONDS)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ["--type=kernel", "--name=sched_switch", "--filter=nosuch == 1"],
            "no event has the fields of 'nosuch == 1'",
        ),
        (
            ["--type=kernel", "--name=sched_switch", "--filter=$ctx.pid == 1"],
            "the kernel's filters cannot say '$ctx.pid == 1' of sched_switch",
        ),
        (["--type=kernel", "--name=nosuch"], "no event of this kernel is 'nosuch'"),
        (["--type=syscall", "--name=nosuch"], "no event of this kernel is 'nosuch'"),
        (["--type=kprobe", "-L", "no_such_symbol"], "no probe no_such_symbol"),
        (["--type=kernel:uprobe", "-L", "/etc/passwd:f"], "not an ELF file"),
    ],
)
def test_what_the_kernel_does_not_have_is_refused(daemon, words, text):
    """With the reason, and nothing is left."""
    done = daemon.lttng("add-trigger", RULE, *words, NOTIFY)
    assert (done.status, done.out) == (1, "")
    start = "Error: Failed to register trigger: Enable kernel event failed: "
    assert done.err.startswith(start)
    assert text in done.err
    assert daemon.lttng("list-triggers").out == ""
    assert mine(daemon.pid) == []


def test_a_daemon_that_is_killed_leaves_nothing_for_ever(daemon, program):
    """The next one goes on with its triggers, in instances of its own."""
    place = f"sdt:{program}:shop:sold"
    rule = (RULE, "--type=kernel:uprobe", f"--location={place}")
    daemon.lttng("add-trigger", *rule, "--event-name=sold", NOTIFY)
    killed = daemon.pid
    assert mine(killed)
    daemon.end(signal.SIGKILL)
    assert daemon.start().returncode == 0
    assert "sold (type: kernel:uprobe" in daemon.lttng("list-triggers").out
    assert mine(killed) == []
    assert mine(daemon.pid)
    daemon.end()
    assert mine(daemon.pid) == []


@contextmanager
def registered(
    daemon: SessionDaemon, **conditions: dict[str, object]
) -> Iterator[vestige.Notifications]:
    """Have triggers for which there are no options, and what tells of them."""
    with mock.patch.dict(os.environ, daemon.environment):
        client = Client.connect()
        for name, condition in conditions.items():
            action = {"type": "notify"}
            client.register_trigger(
                {"name": name, "condition": condition, "action": action}
            )
        client.close()
        with vestige.notifications() as told:
            yield told


def test_how_full_buffers_of_the_kernel_are_is_told(daemon):
    """In snapshot mode they fill, and are empty when they were read."""
    of = {"session": "s", "channel": "c"}
    full = {**of, "type": "buffer-usage-high", "threshold_ratio": 0.9}
    low = {**of, "type": "buffer-usage-low", "threshold_ratio": 0.5}
    size = {"type": "session-consumed-size", "session": "s", "threshold_bytes": 8192}
    with registered(
        daemon,
        full={**full, "domain": "KERNEL"},
        low={**low, "domain": "KERNEL"},
        programs={**low, "domain": "UST"},
        size=size,
    ) as told:
        say(
            daemon,
            "create s --snapshot",
            "enable-channel -k c --subbuf-size=64k --num-subbuf=2 --monitor-timer=10000",
            "enable-event -k -c c --syscall getppid",
            "start",
        )
        heard = [told.wait(SECONDS)]
        for _ in range(10_000):
            os.getppid()
        heard.append(told.wait(SECONDS))
        say(daemon, "snapshot record")
        heard += [told.wait(SECONDS), told.wait(SECONDS)]
    names = [one.trigger for one in heard if one is not None]
    assert names[:2] == ["low", "full"]
    assert {*names[2:]} == {"low", "size"}
    filled = heard[1].facts
    assert filled["bytes"] >= 0.9 * (128 << 10)
    assert filled["ratio"] == filled["bytes"] / (128 << 10)
    assert {one.trigger: one.facts for one in heard}["size"]["bytes"] >= 8192
