"""Programs that confine themselves by seccomp(2) while sessions record them."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, run_tool
from support.own_programs import steps, wait_for_processes
from support.session_daemon import SECONDS, SessionDaemon, say, session_daemon
from support.waiting import wait_until
from vestige.record.backends.in_process.tracer import library_path
from vestige.record.development import compile_flags, link_flags

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="only there prctl() has a stand-in"
    ),
]
EVENTS = 5000
"""Of each thread before and after: more than half of a buffer."""


def build(folder: Path, *more: str) -> Path:
    """Build the program."""
    program = folder / "confining"
    source = PROGRAMS / "confining.c"
    words = ["gcc", "-g", f"-I{PROGRAMS}", *compile_flags(), str(source), "-pthread"]
    run_tool([*words, "-o", str(program), *link_flags(), *more])
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that links lttng-ust."""
    return build(tmp_path_factory.mktemp("confining"), "-llttng-ust")


@contextmanager
def confining(
    daemon: SessionDaemon, program: Path, *words: str, **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Run the program; it is gone at the end."""
    with subprocess.Popen(
        [program, *words],
        env={**os.environ, **daemon.environment, **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def go_on(process: subprocess.Popen[str]) -> None:
    """Let it come to its next step."""
    assert process.stdin is not None
    process.stdin.write(".")
    process.stdin.flush()


def confine(process: subprocess.Popen[str]) -> None:
    """Let it confine itself."""
    assert process.stdout is not None
    go_on(process)
    assert process.stdout.readline() == "confined\n"


def begin(daemon: SessionDaemon, output: Path) -> None:
    """Start a session."""
    say(
        daemon,
        f"create --output={output} s",
        "enable-channel -u c --num-subbuf=4 --subbuf-size=64K",
        "enable-event -u -c c ordered:*",
        "start",
    )


def trace(daemon: SessionDaemon, output: Path) -> tuple[int, int]:
    """End the session; return how many events it has, and how many it says are lost."""
    done = daemon.lttng("stop")
    assert done.status == 0
    lost = sum(int(found) for found in re.findall(r"(\d+) events? w", done.err))
    recorded = steps(output).total() if list(output.rglob("metadata")) else 0
    say(daemon, "destroy")
    return recorded, lost


def end(process: subprocess.Popen[str]) -> None:
    """Let it emit the rest and end; by no signal."""
    go_on(process)
    assert process.wait(SECONDS) == 0


FILTERS = [("prctl", 0), ("number", 0), ("seccomp", 3), ("tsync", 3)]


@pytest.mark.parametrize("preload", [False, True])
@pytest.mark.parametrize(("how", "threads"), FILTERS)
def test_a_filter_of_three_calls_ends_nothing(
    daemon: SessionDaemon,
    program: Path,
    tmp_path: Path,
    how: str,
    threads: int,
    preload: bool,
):
    """The program goes on to its end; what finds no room is counted."""
    begin(daemon, tmp_path)
    more = {"LD_PRELOAD": str(library_path())} if preload else {}
    with confining(daemon, program, how, str(threads), str(EVENTS), **more) as one:
        confine(one)
        end(one)
    recorded, lost = trace(daemon, tmp_path)
    assert recorded + lost == (threads + 1) * 2 * EVENTS
    # As many as fit into one ring, however busy the machine is.
    assert recorded > EVENTS


@pytest.mark.parametrize("has_daemon", [False, True])
@pytest.mark.parametrize("preload", [False, True])
def test_a_child_that_has_the_memory_of_its_parent_confines_itself_alone(
    program: Path, tmp_path: Path, preload: bool, has_daemon: bool
):
    """As before it executes another program: the parent still joins sessions."""
    with session_daemon() as home:
        more = {"LD_PRELOAD": str(library_path())} if preload else {}
        if has_daemon:
            home.start()
        with confining(home, program, "child", "0", str(EVENTS), **more) as one:
            if has_daemon:
                wait_for_processes(home, one.pid)
            confine(one)
            if not has_daemon:
                home.start()
            wait_for_processes(home, one.pid)
            begin(home, tmp_path)
            end(one)
        assert trace(home, tmp_path) == (EVENTS, 0)


def test_what_finds_no_room_is_told(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """A confined program cannot wait for it."""
    begin(daemon, tmp_path)
    with confining(daemon, program, "seccomp", "0", "200000") as one:
        confine(one)
        end(one)
    recorded, lost = trace(daemon, tmp_path)
    assert recorded + lost == 400_000
    assert recorded > EVENTS


def test_strict_mode_ends_the_recording_of_the_thread(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """It lets nobody read the time; what comes later is lost."""
    begin(daemon, tmp_path)
    with confining(daemon, program, "strict", "0", str(EVENTS)) as one:
        confine(one)
        end(one)
    recorded, lost = trace(daemon, tmp_path)
    assert recorded == EVENTS
    assert lost == EVENTS
    # What it lost had no place in a ring, and is in the trace.
    assert not list(tmp_path.rglob(".arena"))


@pytest.mark.parametrize("preload", [False, True])
def test_a_daemon_that_begins_later_ends_nothing(
    daemon: SessionDaemon, program: Path, tmp_path: Path, preload: bool
):
    """Nobody in the program hears of it: it could not answer."""
    daemon.end()
    more = {"LD_PRELOAD": str(library_path())} if preload else {}
    with confining(daemon, program, "tsync", "2", str(EVENTS), **more) as one:
        confine(one)
        daemon.start()
        begin(daemon, tmp_path)
        end(one)
    assert trace(daemon, tmp_path) == (0, 0)


def test_a_program_that_nobody_ever_recorded_is_left_alone(
    program: Path, tmp_path: Path
):
    """It waits for the first daemon, until it confines itself."""
    with session_daemon() as fresh:
        with confining(fresh, program, "tsync", "2", str(EVENTS)) as one:
            threads = Path(f"/proc/{one.pid}/task")
            wait_until(lambda: "vestige-wait" in names(threads), "it waits", SECONDS)
            confine(one)
            assert "vestige-wait" not in names(threads)
            fresh.start()
            begin(fresh, tmp_path)
            end(one)
        assert trace(fresh, tmp_path) == (0, 0)


def names(tasks: Path) -> list[str]:
    """Return the names of threads."""
    return [(one / "comm").read_text().strip() for one in tasks.iterdir()]


def test_a_library_that_exports_nothing_else_is_told(
    daemon: SessionDaemon, tmp_path: Path
):
    """What stands in is its own, and no other object finds it."""
    folder = tmp_path / "build"
    folder.mkdir()
    script = folder / "exported"
    script.write_text("{ global: confining; local: *; };")
    library = folder / "libconfining.so"
    words = ["gcc", "-shared", "-fPIC", f"-I{PROGRAMS}", *compile_flags()]
    source = str(PROGRAMS / "confining.c")
    hidden = ["-Dmain=confining", f"-Wl,--version-script={script}"]
    linked = ["-pthread", *link_flags(), "-llttng-ust"]
    run_tool([*words, *hidden, source, "-o", str(library), *linked])
    program = folder / "program"
    text = "int confining(int, char **); int main(int c, char **w) "
    (folder / "main.c").write_text(text + "{ return confining(c, w); }")
    run_tool(["gcc", str(folder / "main.c"), "-o", str(program), str(library)])
    begin(daemon, tmp_path / "trace")
    with confining(daemon, program, "tsync", "2", str(EVENTS)) as one:
        confine(one)
        end(one)
    recorded, lost = trace(daemon, tmp_path / "trace")
    assert recorded + lost == 3 * 2 * EVENTS


LIBRARY = Path("/usr/include/seccomp.h")


@pytest.mark.skipif(not LIBRARY.is_file(), reason="not installed: libseccomp-dev")
def test_libseccomp_calls_what_stands_in(
    daemon: SessionDaemon, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    """It finds the functions of the program before those of the C library."""
    words = ("-DWITH_LIBRARY", "-Wl,--as-needed", "-llttng-ust", "-lseccomp")
    program = build(tmp_path_factory.mktemp("library"), *words)
    begin(daemon, tmp_path)
    with confining(daemon, program, "library", "0", str(EVENTS)) as one:
        confine(one)
        end(one)
    recorded, lost = trace(daemon, tmp_path)
    assert recorded + lost == 2 * EVENTS
    assert recorded > EVENTS
