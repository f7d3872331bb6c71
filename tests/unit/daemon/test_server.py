"""The daemon begins, ends and goes on in order."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from contextlib import suppress
from types import SimpleNamespace

import pytest

from support.session_daemon import is_running
from support.waiting import wait_until
from vestige.daemon.registry import Peer
from vestige.daemon.server import Daemon, DaemonOptions
from vestige.daemon.turn import Turn
from vestige.daemon.verbs import VERBS

SECONDS = 60.0


def ask_bytes(daemon, line):
    """Return the answer to a line that no client of ours would send."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(daemon.run_folder / "client-vestige-sessiond"))
        connection.sendall(line)
        return connection.makefile("rb").readline()


def test_create_starts_a_daemon_and_no_other_verb_does(home):
    """Unless that is not wanted."""
    assert home.lttng("list") == (1, "", "Error: No session daemon is available\n")
    assert home.lttng("-n", "create", "s").status == 1
    done = home.lttng("--sessiond-path=/bin/true", "create", "x")
    assert done.status == 1
    assert done.out == "Spawning a session daemon\n"
    done = home.lttng("create", "s")
    assert done.status == 0
    assert done.out.startswith("Spawning a session daemon\nSession s created.\n")
    assert is_running(home.pid)


def test_a_second_daemon_is_refused(daemon):
    """It names the first."""
    done = daemon.start()
    assert done.returncode == 1
    assert done.stderr == (
        f"Error: A session daemon is already running. It has process ID {daemon.pid}.\n"
    )


def test_the_lock_of_another_daemon_is_respected(home):
    """LTTng's locks the same file."""
    home.run_folder.mkdir()
    with (home.run_folder / "lttng-sessiond.lck").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        done = home.start()
    assert done.returncode == 1
    assert f"process ID {os.getpid()}" in done.stderr


@pytest.mark.parametrize("name", ["client-lttng-sessiond", "lttng-ust-sock-8"])
def test_a_daemon_without_its_lock_is_respected(home, name):
    """LTTng's loses it when it goes to the background, and goes on listening."""
    home.run_folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.run_folder / name))
        listener.listen()
        done = home.start()
    assert done.returncode == 1
    assert f"process ID {os.getpid()}" in done.stderr
    assert (home.run_folder / name).exists()


@pytest.mark.parametrize("name", ["client-lttng-sessiond", "lttng-ust-sock-8"])
def test_a_socket_that_was_left_is_nobody(home, name):
    """Of a daemon that was killed."""
    home.run_folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.run_folder / name))
        listener.listen()
    assert home.start().returncode == 0


def test_a_signal_ends_it_in_order(home):
    """Nothing is left of it but what programs wait on; no session for the next one."""
    home.lttng("create", "s")
    home.end()
    left = sorted(one.name for one in home.run_folder.iterdir())
    assert left == ["lttng-sessiond.lck", "vestige-tracer-1", "vestige-wait-1"]
    assert home.start().returncode == 0
    assert home.lttng("list").out == "Currently no available recording session\n"


def test_after_a_kill_a_new_one_goes_on(home):
    """With all sessions as they were."""
    home.lttng("create", "s", f"--output={home.home}/out")
    home.lttng("enable-event", "-u", "a:*", "-x", "a:b", "-f", "n > 1")
    home.lttng("add-context", "-u", "-t", "vpid")
    home.lttng("start")
    shown = home.lttng("list", "s").out
    home.end(signal.SIGKILL)
    assert home.lttng("list").err == "Error: No session daemon is available\n"
    assert home.start().returncode == 0
    assert home.lttng("list", "s").out == shown
    assert home.lttng("stop").status == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1, "sessions": [1]}'])
def test_a_journal_that_makes_no_sense_is_none(home, text):
    """The daemon starts without sessions."""
    home.run_folder.mkdir()
    (home.run_folder / "vestige-sessions.json").write_text(text)
    assert home.start().returncode == 0
    assert home.lttng("list").out == "Currently no available recording session\n"


