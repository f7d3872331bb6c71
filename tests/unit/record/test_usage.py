"""``vestige record`` as a command: its words, its exit statuses, its terminal."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest

import vestige
from support.recorded import SECONDS, record_command, run_recorded
from support.waiting import wait_until
from vestige.errors import RecordError
from vestige.record import RecordingOptions, record
from vestige.record.backends.in_process import backend


def test_only_the_program_is_required(tmp_path):
    """It may have no arguments."""
    command = record_command(tmp_path / "trace", [])
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr.endswith(
        "the following arguments are required: PROGRAM (or --kernel, for the machine "
        "alone)\nTry 'vestige record --help'.\n"
    )


@pytest.mark.parametrize("separator", [[], ["--"]])
def test_words_after_the_program_are_its_own(tmp_path, separator):
    """Also those that look like ours."""
    words = ["-q", "--output", "x", "--", "-e", "*"]
    command = ["sh", "-c", 'printf "%s\\n" "$@"', "sh", *words]
    code = "from vestige.cli.start import entry_point; entry_point()"
    start = [sys.executable, "-c", code, "record", "-q", "-o", tmp_path / "trace"]
    done = subprocess.run(
        [*start, *separator, *command], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "\n".join([*words, ""]))


def test_programs_are_looked_up(tmp_path):
    """In the directories of PATH."""
    tool = tmp_path / "bin" / "my-tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)
    command = record_command(tmp_path / "trace", ["my-tool"])
    path = f"{tool.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )

    assert (done.returncode, done.stdout) == (0, "found\n")


@pytest.mark.parametrize(
    ("content", "mode", "status", "expected"),
    [
        (None, 0, 127, "No such file or directory"),
        ("#!/bin/sh\n", 0o644, 126, "Permission denied"),
        ("#!/nowhere/interpreter\n", 0o755, 127, "No such file or directory"),
        ("\x7fELF, or not", 0o755, 126, "Exec format error"),
    ],
)
def test_a_program_that_cannot_be_started(tmp_path, content, mode, status, expected):
    """Has the exit status that env(1) gives it, and leaves no trace."""
    program = tmp_path / "program"
    if content is not None:
        program.write_text(content)
        program.chmod(mode)
    done = run_recorded(tmp_path / "new" / "trace", [program])

    assert done.returncode == status
    assert done.stderr == f"vestige: error: {program}: cannot be started: {expected}\n"
    assert not (tmp_path / "new" / "trace").exists()


def test_a_directory_of_the_user_stays_when_nothing_is_recorded(tmp_path):
    """Empty, as it was."""
    done = run_recorded(tmp_path, ["/nowhere/program"])

    assert done.returncode == 127
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["two words", "ünï", 'a\\b"c', "two\nlines\t"])
def test_a_directory_may_have_any_name(tmp_path, name):
    """It is in the metadata."""
    trace = tmp_path / name
    run_recorded(trace, ["true"])

    opened = vestige.open(trace)
    assert len(opened.events()) > 0
    assert opened.environment["trace_name"] == name


def test_a_directory_that_no_reader_could_open_is_refused(tmp_path):
    """Readers take paths of UTF-8 text."""
    trace = tmp_path / os.fsdecode(b"\xff")
    done = run_recorded(trace, ["true"])

    assert done.returncode == 125
    assert "expected a path of UTF-8 text" in done.stderr
    assert not trace.exists()


def test_a_program_may_have_any_name(tmp_path, monkeypatch):
    """The directory that is named after it can be read."""
    program = tmp_path / os.fsdecode(b"a\xffb")
    program.symlink_to(shutil.which("true"))
    monkeypatch.setenv("VESTIGE_HOME", str(tmp_path))
    command = [*record_command(tmp_path, [])[:4], "-q", program]
    subprocess.run(command, check=True)

    (trace,) = (tmp_path / "vestige-traces").glob("[!.]*")
    assert trace.name.startswith("a?b-")


def test_a_place_that_cannot_be_looked_at(tmp_path, monkeypatch):
    """Has the exit status of all recordings that cannot begin."""
    monkeypatch.setenv("VESTIGE_HOME", str(tmp_path / ("x" * 300)))
    command = [*record_command(tmp_path, [])[:4], "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 125
    assert done.stderr.endswith(": cannot hold a trace: File name too long\n")


def test_a_place_that_is_no_directory(tmp_path):
    """It is said what it is."""
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(tmp_path / "absent")
    file.write_text("mine")
    expected = "expected a new or an empty directory"
    for place, reason in [
        (link, f", and it is a symbolic link to {tmp_path}/absent, which is not there"),
        (file, ": it, or what is above it, is a file"),
        (file / "trace", ": it, or what is above it, is a file"),
    ]:
        done = run_recorded(place, ["true"])
        assert done.returncode == 125
        assert done.stderr == f"vestige: error: {place}: {expected}{reason}\n"
    assert file.read_text() == "mine"


def test_the_exit_status_is_the_program_s_when_nothing_can_be_said(tmp_path):
    """As when the standard error is full."""
    command = record_command(tmp_path / "trace", ["sh", "-c", "exit 3"])
    with Path("/dev/full").open("w") as full:
        assert subprocess.run(command, stderr=full, check=False).returncode == 3


def test_an_error_that_cannot_be_said_has_its_exit_status(tmp_path):
    """As when the standard error is full."""
    command = record_command(tmp_path / "trace", ["/absent"])
    with Path("/dev/full").open("w") as full:
        assert subprocess.run(command, stderr=full, check=False).returncode == 127


REMOVE = 'while [ -e "$0" ]; do rm -rf "$0"; done'
"""The recorder may make files meanwhile."""


@pytest.mark.parametrize("script", [REMOVE, 'mv "$0" "$0-2"'])
def test_a_program_may_take_its_trace_away(tmp_path, script):
    """The exit status is the program's, and what happened is told."""
    trace = tmp_path / "trace"
    done = run_recorded(trace, ["sh", "-c", f"{script}; exit 3", trace])

    assert done.returncode == 3
    assert done.stderr == f"vestige: error: {trace}: it is gone\n"


