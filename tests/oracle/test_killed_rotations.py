"""A daemon is killed at each step of a rotation: the archives are those of their times.

Babeltrace 2 reads each archive alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import support
import vestige
from support.compilers import run_tool
from support.killed_rotation import COMPLETED, GATE, REACHED, STEPS
from support.live_sessions import begin, daemon_for_programs, lines, run
from support.own_programs import STEP, build_ordered, ordered, wait_for_listed
from support.recipes import Workshop
from support.session_daemon import SECONDS, SessionDaemon, is_running, say
from support.soak_oracle import lost_in
from support.waiting import wait_until

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

TESTS = str(Path(support.__path__[0]).parent)


REGISTERS = ["c0/.arena", "c1/.arena"]
"""Files that get their names last, when what is noted of an arena is of the next chunk."""
KILLS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rename(const char *from, const char *to) {
    const char *end = getenv("KILLED_BEFORE");
    size_t all = strlen(to), length = strlen(end);
    if (all >= length && strcmp(to + all - length, end) == 0) kill(getpid(), SIGKILL);
    int (*next)(const char *, const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "rename");
    return next(from, to);
}
"""


@pytest.fixture(scope="module")
def kills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that kills its process before a file gets its name."""
    folder = tmp_path_factory.mktemp("kills")
    source, library = folder / "kills.c", folder / "kills.so"
    source.write_text(KILLS)
    run_tool(["gcc", "-shared", "-fPIC", str(source), "-o", str(library), "-ldl"])
    return library


def start_mortal(daemon: SessionDaemon, step: str, kills: Path) -> None:
    """Start a daemon that dies at a step of a rotation."""
    before = daemon.environment
    daemon.environment = {**before, "PYTHONPATH": TESTS}
    if step in REGISTERS:
        daemon.environment |= {"LD_PRELOAD": str(kills), "KILLED_BEFORE": step}
        started = daemon.start()
    else:
        started = daemon.run_module("support.killed_rotation", step, "--daemonize")
    daemon.environment = before
    assert started.returncode == 0, started.stderr


def archives(output: Path) -> list[Path]:
    """Return the archives of a session, by their numbers."""
    found = [*(output / "archives").iterdir()]
    return sorted(found, key=lambda one: int(one.name.rpartition("-")[2]))


def counts(trace: Path) -> tuple[int, int, int]:
    """Return how many events of each sort both readers find.

    Of LTTng-UST's programs, and of ours in the two channels.
    """
    found = lines(trace)
    steps = [one for one in found if one.startswith("ordered:step")]
    named = sum("procname = " in one for one in steps)
    drops = sum(one.startswith("flood:drop") for one in found)
    return drops, len(steps) - named, named


@pytest.mark.parametrize("step", [*STEPS, *REGISTERS])
def test_archives_follow_each_other(
    workshop: Workshop, tmp_path: Path, kills: Path, step: str
):
    """What was recorded before the rotation is in the archive, or all in the next one.

    There is a trace that a daemon has left which was killed before: nobody writes there.
    """
    output = tmp_path / "out"
    flood, own = workshop.program("flood"), build_ordered(tmp_path)
    with daemon_for_programs() as daemon:
        begin(
            daemon,
            output,
            "enable-event -u -c c0 flood:*,ordered:*",
            "enable-event -u -c c1 ordered:*",
            "add-context -u -c c1 -t procname",
        )
        run(daemon, flood, 10)
        daemon.end(signal.SIGKILL)
        start_mortal(daemon, step, kills)
        run(daemon, flood, 20)
        with ordered(daemon, own) as one:
            one.do("100")
            pid = daemon.pid
            assert pid is not None
            daemon.lttng("rotate")
            wait_until(lambda: not is_running(pid), "the daemon dies", SECONDS)
            assert daemon.start().returncode == 0
            wait_for_listed(daemon, one)
            one.do("5")
            run(daemon, flood, 3)
            say(daemon, "rotate")
            one.do("1")
            daemon.lttng("stop")
            one.end()
        say(daemon, "destroy")
    expected = [(30, 100, 100), (3, 5, 5), (0, 1, 1)]
    if step in {"moved", "c0/.arena"}:
        expected = [(33, 105, 105), (0, 1, 1)]
    assert [counts(one) for one in archives(output)] == expected


@pytest.mark.parametrize("buffers", ["uid", "pid"])
def test_completed_chunk_has_names_from_its_beginning(
    tmp_path: Path, kills: Path, buffers: str
):
    """Programs record there before they have registered, and tell their state no more."""
    output, own = tmp_path / "out", build_ordered(tmp_path)
    with daemon_for_programs() as daemon:
        channels = [
            f"{command} -u {option} {channel}{words}"
            for channel in ("c0", "c1")
            for command, option, words in [
                ("enable-channel", f"--buffers-{buffers}", ""),
                ("enable-event", "-c", " ordered:*"),
                ("add-context", "-c", " -t vpid -t ip"),
            ]
        ]
        begin(daemon, output, *channels)
        daemon.end(signal.SIGKILL)
        start_mortal(daemon, "one own trace", kills)
        with ordered(daemon, own) as one:
            # Its threads end: nobody has a place in the memory but for a while.
            one.do("t3")
            pid = daemon.pid
            assert pid is not None
            daemon.lttng("rotate")
            wait_until(lambda: not is_running(pid), "the daemon dies", SECONDS)
            before = daemon.environment
            daemon.environment = {**before, "PYTHONPATH": TESTS}
            daemon.run_module("support.killed_rotation", COMPLETED, "--daemonize")
            daemon.environment = before
            one.do("t5")
            one.do("7")
            assert daemon.start().returncode == 0
            wait_for_listed(daemon, one)
            say(daemon, "rotate")
            daemon.lttng("stop")
            one.end()
        say(daemon, "destroy")
    first, second, *_ = archives(output)
    assert_named(first, 12)
    assert_named(second, 34)


@pytest.mark.parametrize("step", ["own traces", "all but dumps"])
def test_left_rings_have_names(
    workshop: Workshop, tmp_path: Path, kills: Path, step: str
):
    """What LTTng-UST's programs have left in rings is in a chunk that describes them."""
    output, gate = tmp_path / "out", tmp_path / "gate"
    with daemon_for_programs() as daemon:
        begin(
            daemon,
            output,
            "enable-event -u ordered:*,lttng_ust_statedump:*",
            "add-context -u -t vpid -t ip",
        )
        daemon.end(signal.SIGKILL)
        before = daemon.environment
        daemon.environment = {**before, GATE: str(gate)}
        start_mortal(daemon, step, kills)
        daemon.environment = before
        own_program, (one_cpu, next_cpu) = build_ordered(tmp_path), two_processors()
        with (
            on_processor(one_cpu),
            ordered(daemon, workshop.program("ordered"), preload=False) as other,
            ordered(daemon, own_program) as own,
        ):
            run(daemon, workshop.program("flood"), 1)
            own.do("2")
            other.do("3")
            pid = daemon.pid
            assert pid is not None
            client = subprocess.Popen(
                [sys.executable, "-m", "vestige", "lttng", "rotate"],
                env={**os.environ, **daemon.environment},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            reached = Path(f"{gate}{REACHED}")
            wait_until(reached.exists, "the daemon waits", SECONDS)
            # There is a packet on it since the first program came, and no record yet.
            os.sched_setaffinity(other.process.pid, {next_cpu})
            other.do("5")
            gate.touch()
            wait_until(lambda: not is_running(pid), "the daemon dies", SECONDS)
            client.wait(SECONDS)
            assert daemon.start().returncode == 0
            say(daemon, "rotate")
            daemon.lttng("stop")
            other.end()
            own.end()
        say(daemon, "destroy")
    first, second, *_ = archives(output)
    assert_named(first, 5)
    assert_named(second, 5)
    # Packets of state dumps are numbered through all chunks.
    assert lost_in(output) == (0, 0)


def two_processors() -> tuple[int, int]:
    """Return two that this process may use."""
    first, second, *_ = sorted(os.sched_getaffinity(0))
    return first, second


@contextmanager
def on_processor(number: int) -> Iterator[None]:
    """Let programs that are started record to the ring of one processor."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {number})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def test_session_that_starts_after_a_kill_has_names(tmp_path: Path):
    """Programs go on in memory to which they have told their state before the kill."""
    output = tmp_path / "out"
    with daemon_for_programs() as daemon:
        begin(
            daemon,
            output,
            "enable-event -u ordered:*",
            "add-context -u -t vpid -t ip",
        )
        with ordered(daemon, build_ordered(tmp_path)) as one:
            one.do("3")
            daemon.lttng("stop")
            daemon.end(signal.SIGKILL)
            assert daemon.start().returncode == 0
            wait_for_listed(daemon, one)
            say(daemon, "rotate")
            daemon.lttng("start")
            one.do("5")
            daemon.lttng("stop")
            one.end()
        say(daemon, "destroy")
    first, second = archives(output)
    assert_named(first, 3)
    assert_named(second, 5)


def assert_named(archive: Path, count: int) -> None:
    """Compare how many steps there are, and find the function of each."""
    events = vestige.open(archive).to_arrow(["event", "debug_info"]).to_polars()
    step = events.filter(pl.col("event").cast(pl.String) == STEP)
    function = pl.col("debug_info").struct.field("func").cast(pl.String)
    names = step.select(function).to_series().to_list()
    assert len(names) == count
    assert all(name and name.startswith("emit+") for name in names)
    assert lines(archive)
