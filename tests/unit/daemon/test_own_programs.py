"""Programs with Vestige's own tracer register, and record what sessions say."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import pytest

from support.compilers import run_tool
from support.own_programs import (
    STEP,
    build_ordered,
    ordered,
    steps,
    wait_for_listed,
    wait_for_processes,
)
from support.session_daemon import SECONDS, SessionDaemon, stop_process
from support.waiting import wait_until
from vestige.daemon.model import Session
from vestige.daemon.own_programs import AllPrograms
from vestige.record.backends.registered._agreement import REGISTRATION_SOCKET, Message
from vestige.record.backends.registered.messages import encode
from vestige.record.backends.registered.programs import MOST_WARNINGS
from vestige.record.development import link_flags

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def begin(daemon: SessionDaemon, output: Path, *commands: str, name: str = "s") -> None:
    """Start a session that writes to a directory."""
    for words in (f"create {name} --output={output}", *commands, "start"):
        done = daemon.lttng(*words.split())
        assert done.status == 0, done.err


def test_a_program_is_recorded_from_its_start(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """It waits for the rules; then through several starts, into one trace."""
    begin(daemon, tmp_path, "enable-event -u ordered:*")
    with ordered(daemon, program) as one:
        one.do("1000")
        done = daemon.lttng("stop")
        assert (done.status, done.err) == (0, "")
        assert steps(tmp_path).total() == 1000
        one.do("7")
        daemon.lttng("start")
        one.do("200")
        one.do("t300")
        daemon.lttng("stop")
        assert steps(tmp_path) == {one.process.pid: 1800}
        one.end()
    daemon.lttng("destroy")
    assert steps(tmp_path).total() == 1800
    folder = tmp_path / f"ust/uid/{os.getuid()}/64-bit-vestige/channel0"
    assert (folder / "metadata").is_file()
    assert not (folder / ".arena").exists()


def test_a_running_program_joins_two_sessions_one_after_the_other(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Each has its own events, its contexts, and the names of what is loaded."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        for number, context in enumerate(("procname", "vtid", "vpid")):
            output = tmp_path / str(number)
            rule = "enable-event -u ordered:step"
            begin(daemon, output, rule, f"add-context -u -t {context}")
            one.do("100")
            one.do("t50")
            daemon.lttng("stop")
            one.do("5")
            daemon.lttng("destroy")
            one.do("5")
            assert steps(output) == {one.process.pid: 200}
            dumped = steps(output, ["lttng_ust_statedump:bin_info"])
            assert dumped[one.process.pid] > 2
        one.end()


def test_a_new_session_replaces_the_trace_in_its_directory(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """As with LTTng; but not one that another session of the daemon still has."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        for events in ("100", "20"):
            begin(daemon, tmp_path, "enable-event -u ordered:*")
            one.do(events)
            daemon.lttng("destroy")
            assert steps(tmp_path) == {one.process.pid: int(events)}
        begin(daemon, tmp_path, "enable-event -u ordered:*")
        one.do("3")
        daemon.lttng("stop")
        begin(daemon, tmp_path, "enable-event -u ordered:*", name="other")
        one.do("4")
        daemon.lttng("stop", "other")
        assert steps(tmp_path).total() == 3 + 4
        one.end()
    folder = tmp_path / f"ust/uid/{os.getuid()}/64-bit-vestige"
    assert sorted(one.name for one in folder.iterdir()) == ["channel0", "channel0-2"]