@pytest.mark.parametrize("maker", ["MetadataFile", "make_refusals"])
def test_a_full_disk_at_the_beginning(tmp_path, monkeypatch, maker):
    """It is said, and nothing is left of the trace."""

    def fail(*_values, **_named):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(backend, maker, fail)
    options = RecordingOptions(events=("*:*",), max_size=1 << 20)
    with pytest.raises(RecordError, match="cannot hold a trace: No space left"):
        record(["true"], tmp_path / "trace", options)

    assert not list(tmp_path.iterdir())


def test_recordings_of_one_second_have_directories_of_their_own(tmp_path):
    """Though their names tell seconds only."""
    code = "from vestige.cli.start import entry_point; entry_point()"
    command = [sys.executable, "-c", code, "record", "-q", "true"]
    environment = {**os.environ, "VESTIGE_HOME": str(tmp_path)}
    for _ in range(4):
        subprocess.run(command, env=environment, check=True)

    names = [path.name for path in (tmp_path / "vestige-traces").glob("[!.]*")]
    assert len(names) == 4
    assert all(name.startswith("true-2") for name in names)


def test_without_a_home(tmp_path):
    """The trace goes to the current directory, and that is said."""
    code = "from vestige.cli.start import entry_point; entry_point()"
    command = [sys.executable, "-c", code, "record", "-q", "true"]
    left_out = {"HOME", "VESTIGE_HOME"}
    plain = {name: text for name, text in os.environ.items() if name not in left_out}
    done = subprocess.run(
        command, env=plain, cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert f"the trace goes to {tmp_path}/vestige-traces;" in done.stderr
    assert len([*(tmp_path / "vestige-traces").iterdir()]) == 1


def test_help_has_examples(tmp_path):
    """Of patterns, too."""
    command = [*record_command(tmp_path, [])[:4], "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "vestige record --include-function 'parse_*'" in text
    assert "127  PROGRAM is not found" in text


PROMPT = "next: "
"""Of the shell on the terminal."""


class Terminal:
    """A shell that controls jobs, on a terminal of its own."""

    def __init__(self, directory):
        """Start it."""
        environment = {**os.environ, "PS1": "", "TERM": "dumb"}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        self.process, self.file = pty.fork()
        if not self.process:
            os.chdir(directory)
            # Whoever runs the tests in the background lets them ignore Ctrl-C.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            words = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
            os.execvpe("bash", words, environment)  # noqa: S606 - a shell it is
        self.text = ""
        self.ready = select.poll()
        self.ready.register(self.file, select.POLLIN)
        self.type(f"stty -echo; PS1='{PROMPT}'; echo be'gun'")
        self.wait("begun")

    def type(self, line, end="\n"):
        """Type a line."""
        os.write(self.file, f"{line}{end}".encode())

    def wait(self, expected):
        """Read until a text has come; return all up to it."""
        until = time.monotonic() + SECONDS
        while expected not in self.text:
            rest = until - time.monotonic()
            assert rest > 0, f"{expected!r} did not come: {self.text!r}"
            if not self.ready.poll(rest * 1000):
                continue
            self.text += os.read(self.file, 4096).decode()
        before, _, self.text = self.text.partition(expected)
        return before

    def stop_and_continue_job(self):
        """Stop the job with Ctrl-Z, and have the shell continue it."""
        job = os.tcgetpgrp(self.file)
        self.type("\x1a", end="")
        self.wait("Stopped")
        self.wait(PROMPT)
        # The shell knows of the recorder alone. A program that waits for a line and is
        # not stopped yet takes the first letter of what is typed for the shell.
        wait_until(lambda: states(job) == {"T"}, "a stopped job", SECONDS)
        self.type("fg")
        wait_until(
            lambda: os.tcgetpgrp(self.file) == job and "T" not in states(job),
            "a job that goes on",
            SECONDS,
        )

    def close(self):
        """End the shell and its jobs."""
        os.close(self.file)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


@pytest.fixture
def terminal(tmp_path):
    """A shell on a terminal."""
    if not Path("/bin/bash").exists():
        pytest.skip("not installed: bash")
    one = Terminal(tmp_path)
    yield one
    one.close()


def record_line(*program):
    """Return what is typed to record a program."""
    code = "from vestige.cli.start import entry_point; entry_point()"
    start = f"{sys.executable} -c '{code}' record -q -o trace --"
    return " ".join([start, *program])


def test_the_program_has_the_terminal(terminal):
    """It reads what is typed, and knows its size."""
    terminal.type("stty rows 11 cols 77")
    terminal.type(record_line("sh -c 'stty size; read line; echo got:$line; exit 6'"))
    terminal.wait("11 77")
    terminal.type("hello")
    terminal.wait("got:hello")
    terminal.type("echo status:$?")
    terminal.wait("status:6")


def test_the_program_is_told_of_a_new_size(terminal):
    """As without us: the terminal tells the whole job."""
    script = "trap 'stty size; exit 7' WINCH; echo rea'dy'; while :; do sleep 0.1; done"
    terminal.type(record_line(f'bash -c "{script}"'))
    terminal.wait("ready")
    size = struct.pack("HHHH", 33, 44, 0, 0)
    fcntl.ioctl(terminal.file, termios.TIOCSWINSZ, size)
    terminal.wait("33 44")


def test_ctrl_c_is_for_the_program(terminal):
    """We live on, and tell how it ended."""
    script = "trap 'echo caught; exit 9' INT; echo rea'dy'; while :; do sleep 0.1; done"
    terminal.type(record_line(f'sh -c "{script}"'))
    terminal.wait("ready")
    terminal.type("\x03", end="")
    terminal.wait("caught")
    terminal.type("echo status:$?")
    terminal.wait("status:9")


def test_ctrl_c_ends_a_program_that_does_not_care(terminal):
    """The shell is told as if there were no recorder between."""
    terminal.type(record_line("sh -c 'echo ready; exec sleep 60'"))
    terminal.wait("ready")
    terminal.type("\x03", end="")
    terminal.type("echo status:$?")
    terminal.wait("status:130")


def test_ctrl_z_stops_the_job_and_the_shell_continues_it(terminal):
    """As often as it likes."""
    terminal.type(record_line("sh -c 'echo ready; read line; echo got:$line; exit 8'"))
    terminal.wait("ready")
    for _ in range(3):
        terminal.stop_and_continue_job()
    terminal.type("hello")
    terminal.wait("got:hello")
    terminal.type("echo status:$?")
    terminal.wait("status:8")


def test_a_program_that_stops_itself_is_a_stopped_job(terminal, tmp_path):
    """Otherwise the shell would wait for one that waits for the shell."""
    script = "echo first; kill -STOP $$; echo second; kill -STOP $$; exit 8\n"
    (tmp_path / "script").write_text(script)
    terminal.type(record_line("sh script"))
    for word in ("first", "second"):
        terminal.wait(word)
        terminal.wait("Stopped")
        terminal.wait(PROMPT)
        terminal.type("fg")
    terminal.type("echo status:$?")
    terminal.wait("status:8")


def test_without_a_terminal_a_stopped_program_is_waited_for(tmp_path):
    """Somebody else may continue it, who does not know of us."""
    script = "echo $$; kill -STOP $$; exit 5"
    command = record_command(tmp_path / "trace", ["sh", "-c", script], "-q")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as recorder:
        assert recorder.stdout is not None
        process = int(recorder.stdout.readline())
        wait_until(lambda: state(process) == "T", "the program is stopped", SECONDS)
        states = set()
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            states.add(state(recorder.pid))
            time.sleep(0.01)
        assert state(process) == "T"
        assert "T" not in states
        os.kill(process, signal.SIGCONT)
        assert recorder.wait(SECONDS) == 5


def states(group):
    """Return the states of all processes of a group, letters."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            words = path.read_text(errors="replace").rpartition(")")[2].split()
            if int(words[2]) == group:
                found.add(words[0])
    return found


def state(process):
    """Return the state of a process, a letter."""
    text = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    return text.rpartition(")")[2].split()[0]
