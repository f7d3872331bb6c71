"""What ``vestige record -p`` and ``--session`` refuse, and what they say then."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.session_daemon import SECONDS, SessionDaemon, session_daemon
from vestige.cli import joining as joining_command
from vestige.cli import recording_end
from vestige.cli.main import main
from vestige.control import joining, processes


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[SessionDaemon]:
    """A home where no daemon runs, which is that of this process, too."""
    with session_daemon() as daemon:
        for name, value in daemon.environment.items():
            monkeypatch.setenv(name, value)
        yield daemon


@pytest.fixture
def sleeper() -> Iterator[int]:
    """A program without a tracer; its process ID."""
    with subprocess.Popen(["sleep", "100"]) as program:
        yield program.pid
        program.kill()


def record(capfd: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    """Return the exit status and what was said."""
    try:
        status = main(["record", *map(str, words)])
    except SystemExit as ended:
        status = int(ended.code or 0)
    return status, capfd.readouterr().err


def test_a_program_without_a_tracer_is_told_how_to_start(
    home, sleeper, capfd, monkeypatch, tmp_path
):
    """Nothing is put into it, and nothing is left of the attempt."""
    monkeypatch.setattr(joining, "SHORT_WAIT", 0.0)
    trace = tmp_path / "t"
    status, said = record(capfd, "-p", sleeper, "-o", trace)
    assert status == 125
    assert said == (
        f"vestige: error: process {sleeper} (sleep) has no tracer, and none can be put "
        "into it: start it with 'vestige record -- sleep'\n"
    )
    assert not trace.exists()
    assert home.pid is None


@pytest.mark.usefixtures("home")
def test_a_long_wait_is_told_once(sleeper, capfd, monkeypatch, tmp_path):
    """And why it may be one."""
    monkeypatch.setattr(joining, "SHORT_WAIT", 0.3)
    monkeypatch.setattr(joining, "SILENT_WAIT", 0.0)
    _, said = record(capfd, "-p", sleeper, "-o", tmp_path / "t")
    assert said.splitlines()[0] == (
        f"vestige: waiting for {sleeper} (sleep): programs of LTTng-UST that have lost "
        "a session daemon look for the next after some seconds"
    )
    assert said.count("waiting for") == 1
    monkeypatch.setattr(joining, "SHORT_WAIT", 0.0)
    monkeypatch.setattr(joining, "SILENT_WAIT", 1.0)
    assert "waiting" not in record(capfd, "-p", sleeper, "-o", tmp_path / "t")[1]


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (("-p", "1999999999"), 125, "error: no process has the ID 1999999999\n"),
        (("-p", "x"), 2, "argument -p/--pid: 'x': expected a process ID"),
        (("-p", "0"), 2, "'0': expected a process ID"),
        (("-p", "1,"), 2, "'': expected a process ID"),
        (("-p", "1", "./app"), 2, "-p: expected no program, found ./app"),
        (("-p", "1", "--libc"), 2, "-p: expected no --libc, --pthread or --dl: it is"),
        (("-p", "1", "--session", "s"), 2, "-p: expected no --session: it is for"),
        (("-p", "1", "--functions"), 2, "-p: expected no --functions"),
        (("-p", "1", "--max-size", "1M"), 2, "-p: expected no --max-size"),
        (("-p", "1", "--mode=overwrite"), 2, "-p: expected no --mode=overwrite"),
        (("-p", "1", "--mode=block=1s"), 2, "-p: expected no --mode=block=TIMEOUT"),
        (("-p", "1", "--buffer-size", "100G"), 2, "100G: expected at most 64G for"),
        (("-p", "1", "-e", "a:?"), 2, "'a:?': expected no sign but '*' in patterns"),
        (("-p", "1", "-e", "a:*", "--filter", "n >"), 2, "filter 'n >', column"),
        (("-p", "1", "-e", "a:*", "--loglevel", "LOUD"), 2, "no log level 'LOUD'"),
        (("-p", "1", "--python", "-e", "log"), 2, "--python -e log: expected a prog"),
        (("-p", "1", "-c", "bogus"), 2, "no context 'bogus'"),
        (("-p", "1", "--duration", "soon"), 2, "'soon' is no duration"),
        (("--session", "s"), 2, "the following arguments are required: PROGRAM"),
        (("--session", "s", "-e", "a:*", "./app"), 2, "--session: expected no --event"),
        (("--session", "s", "-o", "x", "./app"), 2, "--session: expected no --output"),
        (("--session", "s", "./app"), 125, "error: No session daemon is available"),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_cannot_be_is_refused(capfd, monkeypatch, tmp_path, words, status, text):
    """In one line; the place of the trace is as it was."""
    monkeypatch.chdir(tmp_path)
    assert (status, True) == ((done := record(capfd, *words))[0], text in done[1]), done
    assert list(tmp_path.iterdir()) == []


def test_a_daemon_of_lttng_is_named(home, sleeper, capfd):
    """Its process ID is in the line."""
    home.run_folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.run_folder / "client-lttng-sessiond"))
        listener.listen()
        status, said = record(capfd, "-p", sleeper)
    assert status == 125
    assert said == (
        f"vestige: error: another session daemon, process {os.getpid()}, has the "
        "programs of this user: end it, or record with its 'lttng'\n"
    )


@pytest.mark.usefixtures("home")
def test_a_directory_with_something_is_refused(sleeper, capfd, tmp_path):
    """And left as it is."""
    (tmp_path / "mine").touch()
    status, said = record(capfd, "-p", sleeper, "-o", tmp_path)
    assert status == 125
    assert "expected a new or an empty directory" in said
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


def test_a_session_that_is_not_there_is_named(home, capfd):
    """And one without channels says so."""
    home.lttng("create", "s", "--no-output")
    assert record(capfd, "--session", "t", "true") == (
        125,
        "vestige: error: session 't': Session name not found\n",
    )
    assert record(capfd, "--session", "s", "true") == (
        125,
        "vestige: error: session 's': No channel found in the session\n",
    )
    home.lttng("enable-event", "-u", "a:*")
    status, said = record(capfd, "--session", "s", "no-such-program")
    assert status == 127
    assert "no-such-program" in said
    assert "s [inactive]" in home.lttng("list").out


def test_a_process_that_has_ended_says_so(monkeypatch):
    """A zombie, and a thread."""
    child = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    with pytest.raises(
        joining.RecordError, match=rf"process {child} \(true\) has ended"
    ):
        processes.check_process(child)
    os.waitpid(child, 0)
    status = {"Name": "x", "State": "S", "Tgid": "12", "Uid": "4294967294 0 0 0"}
    monkeypatch.setattr(processes, "_status", lambda _: status)
    with pytest.raises(joining.RecordError, match=r"13 is a thread: expected .* 12"):
        processes.check_process(13)
    monkeypatch.setattr(os, "geteuid", lambda: 1)
    with pytest.raises(joining.RecordError, match="belongs to user 4294967294: only"):
        processes.check_process(12)


@pytest.mark.parametrize(
    ("maps", "environ", "folder", "text"),
    [
        ("", b"", "/r", "has no program"),
        ("/x/libvestige-tracer.so", b"", "/r", "'vestige record' that started it"),
        ("/x/liblttng-ust.so.1", b"HOME=/h\0", "/r", "daemon in /h/.lttng, and this"),
        ("/x/liblttng-ust.so.1", b"HOME=/h\0", "/h/.lttng", "has not registered"),
        ("/x/liblttng-ust.so.1", b"HOME=/h\0", "/var/run/lttng", "has not registered"),
        ("/lib/libc.so.6", b"", "/r", "has no tracer"),
    ],
)
def test_why_a_program_has_not_registered(monkeypatch, maps, environ, folder, text):
    """What would help is in the line."""
    monkeypatch.setattr(Path, "read_text", lambda *_args, **_words: maps)
    monkeypatch.setattr(Path, "read_bytes", lambda _: environ)
    assert text in processes.why_not_registered(os.getpid(), folder)


def test_a_list_says_whether_a_program_can_be_joined(home, sleeper, capfd, monkeypatch):
    """As far as a daemon knows it."""
    assert main(["list", "-p", str(sleeper)]) == 0
    assert f"{sleeper} is not registered" in capfd.readouterr().err
    monkeypatch.setattr(processes, "LTTNG_UST", "/libc.so.")
    assert main(["list", f"--pid={sleeper}"]) == 0
    assert f"'vestige record -p {sleeper}' starts one" in capfd.readouterr().err
    home.start()
    assert main(["list", f"--pid={sleeper}"]) == 0
    assert f"{sleeper} is not registered" in capfd.readouterr().err


def test_a_signal_is_noticed_by_who_waits_already():
    """Its handler runs no sooner than the wait ends.

    As where another thread has got the signal, or where it has come between the last
    look for signals and the system call.
    """
    before = signal.getsignal(signal.SIGINT)
    wakes = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(wakes)
    with joining_command.ending_signals() as ended:
        waits = threading.Event()

        def send() -> None:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
            waits.wait()
            os.kill(os.getpid(), signal.SIGINT)

        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            sender = threading.Thread(target=send)
            sender.start()
            poll = select.poll()
            poll.register(ended, select.POLLIN)
            waits.set()
            assert poll.poll(60_000) == [(ended, select.POLLIN)]
            sender.join()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        # A second one does what it did before.
        assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(wakes) == wakes


def test_signals_that_are_ignored_end_nothing():
    """And people are told of one that does."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert recording_end.how_to_end() == f"'kill {os.getpid()}'"
        with joining_command.ending_signals() as ended:
            os.kill(os.getpid(), signal.SIGINT)
            assert select.select([ended], [], [], 0)[0] == []
            os.kill(os.getpid(), signal.SIGTERM)
            assert select.select([ended], [], [], 60)[0] == [ended]
    finally:
        signal.signal(signal.SIGINT, before)
    assert recording_end.how_to_end() == "Ctrl-C"


def test_nothing_is_left_of_an_attempt_that_a_signal_ends(sleeper, tmp_path):
    """Not even the directory that the trace was to be in."""
    trace = tmp_path / "t"
    script = (
        "import os, signal, sys\n"
        "from vestige.cli import joining\n"
        "from vestige.cli.main import main\n"
        "def join(_pids, place, **_options):\n"
        "    assert os.path.isdir(place)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "joining.join = join\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    words = ["-c", script, "record", "-p", str(sleeper), "-o", str(trace)]
    done = subprocess.run([sys.executable, *words], timeout=SECONDS, check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert not trace.exists()


@pytest.mark.parametrize("words", [(), ("-p", "1", "./app"), ("-p", "app")])
def test_a_list_is_of_one_thing(capfd, words):
    """A program, or a process."""
    with pytest.raises(SystemExit) as ended:
        main(["list", *words])
    assert ended.value.code == 2
    assert "expected " in capfd.readouterr().err
