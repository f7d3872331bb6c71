"""Messages of loggers are recorded by sessions of ours as by LTTng's.

The agents are Debian's, for Python, java.util.logging and log4j; Babeltrace 2 reads what
was written.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import pytest

import vestige
from support.agents import SECONDS, java_messages, python_messages
from support.lttng import LttngEnvironment, Program
from support.peers import babeltrace
from support.session_daemon import SessionDaemon, session_daemon
from support.vestige_command import convert
from support.waiting import wait_until

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

VARYING = re.compile(
    r"^\[[^]]*\] \([^)]*\) \S+ |cpu_id = \d+|asctime = \"[^\"]*\"| thread = \d+"
    r"|vpid = \d+|(?:long_millis|timestamp) = \d+",
    re.MULTILINE,
)
"""What is not the same in two recordings."""


@pytest.fixture(scope="module")
def running() -> Iterator[SessionDaemon]:
    """A daemon where programs of its home look for one."""
    with session_daemon() as daemon:
        daemon.run_folder = daemon.home / ".lttng"
        daemon.environment["VESTIGE_RUNDIR"] = str(daemon.run_folder)
        started = daemon.start()
        assert started.returncode == 0, started.stderr
        yield daemon


@pytest.fixture
def daemon(running: SessionDaemon) -> SessionDaemon:
    """That daemon, without sessions."""
    running.lttng("destroy", "--all")
    return running


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Java programs are compiled."""
    return tmp_path_factory.mktemp("classes")


