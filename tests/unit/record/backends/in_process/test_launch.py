"""Running a program: signals, files and exit status are its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from uuid import UUID

import pytest

from support.recorded import record_command
from vestige.record import record
from vestige.record.backends.in_process import backend, launch, metadata_file

SHELL = ["sh", "-c"]


def run(script, *, schedule=((1.0, lambda _: None),)):
    """Run a script of the shell."""
    return launch.run([*SHELL, script], dict(os.environ), schedule=schedule)


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 128 + 9)]
)
def test_the_status_is_the_programs(script, status):
    """A signal is told as shells tell it."""
    assert run(script) == status


def test_something_is_done_later_while_the_program_runs(tmp_path):
    """At its time, and what comes after the end never."""
    done = []

    def note(process):
        done.append(process)
        (tmp_path / "noted").touch()

    script = f"until [ -e '{tmp_path}/noted' ]; do sleep 0.01; done"
    run(script, schedule=[(0.1, note), (300, done.append)])
    run("exit 0", schedule=[(300, done.append)])

    assert len(done) == 1


def test_a_program_that_has_ended_by_then_is_not_watched(monkeypatch):
    """Its status is there, and nothing is imported to wait for it."""
    handles = []

    def see_the_end(process):
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)

    monkeypatch.setattr(os, "pidfd_open", handles.append)
    status = launch.run([*SHELL, "exit 7"], dict(os.environ), begun=see_the_end)

    assert (status, handles) == (7, [])


def test_nothing_is_done_later_without_a_handle_of_the_program(monkeypatch):
    """On an old kernel, which gives none."""
    done = []

    def refuse(process):
        raise OSError(process)

    monkeypatch.setattr(os, "pidfd_open", refuse)
    run("sleep 0.3", schedule=[(0.1, done.append)])

    assert done == []


def test_none_is_caught_while_python_forgets_its_handler(monkeypatch):
    """Python would say on standard error that it ignored it."""
    caught, real = [], launch.signals.signal

    def note(number, handler):
        if handler == signal.SIG_DFL:
            status = Path("/proc/self/status").read_text()
            mask = int(status.split("SigCgt:")[1].split()[0], 16)
            caught.append(bool(mask >> (number - 1) & 1))
        return real(number, handler)

    monkeypatch.setattr(launch.signals, "signal", note)
    assert run("exit 3") == 3
    assert caught
    assert not any(caught)


def test_a_program_that_cannot_be_started():
    """Raises, and leaves the handlers of signals as they were."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(FileNotFoundError):
        launch.run(["/nowhere/program"], {})

    assert signal.getsignal(signal.SIGTERM) is before
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_nobody_hears_of_a_program_that_cannot_be_started(monkeypatch):
    """Another thread might, and tell Python after its handler was given back."""
    numbers, real = [], launch.signals.signal

    def note(number, handler):
        numbers.append(number)
        return real(number, handler)

    monkeypatch.setattr(launch.signals, "signal", note)
    with pytest.raises(FileNotFoundError):
        launch.run(["/nowhere/program"], {})
    assert signal.SIGTERM in numbers
    assert signal.SIGCHLD not in numbers
    assert run("exit 3") == 3
    assert signal.SIGCHLD in numbers


def test_signals_of_the_terminal_are_left_to_the_program():
    """The recorder lives on and tells how it ended."""
    # The parent of the shell is this process.
    assert run("kill -INT $PPID; kill -QUIT $PPID; exit 5") == 5


@pytest.mark.parametrize("name", ["TERM", "HUP", "USR1", "USR2"])
def test_other_signals_are_passed_on(name):
    """The program takes them as if they had come to it."""
    script = f"trap 'exit 9' {name}; kill -{name} $PPID; while :; do sleep 0.05; done"
    number = signal.Signals[f"SIG{name}"]
    # The tests may run under nohup, and what is ignored stays so.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert run(script) == 9
    finally:
        signal.signal(number, before)


