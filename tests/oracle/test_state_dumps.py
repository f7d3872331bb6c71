"""Each archive and each snapshot of LTTng-UST's programs names its addresses alone."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.live_sessions import SECONDS, begin, end, launch, run
from support.named_addresses import Named, named
from support.paused_programs import kill_in_pause
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, say
from support.waiting import wait_until
from vestige.analysis.debug_info import examine_debug_info
from vestige.components.sources.ctf_fs import CtfFsSource

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

EVENT = "flood:drop"
CHANNEL = "enable-channel -u c --subbuf-size=1M --num-subbuf=16"
RULES = ("add-context -u -c c -t ip -t vpid", "enable-event -u -c c -a")
FAST = (20, 1_000_000, 1000)
"""20 events, without a pause, each millisecond: the daemon may wait for seconds."""
PAUSES = 200
"""Of a program that has begun long ago."""
STATE_FILE = "vestige-state"


@contextmanager
def busy(
    daemon: SessionDaemon, workshop: Workshop, count: int = 2
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Have programs that record."""
    programs = [start(daemon, workshop) for _ in range(count)]
    try:
        yield programs
    finally:
        for one in programs:
            one.kill()
            one.wait(SECONDS)


def start(daemon: SessionDaemon, workshop: Workshop) -> subprocess.Popen[bytes]:
    """Start a program, and wait until it records."""
    program = launch(daemon, workshop.program("flood"), *FAST)
    listed = f"PID: {program.pid} "
    wait_until(lambda: listed in daemon.lttng("list", "-u").out, "it comes", SECONDS)
    goes_on(program)
    return program


def goes_on(program: subprocess.Popen[bytes]) -> None:
    """Wait until a program has recorded more."""
    # It may wait for the daemon a few times, before all of its events.
    end = pauses(program) + PAUSES
    wait_until(lambda: pauses(program) > end, "it records", SECONDS)


def pauses(program: subprocess.Popen[bytes]) -> int:
    """Return how often a program has paused; there are events before each pause."""
    status = Path(f"/proc/{program.pid}/status").read_text()
    return int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])


def archives(output: Path) -> list[Path]:
    """Return the archives of a session, by their numbers."""
    found = [*(output / "archives").iterdir()]
    return sorted(found, key=lambda one: int(one.name.rpartition("-")[2]))


def check(trace: Path) -> Named:
    """Read a trace alone; all addresses have names, from the first on."""
    found = named(trace, EVENT)
    assert not found.damage
    assert (found.unnamed, found.unplaced) == (0, 0), found
    return found


@pytest.mark.parametrize("buffers", ["--buffers-uid", "--buffers-pid"])
def test_each_archive_names_its_addresses(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path, buffers: str
):
    """Of programs that are there, that come, that stand still and that are killed.

    Also while their state is described once more.
    """
    begin(daemon, tmp_path, f"{CHANNEL} {buffers}", *RULES)
    with busy(daemon, workshop) as programs:
        say(daemon, "rotate")
        programs.append(start(daemon, workshop))
        say(daemon, "rotate", "rotate")
        say(daemon, "regenerate statedump")
        programs[0].send_signal(signal.SIGSTOP)
        say(daemon, "rotate", "regenerate statedump", "rotate")
        programs[0].send_signal(signal.SIGCONT)
        say(daemon, "rotate")
        kill_in_pause(programs[1])
        say(daemon, "rotate", "rotate")
        assert end(daemon) == ""
    say(daemon, "destroy")
    found = [check(one) for one in archives(tmp_path)]
    assert {program.pid for program in programs} == set().union(
        *(one.processes for one in found)
    )
    assert sum(one.events > 0 for one in found) >= 7


