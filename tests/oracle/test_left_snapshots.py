"""What a session of snapshots had kept when the daemon was killed is a snapshot."""

from __future__ import annotations

import re
import signal
import subprocess
import warnings
from pathlib import Path

import pytest

import vestige
from support.live_sessions import SECONDS, daemon_for_programs, launch, our_lines, run
from support.named_addresses import named
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, say
from support.waiting import wait_until
from vestige.advice import VestigeWarning

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

EVENT = "flood:drop"
RULES = ("add-context -u -c c -t ip -t vpid", "enable-event -u -c c -a")
FAST = (300, 1_000_000, 1000)
PAUSES = 50


def begin(daemon: SessionDaemon, output: Path, options: str, channel: str) -> None:
    """Start a session of snapshots."""
    say(daemon, f"create s --snapshot {options} --output={output}")
    sizes = "--subbuf-size=64k --num-subbuf=4"
    say(daemon, f"enable-channel -u c {sizes} {channel}", *RULES, "start")


def goes_on(program: subprocess.Popen[bytes]) -> None:
    """Wait until a program has recorded more."""

    def pauses() -> int:
        status = Path(f"/proc/{program.pid}/status").read_text()
        return int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])

    end = pauses() + PAUSES
    wait_until(lambda: pauses() > end, "it records", SECONDS)


def kill(daemon: SessionDaemon) -> str:
    """Kill the daemon, and start the next one; return what that says."""
    daemon.end(signal.SIGKILL)
    started = daemon.start()
    assert started.returncode == 0
    return str(started.stderr)


@pytest.mark.parametrize(
    ("channel", "has_shm_path"),
    [
        ("", False),
        ("--buffers-pid", False),
        ("--discard", False),
        ("", True),
        ("--tracefile-size=64k", True),
    ],
)
def test_what_was_kept_is_written_by_the_next_daemon(
    workshop: Workshop, tmp_path: Path, channel: str, *, has_shm_path: bool
):
    """With names for all addresses, also after ``clear``; and it is said."""
    options = f"--shm-path={tmp_path / 'shm'}" if has_shm_path else ""
    with daemon_for_programs() as daemon:
        begin(daemon, tmp_path / "out", options, channel)
        programs = [launch(daemon, workshop.program("flood"), *FAST) for _ in range(2)]
        try:
            for one in programs:
                goes_on(one)
            say(daemon, "clear")
            programs.append(launch(daemon, workshop.program("flood"), *FAST))
            for one in programs:
                goes_on(one)
            kill(daemon)
        finally:
            for one in programs:
                one.kill()
                one.wait(SECONDS)
        [left] = (tmp_path / "out").glob("snapshot-1-left-*")
        said = f"in '{left}'"
        assert said in daemon.lttng("list", "s").out
        assert said in daemon.lttng("snapshot", "list-output").out
        taken = daemon.lttng("snapshot", "record")
        assert taken.status == 0
        assert said in taken.err
        assert said not in daemon.lttng("snapshot", "record").err
        assert said not in daemon.lttng("list", "s").out
        say(daemon, "destroy")
    found = named(left, EVENT)
    assert not found.damage
    pids = [one.pid for one in programs]
    # Who runs first fills what is not overwritten; programs that share what is
    # overwritten leave what was recorded last, by whomever.
    there = 3 if channel == "--buffers-pid" else 0
    assert {*pids[:there]} <= found.processes <= {*pids}
    assert found.processes
    assert (found.unnamed, found.unplaced) == (0, 0)
    assert not [*left.rglob("*.idx")]


def test_nothing_that_was_kept_is_lost(workshop: Workshop, tmp_path: Path):
    """Of a program that has ended, what a snapshot would have had."""
    with daemon_for_programs() as daemon:
        begin(daemon, tmp_path, "", "")
        run(daemon, workshop.program("flood"), 100)
        say(daemon, "snapshot record")
        kill(daemon)
        say(daemon, "destroy")
    [before] = tmp_path.glob("snapshot-1-2*")
    [left] = tmp_path.glob("snapshot-1-left-*")
    assert numbers(left) == [*range(100)]
    assert our_lines(left) == our_lines(before)


def numbers(trace: Path) -> list[int]:
    """Return the numbers of events."""
    text = "\n".join(our_lines(trace))
    return [int(one) for one in re.findall(r"number = (\d+)", text)]


def test_why_it_is_lost_is_said(workshop: Workshop, tmp_path: Path, monkeypatch):
    """Without an output, or if it cannot be written; a program is told, too."""
    (tmp_path / "file").touch()
    with daemon_for_programs() as daemon:
        begin(daemon, tmp_path / "out", "", "")
        run(daemon, workshop.program("flood"), 100)
        say(daemon, "snapshot del-output 1")
        kill(daemon)
        assert "is lost: the session has no output" in daemon.lttng("list", "s").out
        say(daemon, f"snapshot add-output file://{tmp_path}/file")
        run(daemon, workshop.program("flood"), 100)
        kill(daemon)
        for name, value in daemon.environment.items():
            monkeypatch.setenv(name, value)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            vestige.Session.find("s").snapshot(tmp_path / "out")
        say(daemon, "destroy")
    said = [str(one.message) for one in told if one.category is VestigeWarning]
    assert len(said) == 2
    assert "no output" in said[0]
    assert re.search("is lost: .*: Not a directory", said[1])
