"""A session daemon of its own for tests, and commands that ask it."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from vestige.cli.lttng.main import run
from vestige.daemon.run_paths import run_paths
from vestige.daemon.store import Store

from .waiting import wait_until

SECONDS = 60.0
"""For what takes a moment, on a busy machine."""


class Done(NamedTuple):
    """What a command returned and said."""

    status: int
    out: str
    err: str


class SessionDaemon:
    """A home with a run directory, where a daemon may run.

    Args:
        home: A directory with a short path: sockets have few bytes for theirs.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.run_folder = home / "run"
        self.prefix: list[str] = []
        """What begins the command line of what runs there."""
        self.environment = {
            "HOME": str(home),
            "LTTNG_HOME": str(home),
            "VESTIGE_RUNDIR": str(self.run_folder),
            # A program that waits no longer begins without its rules.
            "LTTNG_UST_REGISTER_TIMEOUT": "20000",
        }

    @property
    def pid(self) -> int | None:
        """The process ID of the daemon that runs here."""
        try:
            return int((self.run_folder / "lttng-sessiond.pid").read_text())
        except (OSError, ValueError):
            return None

    def start(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Start a daemon, and wait until it is ready or has failed.

        Args:
            words: More of its command line.
        """
        return self.run_module("vestige.cli.sessiond", "--daemonize", *words)

    def run_module(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a module where the daemon runs, and wait for its end.

        Args:
            name: The module.
            words: Its command line.
        """
        return subprocess.run(
            [*self.prefix, sys.executable, "-m", name, *words],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def lttng(self, *words: str) -> Done:
        """Run a session verb, in this process.

        Args:
            words: What follows ``lttng``.
        """
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.environment),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            status = run(words)
        return Done(status, out.getvalue(), err.getvalue())

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the daemon, if one runs, and wait until it is gone.

        Args:
            number: The signal.
        """
        pid = self.pid
        if pid is None or not is_running(pid):
            return
        os.kill(pid, number)
        wait_until(lambda: not is_running(pid), "the daemon ends", SECONDS)


def change_kept(daemon: SessionDaemon, **members: object) -> None:
    """Let the journal of a daemon that was killed say something else of its session.

    Args:
        daemon: The daemon.
        members: Of the session.
    """
    store = Store(str(next(daemon.run_folder.glob("*.json"))))
    left = store.read()
    [session] = left.sessions
    for name, value in members.items():
        assert hasattr(session, name)
        setattr(session, name, value)
    store.write(left.sessions, map(json.dumps, left.triggers))


def is_running(pid: int) -> bool:
    """Tell whether a process is there, and no zombie.

    One whose other threads have not ended yet is: they hold its files and its memory.

    Args:
        pid: Its ID.
    """
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        threads = [*Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return False
    return state not in {"Z", "X"} or len(threads) > 1


@contextmanager
def session_daemon() -> Iterator[SessionDaemon]:
    """Have a home for a daemon; none runs there at first, and none at the end."""
    home = Path(tempfile.mkdtemp(prefix="vs-"))
    daemon = SessionDaemon(home)
    try:
        yield daemon
    finally:
        daemon.end()
        shutil.rmtree(home)
        # One that was killed leaves it to the next one, of which there is none here.
        # Where it is follows from the run directory, which may be another by now.
        is_root = os.geteuid() == 0
        rings = run_paths(is_root=is_root, folder=str(daemon.run_folder)).rings
        shutil.rmtree(rings, ignore_errors=True)


def stop_process(pid: int) -> None:
    """Let a process stand still, and wait until all of its threads do.

    The one that takes the signal may have no processor for a while, and the others go on
    until it has told them.

    Args:
        pid: Its ID.
    """
    os.kill(pid, signal.SIGSTOP)
    threads = Path(f"/proc/{pid}/task")

    def are_stopped() -> bool:
        try:
            stats = [(one / "stat").read_text() for one in threads.iterdir()]
        except OSError:  # one has ended meanwhile
            return False
        return all(one.rpartition(")")[2].split()[0] == "T" for one in stats)

    wait_until(are_stopped, "it stands still", SECONDS)


@contextmanager
def stopped(daemon: SessionDaemon) -> Iterator[None]:
    """Have a daemon that reads nothing."""
    pid = daemon.pid
    assert pid is not None
    stop_process(pid)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def say(daemon: SessionDaemon, *commands: str) -> None:
    """Run verbs that must succeed."""
    for words in commands:
        done = daemon.lttng(*words.split())
        assert done.status == 0, done.err
