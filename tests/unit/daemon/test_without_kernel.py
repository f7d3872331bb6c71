"""A daemon that cannot record the kernel refuses what is for it, and says why."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from support.session_daemon import SessionDaemon, session_daemon

NOTIFY = "--action=notify"
RULE = "--condition=event-rule-matches"
WHY = (
    "Tracing the kernel requires a root lttng-sessiond daemon"
    if os.geteuid()
    else "Kernel tracer not available: the session daemon was started with --no-kernel"
)
STATUS = 79 if os.geteuid() else 33


@pytest.fixture(scope="module")
def daemon() -> Iterator[SessionDaemon]:
    """A daemon without the kernel, and a session."""
    with session_daemon() as one:
        started = one.start("--no-kernel")
        assert started.returncode == 0, started.stderr
        one.lttng("create", "s1", "--output=/tmp/s1")
        yield one


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("enable-channel -k c", 1),
        ("disable-channel -k c", 1),
        ("enable-event -k sched_switch", STATUS),
        ("enable-event -k --syscall open", STATUS),
        ("disable-event -k sched_switch", STATUS),
        ("add-context -k -t pid", 4),
        ("track -k --pid=1", 1),
        ("list -k", 1),
        ("list -k --syscall", 1),
        (f"add-trigger {RULE} --type=kernel {NOTIFY}", 1),
        (f"add-trigger {RULE} --type=syscall {NOTIFY}", 1),
        (f"add-trigger {RULE} --type=kprobe -L do_exit+0x4 {NOTIFY}", 1),
        # Those of LTTng's documents.
        (f"add-trigger {RULE} --type=syscall --name=exec* {NOTIFY}", 1),
        (
            f"add-trigger {RULE} --type=kernel --name=x --capture=y {NOTIFY}",
            1,
        ),
    ],
)
def test_it_says_why(daemon, words, status):
    """In LTTng's words, and nothing of the session changes."""
    done = daemon.lttng(*words.split())
    assert (done.status, done.out) == (status, "")
    assert WHY in done.err
    assert "Linux kernel" not in daemon.lttng("list", "s1").out


def test_user_space_goes_on(daemon):
    """In the same session."""
    assert daemon.lttng("enable-event", "-u", "x").status == 0


def test_a_configuration_with_the_kernel_is_refused(daemon, tmp_path):
    """The session is not made by halves."""
    path = tmp_path / "k.lttng"
    path.write_text(
        "<sessions><session><name>k</name><domains><domain><type>KERNEL</type>"
        "<buffer_type>GLOBAL</buffer_type><channels><channel><name>c</name>"
        "</channel></channels></domain></domains></session></sessions>"
    )
    done = daemon.lttng("load", "-i", str(path))
    assert (done.status, done.out) == (1, "")
    assert WHY in done.err
    assert "k " not in daemon.lttng("list").out


@pytest.mark.parametrize("option", ["--kmod-probes=x", "--extra-kmod-probes=x,y"])
def test_there_are_no_modules_to_load(option):
    """The options are taken, and it is said that they do nothing."""
    with session_daemon() as one:
        started = one.start("--no-kernel", option)
        assert started.returncode == 0
        name = option.partition("=")[0]
        said = f"Warning: {name}: there is nothing to load: the kernel is recorded by"
        assert said in started.stderr
