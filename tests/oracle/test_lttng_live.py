"""A live session is read while it is recorded, from a relay daemon of LTTng."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack

import pytest

from support.lttng import can_use_name_spaces
from support.peers import babeltrace
from support.recipes import Workshop
from support.vestige_command import vestige
from support.waiting import wait_until

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer"),
    pytest.mark.skipif(
        shutil.which("lttng-relayd") is None, reason="not installed: lttng-relayd"
    ),
    pytest.mark.skipif(
        not can_use_name_spaces(), reason="nothing would end the relay daemon"
    ),
]

SECONDS = 60


def free_ports(count):
    """Return ports where nobody listens."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            for _ in range(count)
        ]
        return [server.getsockname()[1] for server in servers]


@pytest.fixture
def session(lttng, tmp_path):
    """A live session of a relay daemon: its URL, and where that keeps it."""
    control, data, live = free_ports(3)
    kept, host = tmp_path / "relay", "tcp://127.0.0.1"
    ports = [f"--control-port={host}:{control}", f"--data-port={host}:{data}"]
    ports.append(f"--live-port={host}:{live}")
    lttng.run(["lttng-relayd", "--daemonize", *ports, f"--output={kept}"])
    urls = [f"--ctrl-url={host}:{control}", f"--data-url={host}:{data}"]
    lttng.run(["lttng", "create", "live", "--live=100000", *urls])
    lttng.run(["lttng", "enable-event", "--userspace", "greeting:*"])
    lttng.run(["lttng", "start"])
    listed = vestige("convert", "-i", "lttng-live", f"net://127.0.0.1:{live}")
    url = listed.stdout.decode().split()[0]
    assert url.startswith(f"net://127.0.0.1:{live}/host/")
    return url, kept


def wait_for_reader(url):
    """Wait until somebody reads a session."""
    relay = ["convert", "-i", "lttng-live", url.partition("/host/")[0]]
    wait_until(lambda: b" 1 client(s)" in vestige(*relay).stdout, "the reader", SECONDS)


def test_events_come_while_they_are_recorded(lttng, session, tmp_path):
    """In the end they are what the relay daemon has kept, as Babeltrace 2 shows it."""
    url, kept = session
    program = Workshop(lttng, tmp_path).program("greeting")
    command = [sys.executable, "-m", "vestige", "convert", "-i", "lttng-live", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as reader:
        wait_for_reader(url)
        lttng.run([program, "hello", "world"])
        first = reader.stdout.readline()
        assert b"greeting" in first
        lttng.run([program, "once", "more"])
        lttng.run(["lttng", "destroy", "live"])
        rest = reader.stdout.read()
        assert reader.wait(SECONDS) == 0
    text = babeltrace(kept).stdout.decode()
    assert (first + rest).decode().splitlines() == text.splitlines()


def test_a_copy_is_made_while_a_session_is_recorded(lttng, session, tmp_path):
    """It shows what the relay daemon has kept, whatever comes when."""
    url, kept = session
    program = Workshop(lttng, tmp_path).program("greeting")
    command = [sys.executable, "-m", "vestige", "convert", "-i", "lttng-live", url]
    command += ["-o", "ctf", "--output", tmp_path / "copy"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as reader:
        wait_for_reader(url)
        lttng.run([program, "hello", "world"])
        lttng.run([program, "once", "more"])
        lttng.run(["lttng", "destroy", "live"])
        assert b"Created CTF trace" in reader.communicate(timeout=SECONDS)[0]
    assert babeltrace(tmp_path / "copy").stdout == babeltrace(kept).stdout != b""
