"""Python programs with tracepoints register where a session daemon has been."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import vestige
from support.own_programs import Ordered, steps, wait_for_listed, wait_for_processes
from support.session_daemon import SECONDS, SessionDaemon
from support.waiting import PATIENCE, wait_until

PROGRAM = f"""
import os, sys, time
from vestige.instrument import is_recorded, tracepoint
step = tracepoint("ordered:step", number=int)
for line in sys.stdin:
    command = line.strip()
    if command == "more":
        tracepoint("ordered:more", number=int)(number=1)
    elif command == "fork" and os.fork():
        os.wait()
        break
    elif command == "asks":
        assert not is_recorded()
    elif command == "asked":
        # A daemon lists it when its tracer begins, which is before that is loaded here.
        end = time.monotonic() + {SECONDS * PATIENCE}
        while not is_recorded() and time.monotonic() < end:
            time.sleep(0.001)
        assert is_recorded()
    elif command != "fork":
        for number in range(int(command)):
            step(number=number)
    print(line, end="", flush=True)
"""


@contextmanager
def python(home: SessionDaemon, **more: str) -> Iterator[Ordered]:
    """Run the program."""
    command = [sys.executable, "-c", PROGRAM]
    environment = {**os.environ, **home.environment, **more}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, stdin=pipe, stdout=pipe, text=True
    ) as process:
        try:
            yield Ordered(process)
        finally:
            process.kill()


def start(daemon: SessionDaemon, output: Path) -> None:
    """Start a session for its event."""
    for words in (
        f"create s --output={output}",
        "enable-event -u ordered:* --filter=number<90",
        "start",
    ):
        done = daemon.lttng(*words.split())
        assert done.status == 0, done.err


def test_a_running_python_program_is_recorded(daemon: SessionDaemon, tmp_path: Path):
    """It is listed with its tracepoints and fields, and recorded while a session is."""
    with python(daemon) as one:
        one.do("1")
        wait_for_listed(daemon, one)
        assert "ordered:step (loglevel: TRACE_" in daemon.lttng("list", "-u").out
        assert "field: number (integer)" in daemon.lttng("list", "-u", "-f").out
        start(daemon, tmp_path)
        one.do("100")
        assert daemon.lttng("stop").status == 0
        one.do("100")
        one.end()
    assert steps(tmp_path) == {one.process.pid: 90}


def test_a_python_program_is_recorded_from_its_start(
    daemon: SessionDaemon, tmp_path: Path
):
    """It waits for the rules when it imports the module."""
    start(daemon, tmp_path)
    with python(daemon) as one:
        one.do("10")
        assert daemon.lttng("stop").status == 0
        one.end()
    assert steps(tmp_path) == {one.process.pid: 10}
    values = [one["number"] for one in vestige.open(tmp_path).events("ordered:step")]
    assert values == [*range(10)]


def test_a_python_program_that_waits_is_not_recorded(home: SessionDaemon):
    """Though it has the tracer: there was a daemon before."""
    home.start()
    home.end()
    with python(home) as one:
        one.do("asks")
        assert "libvestige-tracer" in one.maps()
        home.start()
        wait_for_listed(home, one)
        one.do("asked")
        one.end()


def test_a_python_program_waits_for_the_first_daemon_that_ever_runs(
    home: SessionDaemon, tmp_path: Path
):
    """It has no tracer before; tracepoints that it makes later are recorded, too."""
    with python(home) as one:
        one.do("10")
        assert one.threads() == 2
        assert "libvestige-tracer" not in one.maps()
        home.start()
        wait_for_listed(home, one)
        one.do("asked")
        wait_until(
            lambda: "field: number (integer)" in home.lttng("list", "-u", "-f").out,
            "it has its tracepoints",
            SECONDS,
        )
        start(home, tmp_path)
        one.do("100")
        one.do("more")
        one.do("50")
        assert home.lttng("stop").status == 0
        one.end()
    assert steps(tmp_path) == {one.process.pid: 90 + 50}
    assert steps(tmp_path, ["ordered:more"]) == {one.process.pid: 1}


def test_a_child_of_a_python_program_waits_for_the_first_daemon(
    home: SessionDaemon, tmp_path: Path
):
    """As its parent does."""
    with python(home) as one:
        one.do("1")
        one.do("fork")
        task = Path(f"/proc/{one.process.pid}/task/{one.process.pid}")
        child = int((task / "children").read_text())
        home.start()
        wait_for_processes(home, child, one.process.pid)
        one.do("asked")
        start(home, tmp_path)
        one.do("10")
        assert home.lttng("stop").status == 0
        one.end()
    assert steps(tmp_path) == {child: 10}


def test_a_python_program_asks_whether_it_is_recorded(home: SessionDaemon):
    """The answer is another one when the tracer is there that a daemon brings."""
    with python(home) as one:
        one.do("asks")
        home.start()
        wait_for_listed(home, one)
        one.do("asked")
        one.end()


def test_nothing_is_loaded_where_registering_is_forbidden(home: SessionDaemon):
    """With a daemon and without."""
    for _ in range(2):
        with python(home, VESTIGE_REGISTER="0") as one:
            one.do("10")
            assert one.threads() == 1
            assert "libvestige-tracer" not in one.maps()
            one.end()
        home.start()
