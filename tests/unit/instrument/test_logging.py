"""Records of logging as events."""

from __future__ import annotations

import re
import sys

import pytest

from support.python_programs import events, names, place_of, record_python, run_python

PROGRAM = """\
    import logging, sys

    def work():
        logging.warning("%d items", 5)
        logging.getLogger("app.db").setLevel(logging.INFO)
        logging.getLogger("app.db").debug("below the level")

    logging.getLogger("app.db").error("lost %s", "connection")
    logging.basicConfig(level=logging.DEBUG, format="%(levelname)s:%(name)s:%(message)s")
    work()
    logging.getLogger("late").debug("text")
    print([name for name in sys.path if "startup" in name], "sitecustomize" in sys.modules)
"""


def test_each_record_is_an_event(tmp_path):
    """With the fields of LTTng-UST's agent, at the line of the call."""
    record_python(tmp_path, PROGRAM)
    found = events(tmp_path, "lttng_python:event")
    first = found[1].payload.to_dict()

    assert list(first) == [
        "asctime", "msg", "logger_name", "funcName",
        "lineno", "int_loglevel", "thread", "threadName",
    ]  # fmt: skip
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}", first.pop("asctime"))
    assert first.pop("thread") > 0
    assert first == {
        "msg": "5 items",
        "logger_name": "root",
        "funcName": "work",
        "lineno": 4,
        "int_loglevel": 30,
        "threadName": "MainThread",
    }
    rows = [
        (event["msg"], event["logger_name"], event["int_loglevel"]) for event in found
    ]
    assert rows == [
        ("lost connection", "app.db", 40),
        ("5 items", "root", 30),
        ("text", "late", 10),
    ]
    assert [place_of(event) for event in found] == [
        "program.py:8", "program.py:4", "program.py:11",
    ]  # fmt: skip


def test_the_program_prints_the_same(tmp_path):
    """The root logger has no handler more, so that basicConfig() works."""
    alone = run_python(tmp_path, PROGRAM)
    recorded = record_python(tmp_path, PROGRAM, "-q")

    assert (recorded.stdout, recorded.stderr) == (alone.stdout, alone.stderr)
    # Whether there is a sitecustomize: the Python of some distributions brings one.
    assert alone.stdout in {"[] False\n", "[] True\n"}
    assert "DEBUG:late:text" in alone.stderr


def test_a_malformed_record_is_the_programs_matter(tmp_path):
    """Its own handlers say what is wrong."""
    code = 'import logging; logging.warning("%d", "x"); print("goes on")'
    done = record_python(tmp_path, code)

    assert done.stdout == "goes on\n"
    assert "Logging error" in done.stderr
    assert [event["msg"] for event in events(tmp_path, "lttng_python:event")] == ["%d"]


def test_a_program_may_choose_loggers_itself(tmp_path):
    """The handler records what nobody else does."""
    code = """\
        import logging
        import vestige.instrument
        logger = logging.getLogger("mine")
        logger.addHandler(vestige.instrument.logging_handler())
        logger.warning("one")
        logging.getLogger("other").warning("two")
    """
    record_python(tmp_path, code, "-e", "lttng_python:*")
    assert [e["msg"] for e in events(tmp_path, "lttng_python:event")] == ["one", "two"]


def test_the_programs_own_customization_runs(tmp_path, monkeypatch):
    """And finds the path as without a recorder."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys; sys.own = sys.path[:2]")
    monkeypatch.setenv("PYTHONPATH", str(own))
    code = "import sys; print(sys.own[0], sys.modules['sitecustomize'].__file__)"
    done = record_python(tmp_path, code, interpreter=(sys.executable,))

    assert done.stdout.split() == [str(own), str(own / "sitecustomize.py")]


@pytest.mark.parametrize("option", ["-E", "-I", "-S"])
def test_an_isolated_interpreter_is_left_alone(tmp_path, option):
    """It takes nothing from the environment: no log, but the program runs."""
    code = 'import logging; logging.warning("text")'
    done = record_python(tmp_path, code, interpreter=(sys.executable, option))

    assert done.returncode == 0
    assert "WARNING:root:text" in done.stderr
    assert "lttng_python:event" not in names(tmp_path)


def test_the_log_may_be_left_out(tmp_path):
    """When other events are asked for."""
    code = 'import logging, os; logging.warning("x"); print("startup" in os.environ.get("PYTHONPATH", ""))'
    done = record_python(tmp_path, code, "-e", "lttng_ust_cyg_profile_fast:*")

    assert done.stdout == "False\n"
    assert "lttng_python:event" not in names(tmp_path)


def test_levels_are_chosen_by_a_filter(tmp_path):
    """Those of Python are a field; the log level of the event is always the same."""
    code = """\
        import logging
        logging.warning("one")
        logging.error("two")
        logging.getLogger("db").error("three")
    """
    condition = 'int_loglevel >= 40 && logger_name != "db"'
    record_python(tmp_path, code, "-e", "lttng_python:event", "--filter", condition)

    assert [event["msg"] for event in events(tmp_path, "lttng_python:event")] == ["two"]
