"""``vestige top`` shows what is recorded now, on terminals and to scripts."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import secrets
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from support.session_daemon import SECONDS, SessionDaemon, say, session_daemon
from support.waiting import wait_until
from vestige.cli.commands.top import SORTS
from vestige.cli.main import main
from vestige.cli.render import watched
from vestige.cli.render.watched import look_tables, size_text, text_lines
from vestige.control.watching import Counts, Look, WatchedChannel, WatchedSession
from vestige.daemon import run_paths

ALL = [sys.executable, "-m", "vestige", "top"]
COMMAND = [*ALL, "--no-recordings"]
"""Others may be recording here."""


@pytest.fixture
def home() -> Iterator[SessionDaemon]:
    """A home where no daemon runs at first."""
    with session_daemon() as daemon:
        yield daemon


@pytest.fixture
def daemon(home: SessionDaemon) -> SessionDaemon:
    """A daemon with two sessions."""
    assert home.start().returncode == 0
    say(home, "create alpha --no-output", "enable-channel -u ch")
    say(home, "create bravo --no-output", "enable-channel -u one", "start")
    return home


def top(home: SessionDaemon, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command where there is no terminal."""
    return subprocess.run(
        [*COMMAND, *words],
        env={**os.environ, **home.environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_without_a_daemon_it_says_how_to_start_one(home: SessionDaemon):
    """In one line."""
    done = top(home)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "vestige: error: no session daemon runs: 'vestige-sessiond --daemonize' starts "
        "one, and so does 'vestige lttng create'\n"
    )


def test_who_may_not_use_roots_daemon_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Not that there is none."""
    socket = tmp_path / run_paths.CLIENT_SOCKET
    monkeypatch.delenv("VESTIGE_RUNDIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LTTNG_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(run_paths, "RUN_FOLDER", str(tmp_path))
    monkeypatch.setattr(run_paths.os, "getuid", lambda: 1)
    words = ["top", "--once", "--no-recordings", "--group", "nobody-has-this"]
    for is_there, said in ((True, "'nobody-has-this'"), (False, "starts one")):
        if is_there:
            socket.touch()
        else:
            socket.unlink()
        assert main(words) == 1
        assert said in capsys.readouterr().err


def test_a_table_is_written_where_there_is_no_terminal(daemon: SessionDaemon):
    """Once, with all sessions and channels."""
    done = top(daemon, "-d", "50ms")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "sessions: 2, 1 active; programs: 0, 0 recorded; 0 events/s" in lines[0]
    assert lines[2].split()[:3] == ["SESSION", "CHANNEL", "STATE"]
    assert lines[3].split()[:5] == ["alpha", "ch", "inactive", "0", "0"]
    assert lines[4].split()[:4] == ["bravo", "one", "active", "0"]
    assert lines[-1].split() == ["PID", "USER", "TRACER", "SESSIONS", "PROGRAM"]
    assert "\x1b" not in done.stdout


def test_tables_follow_each_other(daemon: SessionDaemon):
    """As many as were asked for."""
    done = top(daemon, "--batch", "-n", "3", "-d", "50ms", "--session", "bravo")
    assert done.stdout.count("SESSION  CHANNEL") == 3
    assert "alpha" not in done.stdout
    assert top(daemon, "-n", "2", "-d", "50ms").stdout.count("alpha") == 2


def test_lines_are_objects_of_json(daemon: SessionDaemon):
    """With the numbers as they are."""
    done = top(daemon, "--json", "-n", "2", "-d", "50ms")
    looks = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(looks) == 2
    assert 0 < looks[1]["seconds"] < SECONDS
    by_name = {one["name"]: one for one in looks[1]["sessions"]}
    assert by_name["bravo"]["active"]
    (channel,) = by_name["bravo"]["channels"]
    assert channel["name"] == "one"
    assert (channel["events"], channel["events_exact"]) == (0, True)
    assert (channel["discarded_events"], channel["events_per_second"]) == (0, 0.0)
    assert looks[1]["programs"] == []
    assert len(top(daemon, "--json", "--once").stdout.splitlines()) == 1


def test_recordings_are_shown_without_a_daemon(home: SessionDaemon, tmp_path: Path):
    """As long as they go on; with a daemon, besides sessions."""
    name = f"mine-{secrets.token_hex(4)}"
    output = tmp_path / name
    command = [*ALL[:-1], "record", "-q", "-o", str(output), "--", "sleep", "1000"]
    process = subprocess.Popen(command)
    words = ("--once", "-d", "50ms", "--session", name)

    def shown(*more: str) -> str:
        return subprocess.run(
            [*ALL, *words, *more],
            env={**os.environ, **home.environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        ).stdout

    try:
        row = re.compile(rf"^{name} +- +recording +~?\d", re.MULTILINE)
        wait_until(lambda: row.search(shown()) is not None, "it is seen", SECONDS)
        (one,) = json.loads(shown("--json"))["recordings"]
        assert (one["output"], one["pid"]) == (str(output), process.pid)
        assert (one["discarded_events"], one["answering"]) == (0, True)
        assert home.start().returncode == 0
        assert "sessions: 0, 0 active; recordings: 1; programs:" in shown()
        done = top(home, "--once", "-d", "50ms", "--session", name)
        assert done.stderr == f"vestige: error: no session '{name}'\n"
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--once", "--batch"], "not allowed with argument --once"),
        (["-n", "0"], "expected a number from 1 on"),
        (["-d", "1ms"], "expected 50ms or more"),
        (["-d", "soon"], "expected a time such as"),
        (["--sort", "age"], "invalid choice: 'age'"),
    ],
)
def test_wrong_words_are_refused(home: SessionDaemon, words: list[str], said: str):
    """Before a daemon is looked for."""
    done = top(home, *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_session_that_is_not_there_is_refused(daemon: SessionDaemon):
    """Not shown as an empty table."""
    done = top(daemon, "-s", "charlie")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "vestige: error: no session 'charlie'\n"


class Terminal:
    """A terminal with the command in it."""

    def __init__(
        self,
        home: SessionDaemon,
        *words: str,
        command: Sequence[str] = COMMAND,
        **more: str,
    ) -> None:
        self.master, slave = pty.openpty()
        self.resize(30, 120)
        self.modes = termios.tcgetattr(slave)
        environment = {**os.environ, **home.environment, "TERM": "xterm", **more}
        if "NO_COLOR" not in more:
            environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *command, *words],
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        self.slave = slave
        self.said = ""

    def resize(self, lines: int, columns: int) -> None:
        """Give the terminal another size."""
        size = struct.pack("4H", lines, columns, 0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.master, keys.encode())

    def wait_for(self, pattern: str) -> str:
        """Read until something was shown since the last time; return that."""
        end = time.monotonic() + SECONDS
        while (found := re.search(pattern, self.said, re.DOTALL)) is None:
            assert time.monotonic() < end, (pattern, self.said)
            if select.select([self.master], [], [], 1)[0]:
                self.said += os.read(self.master, 1 << 16).decode()
        text, self.said = self.said[: found.end()], self.said[found.end() :]
        return text

    def shown(self, pattern: str) -> str:
        """Wait for a whole screen that ends with something, and return it."""
        end = self.wait_for(pattern + r"[^\x1b]*\x1b\[K\x1b\[J")
        return end.rpartition("\x1b[H")[2]

    def end(self) -> int:
        """Wait for the end of the command."""
        self.wait_for(re.escape("\x1b[?1049l"))
        status = self.process.wait(SECONDS)
        assert termios.tcgetattr(self.slave) == self.modes
        return status

    def close(self) -> None:
        """End all."""
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal(daemon: SessionDaemon) -> Iterator[Terminal]:
    """A terminal with the command in it, which is refreshed only by keys."""
    made = Terminal(daemon, "-d", "1m")
    made.shown("q quit")
    yield made
    made.close()


def test_keys_choose_order_and_session(terminal: Terminal):
    """And the last one ends it."""
    terminal.type("s")
    shown = terminal.shown("order: events; all sessions")
    terminal.type("\t")
    shown = terminal.shown("one session")
    assert ("alpha" in shown, "bravo" in shown) == (True, False)
    terminal.type("\t")
    shown = terminal.shown("one session")
    assert ("alpha" in shown, "bravo" in shown) == (False, True)
    terminal.type("ass")
    assert "alpha" in terminal.shown("order: lost; all sessions")
    terminal.type("q")
    assert terminal.end() == 0


def test_ctrl_c_leaves_the_terminal_as_it_was(terminal: Terminal):
    """Without a word."""
    terminal.type("\x03")
    assert terminal.end() == 0
    assert "Traceback" not in terminal.said


def test_so_does_a_signal(terminal: Terminal):
    """The status tells which."""
    terminal.process.terminate()
    assert terminal.end() == 128 + signal.SIGTERM


def test_it_stops_and_goes_on(daemon: SessionDaemon):
    """As a shell wants it: its terminal is as it was meanwhile."""
    script = f"set -m; {' '.join(COMMAND)} -d 1m; stty -a; echo paused; fg; echo ended"
    terminal = Terminal(daemon, command=["bash", "-c", script])
    terminal.shown("q quit")
    terminal.type("\x1a")
    modes = terminal.wait_for("paused")
    assert "\x1b[?1049l" in modes
    assert " icanon" in modes
    terminal.shown(re.escape("\x1b[?1049h") + ".*q quit")
    terminal.type("q")
    terminal.wait_for("ended")
    terminal.close()


def test_another_size_is_filled(terminal: Terminal):
    """At once; lines are cut, and those without room are counted."""
    terminal.resize(4, 20)
    shown = terminal.shown("q quit  s order  Tab")
    lines = re.split(r"\x1b\[K\r+\n", shown)
    assert lines[-2] == "and 5 more lines"
    assert len(lines) == 4


def test_the_daemon_may_end(daemon: SessionDaemon, terminal: Terminal):
    """That is told below what was there."""
    daemon.end()
    terminal.type(" ")
    assert terminal.end() == 1
    terminal.wait_for(r"vestige: error: .*session daemon ended")


def test_colours_can_be_forbidden(daemon: SessionDaemon):
    """By NO_COLOR; heads are bold otherwise."""
    for more, is_bold in (({}, True), ({"NO_COLOR": "1"}, False)):
        terminal = Terminal(daemon, "-d", "1m", **more)
        shown = terminal.shown("q quit")
        assert ("\x1b[1mSESSION" in shown) == is_bold
        terminal.type("q")
        assert terminal.end() == 0
        terminal.close()


def look_of(*sessions: WatchedSession, programs: object = ()) -> Look:
    """Make up what was seen."""
    return Look(0.0, 1.0, [*sessions], [*programs])


def session_of(name: str, **more: object) -> WatchedSession:
    """Make up a session with a channel."""
    counts = Counts(5, True, 100, 0, 0, 0, 4096, 0.0)._replace(**more)
    channel = WatchedChannel("ch", True, counts)
    return WatchedSession(name, os.getuid(), True, None, [channel], counts)


def test_names_do_not_steer_the_terminal():
    """Neither those of programs nor those of sessions."""
    evil = "\x1b]0;gone\x07\n\u202e" + "x" * 99
    program = {
        "pid": 0,
        "uid": 4_000_000,
        "name": evil,
        "tracer": "vestige",
        "sessions": [evil],
        "recording": f"/{evil}",
    }
    look = look_of(session_of(evil), programs=[program])
    text = [line for one in look_tables(look) for line, _ in text_lines(one)]
    assert all(line.isprintable() for line in text)
    assert "\\e]0;gone\\a\\n\\u202e" in text[1]
    assert text[3].split()[:3] == ["-", "4000000", "vestige"]


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("name", "a"),
        ("events", "c"),
        ("size", "b"),
        ("lost", "c"),
        ("buffers", "b"),
    ],
)
def test_orders_are_by_what_they_say(sort: str, first: str):
    """The largest one comes first."""
    look = look_of(
        session_of("b", bytes_per_second=9.0, fill=0.9, events_per_second=1.0),
        session_of("a", bytes_per_second=1.0, events_per_second=1.0),
        session_of("c", events_per_second=7.0, discarded_events=3),
    )
    (row, *_) = look_tables(look, sort)[0].rows
    assert row.cells[0] == first
    assert [*SORTS] == [*watched.SORTS]


def test_what_is_about_to_be_lost_is_marked():
    """As what is lost."""
    look = look_of(
        session_of("a"),
        session_of("b", fill=0.9),
        session_of("c", lost_per_second=1.0),
    )
    warnings = [row.is_warning for row in look_tables(look)[0].rows]
    assert warnings == [False, True, True]


def test_estimates_are_marked():
    """So is what nobody knows."""
    look = look_of(
        session_of("a", events=1234567, is_exact=False),
        session_of("b", events=None),
    )
    cells = [row.cells[3] for row in look_tables(look)[0].rows]
    assert cells == ["~1,234,567", "?"]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0"),
        (1023, "1023"),
        (1024, "1.0K"),
        (1536, "1.5K"),
        ((1 << 20) - 1, "1.0M"),
        (5 << 30, "5.0G"),
        (1 << 60, "1024.0P"),
    ],
)
def test_sizes_are_short(size: int, text: str):
    """Whatever they are."""
    assert size_text(size) == text


def test_a_broken_pipe_ends_it(daemon: SessionDaemon):
    """Whoever reads may have enough, as `head` has."""
    command = " ".join([*COMMAND, "--json", "-d", "50ms", "|", "head", "-n", "1"])
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, **daemon.environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["programs"] == []


def test_no_file_is_opened_for_a_look(daemon: SessionDaemon, tmp_path: Path):
    """Where there is no output; and the directory may be gone."""
    say(daemon, f"create gone --output={tmp_path / 'gone'}", "enable-channel -u ch")
    done = top(daemon, "--json", "--once", "-d", "50ms", "-s", "gone")
    (session,) = json.loads(done.stdout)["sessions"]
    assert (session["events"], session["output"]) == (0, str(tmp_path / "gone"))