def test_only_this_user_can_connect(daemon):
    """And root."""
    mode = (daemon.run_folder / "client-vestige-sessiond").stat().st_mode
    assert stat.S_IMODE(mode) & ~0o660 == 0
    assert not stat.S_IMODE(mode) & 0o007


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        (b" \n", "INVALID"),
        (b"\n\n{}\n", "INVALID"),
        (b"\xff\xfe\n", "INVALID"),
        (b"[" * 100_000 + b"\n", "INVALID"),
        (b'{"version":2,"verb":"list"}\n', "INVALID"),
        (b'{"version":1,"verb":"nosuch","values":{}}\n', "UNKNOWN_VERB"),
        (b'{"version":1,"verb":"describe","values":{"session":7}}\n', "INVALID"),
        (b'{"version":1,"verb":"create","values":{"name":"\\u0000"}}\n', "INVALID"),
        (
            b'{"version":1,"verb":"create","values":{"name":"n","output":"x"}}\n',
            "SET_URL",
        ),
    ],
)
def test_a_request_that_is_none_is_refused(daemon, line, refusal):
    """And the daemon goes on."""
    assert json.loads(ask_bytes(daemon, line))["refusal"] == refusal
    assert daemon.lttng("list").status == 0


def test_a_line_without_an_end_closes_its_connection_only(daemon):
    """Requests are bounded in size."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(daemon.run_folder / "client-vestige-sessiond"))
        # The daemon takes part of it and closes, before or after all is sent.
        with suppress(OSError):
            connection.sendall(b"x" * (40 << 20))
            assert connection.recv(1) == b""
    assert daemon.lttng("list").status == 0


def test_the_parent_is_signalled_when_clients_can_connect(home):
    """By SIGUSR1; the daemon stays in the foreground."""
    script = (
        "import signal, subprocess, sys\n"
        "signal.signal(signal.SIGUSR1, lambda *_: None)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
        "child = subprocess.Popen([sys.executable, '-m', 'vestige.cli.sessiond', '-S'])\n"
        "print(signal.sigtimedwait([signal.SIGUSR1], 60).si_pid == child.pid)\n"
        "child.terminate()\n"
        "print(child.wait())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **home.environment},
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("True\n0\n", "")


def test_a_configuration_file_stands_below_the_command_line(home):
    """Sections are LTTng's; what makes no sense is told."""
    path = home.home / "lttng.conf"
    path.write_text(f"[sessiond]\nclient-sock={home.home}/other\nquiet=no\n")
    assert home.start("--config", str(path)).returncode == 0
    wait_until((home.home / "other").is_socket, "the socket is there", SECONDS)
    home.end()
    path.write_text("[sessiond]\nsig-parent=perhaps\n")
    done = home.start("--config", str(path))
    assert done.returncode == 1
    assert "sig-parent = perhaps: expected true, yes, on" in done.stderr
    path.write_text("[sessiond\n")
    done = home.start("--config", str(path))
    expected = (
        "Error: expected a configuration: File contains no section headers. file:"
    )
    assert done.stderr.startswith(expected)


def test_sessions_are_loaded_at_the_start(home):
    """Those of the home, or those that are named."""
    home.lttng("create", "s")
    auto = home.home / ".lttng" / "sessions" / "auto"
    home.lttng("save", "-o", str(auto))
    home.end()
    assert home.start().returncode == 0
    assert "1) s [inactive]" in home.lttng("list").out
    home.end()
    done = home.start("--load", "/nonexistent")
    assert done.returncode == 1
    assert "/nonexistent: expected a session configuration" in done.stderr


def test_a_broken_configuration_does_not_keep_the_daemon_from_running(home):
    """Those beside it are loaded; only one that was named must be right."""
    home.lttng("create", "s")
    auto = home.home / ".lttng" / "sessions" / "auto"
    home.lttng("save", "-o", str(auto))
    home.end()
    broken = auto / "a.lttng"
    broken.write_text("<sessions>")
    done = home.start()
    assert done.returncode == 0
    assert done.stderr.startswith(f"Warning: a session was not loaded: {broken}: ")
    assert "1) s [inactive]" in home.lttng("list").out
    home.end()
    done = home.start("--load", str(auto))
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {broken}: expected XML")


def test_a_request_that_fails_in_an_unforeseen_way_is_answered(monkeypatch, capsys):
    """It is refused and logged; the connection stays."""

    async def fail(*_):
        raise ZeroDivisionError("unforeseen")

    options = DaemonOptions(None)
    daemon = Daemon(options, None, print)
    daemon._registry = SimpleNamespace(turn=Turn())
    monkeypatch.setitem(VERBS, "list", fail)
    peer = Peer(os.getpid(), os.getuid(), os.getgid())
    line = b'{"version":1,"verb":"list","values":{}}\n'
    answered = json.loads(asyncio.run(daemon._answer(peer, line)))
    assert answered["refusal"] == "UNKNOWN"
    assert answered["detail"] == "the request failed: ZeroDivisionError: unforeseen"
    assert "Traceback" in capsys.readouterr().err