def test_what_comes_after_clear_has_names(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path
):
    """Also after a stop and a start, between which it was cleared or archived."""
    begin(daemon, tmp_path, CHANNEL, *RULES)
    with busy(daemon, workshop) as programs:
        for commands in (["clear"], ["clear", "start"], ["start"]):
            say(daemon, *commands)
            goes_on(programs[0])
            say(daemon, "stop")
            assert check(tmp_path).events > 0
        say(daemon, "rotate", "start")
        goes_on(programs[0])
        say(daemon, "rotate")
        goes_on(programs[0])
        say(daemon, "stop", "destroy")
    for one in archives(tmp_path):
        assert check(one).events > 0


@pytest.mark.parametrize("buffers", ["--buffers-uid", "--buffers-pid"])
def test_each_snapshot_names_its_addresses(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path, buffers: str
):
    """From the start on, after each clear, and those of programs that have ended."""
    say(daemon, f"create s --snapshot --output={tmp_path}")
    say(daemon, f"{CHANNEL} {buffers}", *RULES, "start")
    with busy(daemon, workshop) as programs:
        say(daemon, "snapshot record", "clear")
        goes_on(programs[1])
        say(daemon, "regenerate statedump", "snapshot record")
        programs.append(start(daemon, workshop))
        say(daemon, "snapshot record", "stop", "start", "snapshot record")
        say(daemon, "stop", "clear", "start")
        goes_on(programs[1])
        say(daemon, "snapshot record")
        kill_in_pause(programs[0])
        programs[0].wait(SECONDS)
        say(daemon, "snapshot record")
    say(daemon, "snapshot record", "destroy")
    found = sorted(tmp_path.glob("snapshot-*"), key=lambda one: one.name[-1])
    named_there = [check(one) for one in found]
    assert len(found) == 7
    assert all(one.events > 0 for one in named_there[:-1])


def test_only_who_can_ask_for_addresses_has_state_dumps(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path
):
    """Two sessions at once: each has what its own rules say."""
    sessions = {
        "all": RULES,
        "no-address": ("add-context -u -c c -t vpid", "enable-event -u -c c flood:*"),
        "no-dump": (RULES[0], "enable-event -u -c c flood:*"),
        "excluded": (RULES[0], "enable-event -u -c c -a -x lttng_ust_statedump:*"),
    }
    for name, commands in sessions.items():
        say(daemon, f"create {name} --output={tmp_path / name}", CHANNEL, *commands)
        say(daemon, "start")
    with busy(daemon, workshop, 1):
        for name in sessions:
            say(daemon, f"rotate {name}", f"stop {name}", f"destroy {name}")
    for name in sessions:
        has_dump = [[*one.rglob(STATE_FILE)] != [] for one in archives(tmp_path / name)]
        assert has_dump == [name == "all"] * 2, name
    assert sum(check(one).events for one in archives(tmp_path / "all")) > 0


@pytest.mark.parametrize("moves", [False, True])
def test_a_dump_outlives_the_files_of_a_channel(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path, moves: bool
):
    """Limits of a channel's files are not for it, and it is removed and made anew.

    Also if the begin of the program's own dump is all that is left of it, on a CPU to
    which nobody else records.
    """
    limits = "--subbuf-size=4k --num-subbuf=4 --tracefile-size=8k --tracefile-count=2"
    begin(daemon, tmp_path, f"enable-channel -u c {limits} --overwrite", *RULES)
    library = workshop.library("moving_dump", "moving_dump.so") if moves else ""
    run(daemon, workshop.program("flood"), 5000, LD_PRELOAD=library)
    end(daemon)
    there = check(tmp_path).events
    assert there > 0
    report = examine_debug_info(CtfFsSource([tmp_path]))
    absent = sum(gone.events for one in report.processes for gone in one.absent)
    # While a program describes itself, readers forget what was told before, and some of
    # that may be the last that its CPU had to record.
    assert absent <= report.events - there
    assert report.events_without_address == 0
    say(daemon, "clear")
    assert not [*tmp_path.rglob(STATE_FILE)]
    shutil.rmtree(tmp_path / "ust")
    say(daemon, "start")
    run(daemon, workshop.program("flood"), 5000)
    end(daemon)
    assert check(tmp_path).events > 0
    say(daemon, "destroy")