def test_what_is_ignored_stays_ignored():
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run("kill -HUP $$; kill -HUP $PPID; exit 4") == 4
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_handlers_are_the_programs_own():
    """What Python ignores ends it, and nothing is blocked."""
    mine = Path("/proc/self/status").read_text(encoding="ascii")
    theirs = subprocess.run(
        [sys.executable, "-c", RUN_STATUS],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ).stdout

    # The C library keeps 32 and 33 to itself.
    ignored = masks(theirs)["SigIgn"] & ~(0b11 << 31)
    assert masks(theirs)["SigBlk"] == 0
    assert ignored & ~masks(mine)["SigIgn"] == 0
    assert not ignored >> (signal.SIGPIPE - 1) & 1


RUN_STATUS = (
    "import os; from vestige.record.backends.in_process.launch import run; "
    "run(['cat', '/proc/self/status'], dict(os.environ))"
)


def masks(text):
    """Return the masks of signals in the status of a process."""
    lines = (line.partition(":") for line in text.splitlines())
    return {
        name: int(mask, 16)
        for name, _, mask in lines
        if name.startswith("Sig") and "/" not in mask
    }


def test_open_files_are_the_programs(tmp_path):
    """Those that the shell opened for it."""
    (tmp_path / "input").write_text("told\n")
    with (tmp_path / "input").open(encoding="utf-8") as file:
        number = file.fileno()
        command = record_command(tmp_path / "trace", ["cat", f"/dev/fd/{number}"], "-q")
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, pass_fds=[number]
        )

    assert (done.returncode, done.stdout) == (0, "told\n")


def test_the_clock_is_measured_again_while_the_program_runs(tmp_path, monkeypatch):
    """For a recorder that is killed later; the program does not wait for it."""
    texts = []
    write = metadata_file.metadata_head

    def note(*values, **named):
        texts.append(write(*values, **named))
        return texts[-1]

    monkeypatch.setattr(metadata_file, "metadata_head", note)
    record(["sleep", "0.1"], tmp_path / "trace")

    # At once, before it, after 20 and 50 milliseconds, and at its end.
    assert len(texts) == 5
    # Processes may have written behind it.
    assert len({len(text) for text in texts}) == 1
    frequencies = [
        int(text.partition("freq = ")[2].partition(";")[0]) for text in texts
    ]
    assert frequencies == pytest.approx([frequencies[-1]] * 5, rel=1e-3)


def test_uuids_are_random_ones():
    """Of version 4, and none like the other."""
    found = [UUID(backend._new_uuid()) for _ in range(50)]

    assert {one.version for one in found} == {4}
    assert len(set(found)) == 50


def test_what_takes_long_to_import_is_left_alone(tmp_path):
    """Many programs run for a shorter time than these modules take to load."""
    code = (
        "import os, sys; from vestige.cli.main import main; "
        f"main(['record', '-o', {str(tmp_path / 'trace')!r}, '--', 'true']); "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    slow = {"dataclasses", "inspect", "subprocess", "shutil", "tempfile", "uuid"}
    slow |= {"json", "platform", "socket", "threading", "logging", "multiprocessing"}

    assert "vestige: recorded" in done.stderr
    assert slow.isdisjoint(done.stdout.split())
    assert "vestige.graph" not in done.stdout.split()


def test_a_signal_just_after_the_end_was_for_the_program(monkeypatch):
    """Ctrl-C twice must not end who closes the trace; a later one does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr(launch, "TOO_LATE", 60.0)
        with launch.LateSignals():
            assert run("kill -INT $$") == 128 + signal.SIGINT
            signal.raise_signal(signal.SIGINT)
        monkeypatch.setattr(launch, "TOO_LATE", 0.0)
        with launch.LateSignals(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_signal_before_a_program_is_for_the_recorder(monkeypatch):
    """Nothing has begun yet, even if another program has ended just now."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(launch, "TOO_LATE", 60.0)
    try:
        assert run("true") == 0
        with launch.LateSignals(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_are_given_back_when_no_thread_is_in_them(monkeypatch):
    """One that was interrupted just then would tell Python of a signal too late."""
    running, handlers = iter([True, True, False]), []

    def is_running(_thread):
        handlers.append(signal.getsignal(signal.SIGCHLD))
        return next(running, False)

    def handler(_number, _frame):
        pass

    monkeypatch.setattr(launch, "_is_running", is_running)
    begun, ended = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (begun.set(), ended.wait()))
    thread.start()
    begun.wait()
    with launch.Handled([signal.SIGCHLD], handler):
        pass
    ended.set()
    thread.join()

    assert handlers[:3] == [handler] * 3
    assert signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL
