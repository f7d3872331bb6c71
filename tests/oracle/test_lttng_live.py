"""A live session is read while it is recorded, from a relay daemon of LTTng."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from support.lttng import can_use_name_spaces
from support.peers import babeltrace
from support.ports import free_ports
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
THEIRS = ["lttng-relayd"]
OURS = [sys.executable, "-m", "vestige.cli.relayd"]


@pytest.fixture
def session(lttng, tmp_path, request):
    """A live session of a relay daemon: its URL, and where that keeps it."""
    relay = getattr(request, "param", THEIRS)
    control, data, live = free_ports(3)
    kept, host = tmp_path / "relay", "tcp://127.0.0.1"
    ports = [f"--control-port={host}:{control}", f"--data-port={host}:{data}"]
    ports.append(f"--live-port={host}:{live}")
    lttng.run([*relay, "--daemonize", *ports, f"--output={kept}"])
    urls = [f"--ctrl-url={host}:{control}", f"--data-url={host}:{data}"]
    lttng.run(["lttng", "create", "live", "--live=100000", *urls])
    lttng.run(["lttng", "enable-event", "--userspace", "greeting:*"])
    lttng.run(["lttng", "start"])
    listed = vestige("convert", f"net://127.0.0.1:{live}")
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


@pytest.mark.parametrize("session", [OURS], indirect=True)
def test_both_readers_read_what_our_relay_daemon_gets(lttng, session, tmp_path):
    """At the same time, of LTTng's daemons; programs that come and go are seen."""
    url, kept = session
    program = Workshop(lttng, tmp_path).program("greeting")
    lttng.run([program, "before", "anybody"])
    # What comes later may come to one reader and not to the other.
    wait_until(lambda: b"anybody" in babeltrace(kept).stdout, "its packet", SECONDS)
    ours = [sys.executable, "-m", "vestige", "convert", "-i", "lttng-live", url]
    theirs = ["stdbuf", "--output=L", "babeltrace2", "-i", "lttng-live", url]
    with (
        subprocess.Popen(ours, stdout=subprocess.PIPE) as one,
        subprocess.Popen(theirs, stdout=subprocess.PIPE) as other,
    ):
        listing = ["convert", "-i", "lttng-live", url.partition("/host/")[0]]
        wait_until(lambda: b" 2 client(s)" in vestige(*listing).stdout, "both", SECONDS)
        lttng.run([program, "hello", "world"])
        first = [one.stdout.readline(), other.stdout.readline()]
        lttng.run(["lttng", "clear", "live"])
        lttng.run([program, "once", "more"])
        lttng.run(["lttng", "destroy", "live"])
        rest = one.stdout.read()
        assert one.wait(SECONDS) == 0
        lines = [first[0], *rest.splitlines(keepends=True)]
        found = [first[1], *(other.stdout.readline() for _ in lines[1:])]
        # It looks for another session of that name, for ever.
        other.kill()
    text = babeltrace(kept).stdout.splitlines(keepends=True)
    assert lines == found
    events = [line.partition(b") ")[2] for line in lines]
    kept_events = [line.partition(b") ")[2] for line in text]
    assert events[-len(kept_events) :] == kept_events != []


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