def test_rules_take_effect_at_once(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """New ones, disabled ones, levels, filters, exclusions."""
    begin(daemon, tmp_path, "enable-event -u no:event")
    with ordered(daemon, program) as one:
        one.do("10")
        daemon.lttng("enable-event", "-u", STEP, "--filter", "number<3")
        one.do("10")
        daemon.lttng("disable-event", "-u", STEP)
        one.do("10")
        daemon.lttng("enable-event", "-u", "ordered:*", "--exclude", STEP)
        one.do("10")
        daemon.lttng("enable-event", "-u", "ord*", "--loglevel=WARNING")
        one.do("10")
        daemon.lttng("enable-event", "-u", "ord*", "--loglevel=INFO")
        one.do("10")
        daemon.lttng("stop")
        one.end()
    assert steps(tmp_path).total() == 3 + 10


def test_functions_are_recorded_where_rules_name_them(
    daemon: SessionDaemon, tmp_path: Path
):
    """Fast events and verbose ones, switched while the program runs."""
    program = build_ordered(tmp_path, "-finstrument-functions")
    trace = tmp_path / "trace"
    begin(daemon, trace, "enable-event -u ordered:*")
    with ordered(daemon, program) as one:
        one.do("1")
        daemon.lttng("enable-event", "-u", "lttng_ust_cyg_profile_fast:func_entry")
        one.do("1")
        one.do("1")
        daemon.lttng("disable-event", "-u", "lttng_ust_cyg_profile_fast:func_entry")
        one.do("1")
        daemon.lttng("enable-event", "-u", "lttng_ust_cyg_profile:*")
        one.do("1")
        daemon.lttng("stop")
        one.do("1")
        one.end()
    assert steps(trace).total() == 5
    # Each calls one function of the program.
    assert steps(trace, ["lttng_ust_cyg_profile_fast:func_entry"]).total() == 2
    assert steps(trace, ["lttng_ust_cyg_profile:func_entry"]).total() == 1
    assert steps(trace, ["lttng_ust_cyg_profile:func_exit"]).total() == 1


def test_programs_are_listed_with_their_events(daemon: SessionDaemon, program: Path):
    """With levels, and with fields where these are asked for."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        listed = daemon.lttng("list", "-u").out
        assert f"PID: {one.process.pid} - Name: {program}" in listed
        assert f"{STEP} (loglevel: TRACE_INFO (6)) (type: tracepoint)" in listed
        assert "field: number (integer)" in daemon.lttng("list", "-u", "-f").out
        one.end()
    assert STEP not in daemon.lttng("list", "-u").out


def test_children_and_other_programs_are_recorded(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """After fork and exec; several at the same time; one that is killed."""
    begin(daemon, tmp_path, "enable-event -u ordered:*")
    with ordered(daemon, program) as one, ordered(daemon, program) as other:
        one.do("10")
        other.do("30")
        os.kill(other.process.pid, signal.SIGKILL)
        assert one.process.stdin is not None
        one.process.stdin.write("fork\n20\nexec\n5\n")
        one.end()
        other.process.wait(SECONDS)
        # A child of fork emits, executes itself, and emits again.
        pid, other_pid = one.process.pid, other.process.pid
    done = daemon.lttng("stop")
    assert done.err == ""
    found = steps(tmp_path)
    assert (found.pop(pid), found.pop(other_pid)) == (10, 30)
    assert [*found.values()] == [25]


def test_many_programs_that_begin_at_once_lose_nothing(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Memory for the first events of each is there, however late the daemon looks."""
    begin(daemon, tmp_path, "enable-event -u ordered:*")
    pid = daemon.pid
    assert pid is not None
    with ExitStack() as stack:
        all_of_them = [
            stack.enter_context(ordered(daemon, program)) for _ in range(150)
        ]
        wait_for_listed(daemon, *all_of_them)
        stop_process(pid)
        try:
            for one in all_of_them:
                one.do("10")
        finally:
            os.kill(pid, signal.SIGCONT)
        assert daemon.lttng("stop").err == ""
    assert [*steps(tmp_path).values()] == [10] * 150


def test_programs_wait_for_a_daemon(home: SessionDaemon, program: Path, tmp_path: Path):
    """One that runs before the daemon, and goes on when that is killed."""
    home.start()
    home.end()
    with ordered(home, program) as one:
        home.start()
        wait_for_listed(home, one)
        begin(home, tmp_path, "enable-event -u ordered:*")
        one.do("100")
        home.end(signal.SIGKILL)
        one.do("10")
        home.start()
        wait_for_listed(home, one)
        one.do("1000")
        assert home.lttng("stop").err == ""
        one.end()
    assert steps(tmp_path).total() == 1110


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld", "mold"])
def test_a_program_waits_for_the_first_daemon_that_ever_runs(
    home: SessionDaemon, tmp_path: Path, linker: str
):
    """One that links lttng-ust, and its child process; it has no tracer before."""
    if shutil.which(f"ld.{linker}") is None:
        pytest.skip(f"not installed: ld.{linker}")
    linked = build_ordered(tmp_path, f"-fuse-ld={linker}", "-llttng-ust")
    with ordered(home, linked, preload=False) as one:
        one.do("10")
        assert one.threads() == 2
        assert "libvestige" not in one.maps()
        home.start()
        wait_for_listed(home, one)
        begin(home, tmp_path / "t", "enable-event -u ordered:*")
        one.do("100")
        one.do("t100")
        assert home.lttng("stop").status == 0
        one.end()
    assert steps(tmp_path / "t") == {one.process.pid: 300}


LIBRARY = "int run(int, char **); int main(int n, char **v) { return run(n, v); }"
PLUGIN = """
#include <dlfcn.h>
int main(int count, char **words)
{
	void *plugin = dlopen(getenv("PLUGIN"), RTLD_NOW);
	return ((int (*)(int, char **)) dlsym(plugin, "run"))(count, words);
}
"""


@pytest.mark.parametrize("kind", ["library", "plugin"])
def test_tracepoints_of_libraries_begin_with_the_first_daemon(
    home: SessionDaemon, tmp_path: Path, kind: str
):
    """Of one that the program needs, which waits itself, and of one that it loads."""
    build_ordered(tmp_path, "-shared", "-fPIC", "-Dmain=run", "-llttng-ust")
    library = (tmp_path / "ordered").rename(tmp_path / "libordered.so")
    source = tmp_path / "main.c"
    source.write_text(LIBRARY if kind == "library" else f"#include <stdlib.h>{PLUGIN}")
    linked = [f"-L{tmp_path}", "-lordered", f"-Wl,-rpath,{tmp_path}"]
    if kind == "plugin":
        linked = [*link_flags(), "-llttng-ust"]
    program = tmp_path / "program"
    run_tool(["gcc", str(source), "-o", str(program), *linked])
    with ordered(
        home, program, preload=False, environment={"PLUGIN": str(library)}
    ) as one:
        one.do("10")
        assert one.threads() == 2
        home.start()
        wait_for_listed(home, one)
        begin(home, tmp_path / "t", "enable-event -u ordered:*")
        one.do("100")
        assert home.lttng("stop").status == 0
        one.end()
    assert steps(tmp_path / "t") == {one.process.pid: 100}


def test_a_child_process_waits_for_the_first_daemon(
    home: SessionDaemon, tmp_path: Path
):
    """As its parent does, which is recorded when it goes on."""
    linked = build_ordered(tmp_path, "-llttng-ust")
    with ordered(home, linked, preload=False) as one:
        one.do("fork")
        (child,) = map(int, children(one.process.pid))
        home.start()
        wait_for_processes(home, child, one.process.pid)
        begin(home, tmp_path / "t", "enable-event -u ordered:*")
        one.do("100")
        one.end()
        assert home.lttng("stop").status == 0
    assert steps(tmp_path / "t") == {child: 100}


def children(pid: int) -> list[str]:
    """Return the process IDs of the children of a process."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_a_preloaded_program_waits_for_the_first_daemon(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """Though nothing is in the run directory yet."""
    with ordered(home, program) as one:
        one.do("10")
        home.start()
        wait_for_listed(home, one)
        begin(home, tmp_path / "t", "enable-event -u ordered:*")
        one.do("100")
        home.lttng("stop")
        one.end()
    assert steps(tmp_path / "t") == {one.process.pid: 100}


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld", "mold"])
def test_programs_that_link_lttng_ust_have_no_need_of_more(
    daemon: SessionDaemon, tmp_path: Path, linker: str
):
    """An object that they link loads the tracer, whichever linker there is."""
    if shutil.which(f"ld.{linker}") is None:
        pytest.skip(f"not installed: ld.{linker}")
    linked = build_ordered(tmp_path, f"-fuse-ld={linker}", "-llttng-ust")
    trace = tmp_path / "trace"
    begin(daemon, trace, "enable-event -u ordered:*")
    with ordered(daemon, linked, preload=False) as one:
        one.do("100")
        one.do("t100")
        assert daemon.lttng("stop").status == 0
        one.end()
    assert steps(trace) == {one.process.pid: 300}


def test_a_tracer_that_others_can_write_is_not_loaded(
    daemon: SessionDaemon, tmp_path: Path
):
    """Whoever writes its path, or the tracer, could run anything in the program."""
    linked = build_ordered(tmp_path, "-llttng-ust")
    stated = daemon.run_folder / "vestige-tracer-1"
    stated.chmod(0o666)
    try:
        with ordered(daemon, linked, preload=False) as one:
            one.do("1")
            assert "libvestige" not in one.maps()
            one.end()
    finally:
        stated.chmod(0o644)
    with ordered(daemon, linked, preload=False) as one:
        one.do("1")
        assert "libvestige-tracer" in one.maps()
        one.end()


def test_programs_that_must_not_register_do_not(daemon: SessionDaemon, program: Path):
    """By their environment."""
    with ordered(daemon, program, environment={"VESTIGE_REGISTER": "0"}) as one:
        one.do("1")
        assert one.threads() == 1
        one.end()


def test_a_program_that_is_not_tracked_records_nothing(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Until it is."""
    begin(daemon, tmp_path, "enable-event -u ordered:*", "track -u --vpid=1")
    with ordered(daemon, program) as one:
        one.do("10")
        daemon.lttng("track", "-u", f"--vpid={one.process.pid}")
        one.do("20")
        daemon.lttng("untrack", "-u", f"--vpid={one.process.pid}")
        one.do("30")
        daemon.lttng("stop")
        one.end()
    assert steps(tmp_path).total() == 20


def connect(daemon: SessionDaemon) -> socket.socket:
    """Connect as a program does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(str(daemon.run_folder / "vestige-sock-1"))
    return connection


def test_hostile_programs_harm_nobody(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Such as say nothing, nonsense or too much, and as many as there can be."""
    forged = [
        b"",
        b"x",
        bytes(4000),
        encode(Message.DONE, 7),
        struct.pack("=HHIII", 1, 1, 0xFFFFFFFF, 0, 0) + bytes(48),
        encode(Message.HELLO, 0, bytes(48)),
    ]
    connections = []
    for raw in forged * 3:
        connections.append(connect(daemon))
        if raw:
            connections[-1].send(raw)
    connections += [connect(daemon) for _ in range(300)]
    begin(daemon, tmp_path, "enable-event -u ordered:*")
    for one in connections:
        one.close()
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        one.do("10")
        assert daemon.lttng("stop").status == 0
        one.end()
    assert steps(tmp_path).total() == 10


def test_a_daemon_waits_as_long_as_it_is_told(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """As for programs of LTTng-UST: for ever, or for a moment."""
    home.environment["LTTNG_APP_SOCKET_TIMEOUT"] = "-1"
    home.start()
    with ordered(home, program) as stopped, ordered(home, program) as one:
        wait_for_listed(home, stopped, one)
        stop_process(stopped.process.pid)
        begin(home, tmp_path, "enable-event -u ordered:*")
        one.do("10")
        home.end()
        home.environment["LTTNG_APP_SOCKET_TIMEOUT"] = "2"
        home.start()
        wait_for_listed(home, one)
        stop_process(one.process.pid)
        wait_until(
            lambda: "PID:" not in "".join(home.lttng("list", "-u")[1:]),
            "it is let go",
            SECONDS,
        )
        for each in (stopped, one):
            os.kill(each.process.pid, signal.SIGCONT)
            each.end()
    assert steps(tmp_path)[one.process.pid] == 10


def test_programs_that_do_not_answer_are_named(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """Nobody waits for ever for them, as the daemon does."""
    home.environment["LTTNG_APP_SOCKET_TIMEOUT"] = "-1"
    home.start()
    with ordered(home, program) as stopped, ordered(home, program) as one:
        wait_for_listed(home, stopped, one)
        begin(home, tmp_path, "enable-event -u ordered:*")
        stop_process(stopped.process.pid)
        start = f"Warning: PID: {stopped.process.pid} - Name: {program} does not answer"
        # The daemon itself tells what is loaded.
        assert home.lttng("regenerate", "statedump").err == ""
        for words in ("list -u -f", "stop"):
            done = home.lttng(*words.split())
            assert done.status == 0
            assert [line.rpartition(": ")[0] for line in done.err.splitlines()] == [
                start
            ]
        os.kill(stopped.process.pid, signal.SIGCONT)
        wait_for_listed(home, stopped, one)
        stopped.end()
        one.end()
        assert home.lttng("destroy").err == ""


def test_a_program_that_never_answers_is_let_go(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """The daemon goes on without it, and so does the program."""
    with ordered(daemon, program) as stopped, ordered(daemon, program) as one:
        wait_for_listed(daemon, stopped, one)
        stop_process(stopped.process.pid)
        begin(daemon, tmp_path, "enable-event -u ordered:*")
        one.do("10")
        assert daemon.lttng("stop").status == 0
        os.kill(stopped.process.pid, signal.SIGCONT)
        stopped.do("10")
        stopped.end()
        one.end()
    # It may have heard of the session by now; what it recorded then is of it.
    assert steps(tmp_path)[one.process.pid] == 10


def test_a_tracer_of_another_version_is_told(home: SessionDaemon):
    """Of as many programs as people may want to read of."""
    started = subprocess.Popen(
        [sys.executable, "-m", "vestige.cli.sessiond"],
        env={**os.environ, **home.environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    with started:
        listening = home.run_folder / REGISTRATION_SOCKET
        clients = home.run_folder / "client-vestige-sessiond"
        wait_until(clients.exists, "it listens", SECONDS)
        for _ in range(MOST_WARNINGS + 1):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as program:
                program.settimeout(SECONDS)
                program.connect(str(listening))
                # Of another length, too: only how it begins is the same for ever.
                program.send(encode(Message.HELLO, 0, bytes(48)))
                assert program.recv(1) == b""
        started.terminate()
        assert started.stderr is not None
        said = started.stderr.read().splitlines()
    told = [one for one in said if "another version of Vestige" in one]
    assert len(told) == MOST_WARNINGS
    assert told[0] == (
        f"Warning: process {os.getpid()} of user {os.getuid()} has the tracer of another "
        "version of Vestige: it is recorded once it is started again"
    )
    assert told[-1].endswith("; no more of these are told")


def test_what_collectors_write_to_is_taken_back_whatever_failed():
    """They go on in a directory that was moved else; and the next chunk begins."""
    programs = AllPrograms.__new__(AllPrograms)
    lttng_ust, own, move, take_back = (mock.Mock() for _ in range(4))
    lttng_ust.end_packets = mock.AsyncMock()
    own.cut.side_effect = TypeError("not foreseen")
    programs._lttng_ust, programs._own = lttng_ust, own
    session = Session("s", 0, 0, "/tmp/out")
    with pytest.raises(TypeError):
        asyncio.run(programs.rotate(session, move, take_back))
    move.assert_called_once()
    take_back.assert_called_once()
    lttng_ust.begin_chunk.assert_called_once()
    move.side_effect = OSError("full")
    with pytest.raises(OSError, match="full"):
        asyncio.run(programs.rotate(session, move, take_back))
    take_back.assert_called_once()
    lttng_ust.begin_chunk.assert_called_once()
