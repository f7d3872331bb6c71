"""Sessions send what they record of the kernel to a relay daemon; only root can."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest

import vestige
from support.kernel_tracer import why_not
from support.recorded import build_program
from support.relay_daemon import RunningRelay
from support.session_daemon import SECONDS, SessionDaemon

REASON = why_not() or (None if platform.machine() == "x86_64" else "numbers of calls")
pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=f"no kernel tracer: {REASON}"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
]
GETPRIORITY = 140
"""The number of the system call."""
RULE = "enable-event -k --syscall getpriority"
EXIT = "syscall_exit_getpriority"
COUNT = 2000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that makes a system call as often as it is told."""
    return build_program(tmp_path_factory.mktemp("program"), "system_calls")


@pytest.fixture
def relay(tmp_path: Path):
    """A relay daemon."""
    running = RunningRelay(tmp_path)
    yield running
    running.end()


def say(daemon: SessionDaemon, *commands: str) -> None:
    """Type commands, all of which do what they say."""
    for words in commands:
        done = daemon.lttng(*words.split())
        assert done.status == 0, (words, done)


def call(program: str) -> int:
    """Make calls; return the process."""
    with subprocess.Popen([program, str(COUNT), str(GETPRIORITY)]) as process:
        assert process.wait(SECONDS) == 0
    return process.pid


def calls(trace: Path) -> Counter[int]:
    """Count the calls of a trace by thread."""
    return Counter(
        one.context["tid"] for one in vestige.open(trace) if one.name == EXIT
    )


def have_names(directory: Path) -> None:
    """Look at the call stacks of two traces: each frame has a name."""
    traces = sorted(one.parent for one in directory.rglob("metadata"))
    assert len(traces) == 2
    for one in traces:
        trace = vestige.open(one)
        found = [event for event in trace if event.name == EXIT]
        assert len(found) >= COUNT
        for event in found:
            assert not event["callstack_user_names"].startswith("0x")
            assert all(place.function for place in trace.kernel_places(event))


def test_chunks_are_sent(daemon: SessionDaemon, relay: RunningRelay, program: str):
    """As they are to a directory."""
    url = f"net://127.0.0.1:{relay.control}:{relay.data}"
    say(daemon, f"create s -U {url}", RULE, "start")
    processes = [call(program)]
    say(daemon, "rotate")
    processes.append(call(program))
    say(daemon, "stop", "destroy")

    traces = sorted(one.parent for one in relay.output.rglob("metadata"))
    assert {one.name for one in traces} == {"kernel"}
    found = [calls(one) for one in traces]
    assert [[one[process] for process in processes] for one in found] == [
        [COUNT, 0],
        [0, COUNT],
    ]


def test_names_are_sent_with_each_chunk(
    daemon: SessionDaemon, relay: RunningRelay, program: str
):
    """Those of the kernel's addresses and of the program's."""
    url = f"net://127.0.0.1:{relay.control}:{relay.data}"
    contexts = "add-context -k -t callstack-user -t callstack-kernel"
    say(daemon, f"create s -U {url}", RULE, contexts, "start")
    call(program)
    say(daemon, "rotate")
    call(program)
    say(daemon, "stop", "destroy")

    have_names(relay.output)


def test_each_snapshot_has_its_names(
    daemon: SessionDaemon, program: str, tmp_path: Path
):
    """Also those of what an earlier one had."""
    contexts = "add-context -k -t callstack-user -t callstack-kernel"
    say(daemon, f"create s --snapshot -o {tmp_path}/s", RULE, contexts, "start")
    call(program)
    say(daemon, "snapshot record", "snapshot record", "stop", "destroy")

    have_names(tmp_path / "s")


def test_viewers_see_it_while_it_is_recorded(
    daemon: SessionDaemon, relay: RunningRelay, program: str
):
    """Each event is there a moment later, however few there are."""
    url = f"net://127.0.0.1:{relay.control}:{relay.data}"
    say(daemon, f"create s --live=100000 -U {url}", RULE, "start")
    # Viewers see what comes after them: something always does.
    words = ["sh", "-c", f"while {program} 1 {GETPRIORITY}; do sleep 0.1; done"]
    with subprocess.Popen(words) as others, viewer(relay) as lines:
        try:
            assert "_getpriority: " in lines.readline()
            process = call(program)
            seen = 0
            while seen < COUNT:
                line = lines.readline()
                assert line
                seen += f" {EXIT}: " in line and f"tid = {process} " in line
        finally:
            others.kill()
        say(daemon, "stop", "destroy")
        assert all(f"tid = {process} " not in line for line in lines)


def test_viewers_see_names(daemon: SessionDaemon, relay: RunningRelay, program: str):
    """Also those of programs that have begun since."""
    url = f"net://127.0.0.1:{relay.control}:{relay.data}"
    contexts = "add-context -k -t callstack-user -t callstack-kernel"
    say(daemon, f"create s --live=100000 -U {url}", RULE, contexts, "start")
    words = ["sh", "-c", f"while {program} 1 {GETPRIORITY}; do sleep 0.1; done"]
    with subprocess.Popen(words) as others, viewer(relay, "--debug-info") as lines:
        try:
            found = [lines.readline() for _ in range(20)]
        finally:
            others.kill()
        say(daemon, "stop", "destroy")
    for line in found:
        assert 'callstack_user_names = "libc.so' in line
        assert 'debug_info = { bin = "[kernel]' in line


@contextmanager
def viewer(relay: RunningRelay, *options: str) -> Iterator[TextIO]:
    """Yield what somebody sees who looks at the live session."""
    place = f"net://127.0.0.1:{relay.live}/host/{os.uname().nodename}/s"
    words = [
        sys.executable,
        "-m",
        "vestige",
        "convert",
        *options,
        "-i",
        "lttng-live",
        place,
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout
        finally:
            process.kill()
