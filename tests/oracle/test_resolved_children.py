"""Chunks name the addresses of children that have not registered with the daemon yet."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.live_sessions import daemon_for_programs
from support.named_addresses import named
from support.own_programs import (
    STEP,
    Ordered,
    build_ordered,
    ordered,
    wait_for_processes,
)
from support.session_daemon import SECONDS, SessionDaemon, say
from support.waiting import wait_until
from vestige.record.backends.registered._agreement import REGISTRATION_SOCKET

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer"),
]
INSIDE = ["unshare", "--pid", "--kill-child"]
SESSIONS = {
    "users": ("", "--buffers-uid"),
    "processes": ("", "--buffers-pid"),
    "cleared": ("", "--buffers-uid"),
    "kept": ("--snapshot", "--buffers-uid"),
}
"""Options of ``create`` and of ``enable-channel``."""


def begin(daemon: SessionDaemon, output: Path) -> None:
    """Start all sessions."""
    for name, (mode, channel) in SESSIONS.items():
        for words in (
            f"create {name} {mode} --output={output / name}",
            f"enable-channel -u -s {name} {channel} c",
            f"add-context -u -s {name} -c c -t ip -t vpid -t vtid",
            f"enable-event -u -s {name} -c c {STEP}",
            f"start {name}",
        ):
            say(daemon, words)


@contextmanager
def program_of(
    daemon: SessionDaemon, program: Path, prefix: list[str]
) -> Iterator[Ordered]:
    """Run a program that has registered, as process 1 if there is a prefix."""
    daemon.prefix, before = prefix, daemon.prefix
    with ordered(daemon, program) as one:
        daemon.prefix = before
        process = str(one.process.pid)
        if prefix:
            path = Path(f"/proc/{process}/task/{process}/children")
            wait_until(path.read_text, "it runs", SECONDS)
            process = path.read_text()
        wait_for_processes(daemon, int(process))
        yield one


@pytest.mark.parametrize("is_inside", [False, True])
def test_a_child_that_has_not_registered(tmp_path: Path, is_inside: bool) -> None:
    """It has told what it has loaded to the chunk before, which is gone."""
    prefix = INSIDE if is_inside else []
    if subprocess.run([*prefix, "true"], check=False).returncode:
        pytest.skip("needs unshare(1), and the right to use it")
    program = build_ordered(tmp_path)
    with daemon_for_programs() as daemon:
        begin(daemon, tmp_path / "out")
        socket = daemon.run_folder / REGISTRATION_SOCKET
        away = socket.with_name("away")
        with program_of(daemon, program, prefix) as one:
            # Its child finds nobody to register with.
            socket.rename(away)
            one.do("fork")
            one.do("5")
            for words in ("rotate users", "rotate processes", "clear cleared"):
                say(daemon, words)
            say(daemon, "clear kept")
            one.do("7")
            say(daemon, "snapshot record -s kept")
            say(daemon, "regenerate statedump -s users")
            away.rename(socket)
        say(daemon, "destroy --all")

    for name in SESSIONS:
        output = tmp_path / "out" / name
        chunks = [*(output / "archives").glob("*"), *output.glob("snapshot-*")]
        chunks.sort(key=lambda one: int(one.name.rpartition("-")[2]))
        found = [named(place, STEP) for place in (*chunks, output / "ust")]
        assert [one.damage for one in found] == [[]] * len(found)
        assert [(one.unnamed, one.unplaced) for one in found] == [(0, 0)] * len(found)
        events = [one.events for one in found if one.events]
        assert events == ([5, 7] if name in {"users", "processes"} else [7]), name
