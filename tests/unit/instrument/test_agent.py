"""Programs that import LTTng's agent for Python."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from support.python_programs import events, record_python, run_python
from support.recorded import record_command, run_recorded

# As in the documentation of LTTng 2.13, which runs until it is stopped.
PROGRAM = """\
    import lttngust
    import logging
    import time


    def example():
        logging.basicConfig()
        logger = logging.getLogger('my-logger')

        while True:
            logger.debug('debug message')
            logger.info('info message')
            logger.warn('warn message')
            logger.error('error message')
            logger.critical('critical message')
            time.sleep(1)


    if __name__ == '__main__':
        example()
"""
MESSAGES = [
    (10, "debug message", 11),
    (20, "info message", 12),
    (30, "warn message", 13),
    (40, "error message", 14),
    (50, "critical message", 15),
]


def record_example(tmp_path, *options):
    """Record the program, until it waits; return its events."""
    program = tmp_path / "program.py"
    stopped = textwrap.dedent(PROGRAM).replace(
        "        time.sleep(1)", "        return"
    )
    program.write_text(stopped)
    run_recorded(tmp_path / "trace", [sys.executable, str(program)], *options)
    return [event.payload.to_dict() for event in events(tmp_path, "lttng_python:event")]


def test_the_example_of_the_document_runs_as_it_stands(tmp_path):
    """It ends by a signal only: nothing of it is changed."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    command = record_command(tmp_path / "trace", [sys.executable, str(program)])
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as recorder:
        assert recorder.stderr is not None
        for line in recorder.stderr:
            if "critical message" in line:
                break
        os.killpg(recorder.pid, signal.SIGINT)
        recorder.stderr.read()
    found = [
        event.payload.to_dict() for event in events(tmp_path, "lttng_python:event")
    ]

    assert len(found) >= len(MESSAGES)
    assert [
        (one["int_loglevel"], one["msg"], one["lineno"]) for one in found[:5]
    ] == MESSAGES
    assert list(found[0]) == [
        "asctime", "msg", "logger_name", "funcName",
        "lineno", "int_loglevel", "thread", "threadName",
    ]  # fmt: skip
    assert {(one["logger_name"], one["funcName"]) for one in found} == {
        ("my-logger", "example")
    }


@pytest.mark.parametrize(
    ("options", "levels"),
    [
        (["-e", "my-logger"], [10, 20, 30, 40, 50]),
        (["-e", "my-logger", "--loglevel", "WARNING"], [30, 40, 50]),
        (["-e", "my-*", "--loglevel-only", "20"], [20]),
        (["-e", "*", "--exclude", "my-logger"], []),
        (["-e", "other,my-logger", "--filter", 'msg == "*info*"'], [20]),
        (
            [
                "-e",
                "my-logger",
                "--loglevel",
                "error",
                "-e",
                "m*",
                "--loglevel-only=10",
            ],
            [10, 40, 50],
        ),
        (["-e", "my-logge"], []),
        (["-e", r"my-\*"], []),
    ],
)
def test_loggers_are_chosen_by_name_and_by_their_own_levels(tmp_path, options, levels):
    """As lttng enable-event --python does."""
    found = record_example(tmp_path, "--python", *options)

    assert [one["int_loglevel"] for one in found] == levels


def test_the_module_is_there_in_recorded_programs_only(tmp_path):
    """Without a recorder it is missing as before."""
    code = "import sys, lttngust, logging; print(logging.root.level, sys.meta_path[0])"
    alone = run_python(tmp_path, code)
    recorded = record_python(tmp_path, code, "-q", "--functions=off")

    assert "No module named 'lttngust'" in alone.stderr
    assert recorded.stdout.startswith("0 ")
    assert "vestige" not in recorded.stdout
    assert recorded.stderr == ""


def test_other_imports_do_not_change_the_level(tmp_path):
    """The log of a program that does not ask for it stays as it is."""
    done = record_python(tmp_path, "import logging; print(logging.root.level)", "-q")

    assert done.stdout == "30\n"


@pytest.mark.parametrize("has_daemon", [True, False])
def test_the_one_of_lttng_comes_first_where_it_would_record(
    tmp_path, monkeypatch, has_daemon
):
    """It is installed, and a session daemon waits for agents."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "lttngust.py").write_text("who = 'theirs'")
    monkeypatch.setenv("PYTHONPATH", str(own))
    monkeypatch.setenv("LTTNG_UST_APP_PATH", str(tmp_path))
    with closing(socket.socket()) as daemon:
        daemon.bind(("127.0.0.1", 0))
        if has_daemon:
            daemon.listen()
        (tmp_path / "agent.port").write_text(f"{daemon.getsockname()[1]}\n")
        code = "import lttngust; print(getattr(lttngust, 'who', 'ours'))"
        done = record_python(tmp_path, code, "-q")

    assert done.stdout == ("theirs\n" if has_daemon else "ours\n")


def test_a_session_daemon_without_the_module_changes_nothing(tmp_path, monkeypatch):
    """There is only ours to import."""
    monkeypatch.setenv("LTTNG_UST_APP_PATH", str(tmp_path))
    with closing(socket.create_server(("127.0.0.1", 0))) as daemon:
        (tmp_path / "agent.port").write_text(f"{daemon.getsockname()[1]}\n")
        done = record_python(tmp_path, "import lttngust; print(lttngust.__doc__)", "-q")

    assert done.stdout.startswith("Vestige's stand-in")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-e", "my-logger"], "--python -e 'my-logger'"),
        (["--python"], "--python: expected '-e LOGGER' after it"),
        (["--python", "-e", "a", "--loglevel", "LOUD"], "no level 'LOUD' of a logger: expected a number, or one of CRITICAL"),
        (["--python", "-e", "a", "--filter", "x =="], "filter 'x ==', column 5"),
        (["--python", "-e", ""], "expected the name of a logger"),
    ],
)  # fmt: skip
def test_wrong_rules_of_loggers_are_refused(tmp_path, options, message):
    """Before the program begins."""
    done = record_python(tmp_path, "print('runs')", *options)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


TRACEBACKS = """\
    import logging

    class Bad(Exception):
        def __str__(self):
            raise RuntimeError

    def fails(error):
        raise error

    def tried(error):
        try:
            fails(error)
        except Exception:
            logging.exception("it failed")

    tried(ValueError("wrong"))
    tried(Bad())
    tried(ValueError("x" * 100_000))
    logging.error("stack", stack_info=True)
    logging.error("plain")
"""


def test_tracebacks_are_recorded_on_request(tmp_path):
    """As a formatter writes them, within bounds; the program prints the same."""
    alone = run_python(tmp_path, TRACEBACKS)
    done = record_python(tmp_path, TRACEBACKS, "-q", "--python-tracebacks")
    found = [event["traceback"] for event in events(tmp_path, "lttng_python:event")]

    assert done.stderr == alone.stderr
    first, bad, long, stack, plain = found
    assert first.startswith("Traceback (most recent call last):\n")
    assert first.endswith("ValueError: wrong")
    assert 'program.py", line 8, in fails' in first
    assert first in alone.stderr
    assert "Bad: <exception str() failed>" in bad
    assert 15_000 < len(long) < 17_000
    assert stack.startswith("Stack (most recent call last):")
    assert plain == ""


def test_without_the_request_records_are_as_those_of_lttng(tmp_path):
    """Eight fields."""
    record_python(tmp_path, TRACEBACKS, "-q")

    found = events(tmp_path, "lttng_python:event")
    assert {len(event.payload.to_dict()) for event in found} == {8}
