"""Sessions of our daemon that record programs of LTTng-UST as they were built."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .peers import babeltrace
from .session_daemon import SessionDaemon, session_daemon
from .vestige_command import convert

SECONDS = 60.0


@contextmanager
def daemon_for_programs() -> Iterator[SessionDaemon]:
    """Have a daemon whose application socket is where programs of its home look."""
    with session_daemon() as daemon:
        daemon.run_folder = daemon.home / ".lttng"
        daemon.environment["VESTIGE_RUNDIR"] = str(daemon.run_folder)
        started = daemon.start()
        assert started.returncode == 0, started.stderr
        yield daemon


def begin(
    daemon: SessionDaemon, output: Path, *commands: str, options: str = ""
) -> None:
    """Start a session that writes to a directory."""
    for words in (f"create s --output={output} {options}", *commands, "start"):
        done = daemon.lttng(*words.split())
        assert done.status == 0, done.err


def end(daemon: SessionDaemon) -> str:
    """Stop the session; return what was said on standard error."""
    done = daemon.lttng("stop")
    assert done.status == 0
    return done.err


def launch(
    daemon: SessionDaemon, *argv: object, **options: object
) -> subprocess.Popen[bytes]:
    """Start a program that looks for the daemon in its home."""
    more = {name: str(value) for name, value in options.items()}
    environment = {**os.environ, **daemon.environment, **more}
    return subprocess.Popen([*map(str, argv)], env=environment)


def run(daemon: SessionDaemon, *argv: object, **options: object) -> None:
    """Run a program to its end."""
    assert launch(daemon, *argv, **options).wait(SECONDS) == 0


def lines(trace: Path) -> list[str]:
    """Return the events of a trace without times and CPUs; both readers agree."""
    assert convert(trace).stdout == babeltrace(trace).stdout
    return our_lines(trace)


def our_lines(trace: Path) -> list[str]:
    """Return them as Vestige prints them."""
    text = convert(trace).stdout.decode(errors="replace")
    text = re.sub(r"^\[[^]]*\] \([^)]*\) \S+ ", "", text, flags=re.MULTILINE)
    return re.sub(r"\{ cpu_id = \d+ \}, ", "", text).splitlines()