def launch(daemon: SessionDaemon, *argv: object) -> subprocess.Popen[str]:
    """Start a program that looks for the daemon in its home."""
    return subprocess.Popen(
        [*map(str, argv)],
        env={**os.environ, **daemon.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def lines(trace: Path) -> list[str]:
    """Return the events of a trace without what varies; both readers agree."""
    text = babeltrace(trace).stdout
    assert convert(trace).stdout == text
    return VARYING.sub("", text.decode()).splitlines()


def is_listed(daemon: SessionDaemon, pid: int) -> bool:
    """Tell whether a program has an agent that is brought to what sessions say."""
    shown = daemon.lttng("list", "--python", "--jul", "--log4j").out
    return f"PID: {pid} " in shown


def has_agents(lttng: LttngEnvironment) -> bool:
    """Tell whether LTTng has agents, as far as it knows."""
    words = ["lttng", "list", "--python", "--jul", "--log4j"]
    return b"PID: " in lttng.run(words, check=False).stdout


def record_twice(
    daemon: SessionDaemon,
    lttng: LttngEnvironment,
    folder: Path,
    program: Sequence[str | Path],
    commands: Sequence[str],
) -> list[str]:
    """Record a program with both; return the events, which are the same."""
    ours, theirs = folder / "ours", folder / "theirs"
    for command in (f"create s --output={ours}", *commands, "start"):
        done = daemon.lttng(*shlex.split(command))
        assert done.status == 0, done.err
    with launch(daemon, *program, "waits") as process:
        # Java's agents do not wait for the user's daemon if root's has answered.
        wait_until(
            lambda: is_listed(daemon, process.pid), "its agent is there", SECONDS
        )
        process.communicate("\n", SECONDS)
    assert process.returncode == 0
    assert daemon.lttng("stop").status == 0
    # Of an agent that has ended, LTTng may learn when it sends a rule, and refuses that.
    wait_until(lambda: not has_agents(lttng), "earlier agents are gone", SECONDS)
    lttng.run(["lttng", "create", "s", f"--output={theirs}"])
    try:
        for command in (*commands, "start"):
            lttng.run(["lttng", *shlex.split(command)])
        lttng.run_program(Program(program))
    finally:
        lttng.run(["lttng", "destroy", "s"])
    events = lines(ours)
    assert events == lines(theirs)
    return events


@pytest.mark.parametrize(
    ("commands", "count"),
    [
        (["enable-event -p -a"], 12),
        (["enable-event -p app"], 4),
        (["enable-event -p 'app*' --loglevel=WARNING"], 4),
        (["enable-event -p 'app*' --loglevel-only=PYTHON_INFO"], 2),
        (["enable-event -p 'app*' --filter='msg == \"*1\" || int_loglevel < 20'"], 5),
        (["enable-event -p app,app.sub", "disable-event -p app"], 4),
        (["enable-event -p app,app.sub --loglevel=ERROR", "enable-event -p app"], 5),
        (["enable-event -p app", "add-context -u -t vpid -t procname"], 4),
    ],
)
def test_python_messages_are_those_of_lttng(
    daemon: SessionDaemon, lttng: LttngEnvironment, tmp_path, commands, count
):
    """Chosen by logger, level and filter; each message once, and contexts with it."""
    program = python_messages()
    assert len(record_twice(daemon, lttng, tmp_path, program, commands)) == count


@pytest.mark.parametrize(
    ("program", "commands", "count"),
    [
        ("JulMessages", ["enable-event -j -a"], 12),
        (
            "JulMessages",
            [
                "enable-event -j 'app*' --loglevel=WARNING",
                "enable-event -j other --loglevel-only=JUL_INFO --filter='msg == \"i*\"'",
            ],
            5,
        ),
        ("Log4jMessages", ["enable-event -l -a"], 12),
        (
            "Log4jMessages",
            [
                "enable-event -l 'app*' --loglevel=WARN",
                "enable-event -l other --loglevel-only=LOG4J_INFO",
            ],
            5,
        ),
    ],
)
def test_java_messages_are_those_of_lttng(
    daemon: SessionDaemon,
    lttng: LttngEnvironment,
    classes: Path,
    tmp_path,
    program,
    commands,
    count,
):
    """Of java.util.logging and log4j, chosen by logger, level and filter."""
    command = java_messages(program, classes)
    assert len(record_twice(daemon, lttng, tmp_path, command, commands)) == count


def test_contexts_of_java_programs_are_those_of_lttng(
    daemon: SessionDaemon, lttng: LttngEnvironment, classes: Path, tmp_path
):
    """Numbers, texts and what is not available; filters compare them."""
    types = " ".join(
        f"-t '$app.{one}'" for one in ("mine:number", "mine:text", "mine:none", "no:x")
    )
    commands = [
        "enable-event -j app --filter='$app.mine:number == 7'",
        "enable-event -j other --filter='$app.mine:number == 8'",
        f"add-context -j {types}",
    ]
    program = java_messages("JulMessages", classes)
    events = record_twice(daemon, lttng, tmp_path, program, commands)
    assert len(events) == 4
    assert all('_app_mine_text = { "some text" }' in one for one in events)


def test_filters_see_contexts_that_are_not_recorded(
    daemon: SessionDaemon, lttng: LttngEnvironment, classes: Path, tmp_path
):
    """They need not be added to the channel."""
    commands = [
        "enable-event -j app --filter='$app.mine:number == 7'",
        "enable-event -j other --filter='$app.mine:text == \"none*\"'",
    ]
    program = java_messages("JulMessages", classes)
    events = record_twice(daemon, lttng, tmp_path, program, commands)
    assert len(events) == 4
    assert not any("_app_mine" in one for one in events)


def test_rules_take_effect_in_a_running_program(daemon: SessionDaemon, tmp_path):
    """Its loggers are listed; rules that come, go, and are loaded choose its messages."""
    with launch(daemon, *python_messages(), "waits") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert daemon.lttng("list", "--python").out == (
            "python events (Logger name):\n-------------------------\n\n"
            f"PID: {process.pid} - Name: /usr/bin/python3\n"
            '      - app\n      - app.sub\n      - a "b"*\n\n'
        )
        for command in (
            f"create s --output={tmp_path}/s",
            "enable-event -p app.sub --loglevel=ERROR",
            f"save --output-path={tmp_path}/saved",
            "destroy s",
            f"load --input-path={tmp_path}/saved",
            "start s",
            "enable-event -s s -p app",
            "enable-event -s s -p 'a \"b\"\\*' --loglevel-only=INFO",
            "disable-event -s s -p app",
        ):
            done = daemon.lttng(*shlex.split(command))
            assert done.status == 0, (command, done.err)
        process.communicate("\n", SECONDS)
    daemon.lttng("stop", "s")
    assert [re.search('msg = "(.*?)"', one)[1] for one in lines(tmp_path / "s")] == [
        "error 1",
        "info 2",
    ]


def test_agents_come_back_to_the_next_daemon(daemon: SessionDaemon):
    """It takes the port of the one that was killed."""
    program = [*python_messages(), "waits"]
    daemon.environment["LTTNG_UST_PYTHON_REGISTER_RETRY_DELAY"] = "100"
    with launch(daemon, *program) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        port = (daemon.run_folder / "agent.port").read_text()
        daemon.end(signal.SIGKILL)
        assert daemon.start().returncode == 0
        assert (daemon.run_folder / "agent.port").read_text() == port
        wait_until(lambda: is_listed(daemon, process.pid), "the agent is back", SECONDS)
        process.communicate("\n", SECONDS)


def test_messages_fire_triggers(daemon: SessionDaemon):
    """Those of a logger from a level on, without any session."""
    done = daemon.lttng(
        *("add-trigger", "--name=t", "--condition=event-rule-matches"),
        *("--type=python", "--name=app.sub", "--log-level=WARNING.."),
        *("--capture=msg", "--capture=int_loglevel", "--action=notify"),
    )
    assert done.status == 0, done.err
    with (
        mock.patch.dict(os.environ, daemon.environment),
        vestige.notifications("t") as fired,
    ):
        with launch(daemon, *python_messages()) as process:
            process.communicate(timeout=SECONDS)
        told = [fired.wait(SECONDS), fired.wait(SECONDS)]
        assert fired.wait(0.0) is None
    daemon.lttng("remove-trigger", "t")
    assert [one and one.captures for one in told] == [
        {"msg": "wärning 1", "int_loglevel": 30},
        {"msg": "error 1", "int_loglevel": 40},
    ]
