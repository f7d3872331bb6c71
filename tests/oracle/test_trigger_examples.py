"""What LTTng's document shows of triggers and notifications is so here.

Its programs are in ``tests/programs/control``, in other words. They are built with our headers
and with LTTng's, and run with our library.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, run_tool
from support.live_sessions import SECONDS, run
from support.own_programs import build_ordered, ordered
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, say
from support.waiting import wait_until
from vestige.record.development import native_directory, pkg_config_directory

pytestmark = pytest.mark.oracle

Build = Callable[[str], Path]
Emit = Callable[[], object]


@pytest.fixture
def daemon(daemon: SessionDaemon) -> SessionDaemon:
    """A daemon that was just started: triggers without names are not seen by commands."""
    daemon.end()
    started = daemon.start()
    assert started.returncode == 0, started.stderr
    return daemon


@pytest.fixture(params=["our headers", "LTTng's headers"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Build:
    """Build a program as the document does, with what pkg-config says."""
    environment = {**os.environ}
    if request.param == "our headers":
        environment["PKG_CONFIG_PATH"] = str(pkg_config_directory())
    elif not Path("/usr/include/lttng/lttng.h").exists():
        pytest.skip("not installed: liblttng-ctl-dev")
    if shutil.which("pkg-config") is None:
        pytest.skip("not installed: pkg-config")

    def built(name: str) -> Path:
        asked = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "lttng-ctl"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        source = PROGRAMS / "control" / f"{name}.c"
        words = ["gcc", "-o", tmp_path / name, source, "-Wno-deprecated-declarations"]
        run_tool([*words, *asked.stdout.split()])
        return tmp_path / name

    return built


@contextmanager
def listening(
    daemon: SessionDaemon, program: Path, *words: str
) -> Iterator[subprocess.Popen[str]]:
    """Run a program with our library, from when it has subscribed until the daemon's end."""
    library = str(native_directory() / "lib")
    environment = {**os.environ, **daemon.environment, "LD_LIBRARY_PATH": library}
    process = subprocess.Popen(
        [program, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "(ready)\n"
        yield process
        daemon.end()
        _, said = process.communicate(timeout=SECONDS)
        assert (process.returncode, said) == (0, "")
    finally:
        process.kill()
        process.wait()


@pytest.fixture(params=["lttng-ust", "vestige"])
def emit(
    request: pytest.FixtureRequest,
    daemon: SessionDaemon,
    workshop: Workshop,
    tmp_path: Path,
) -> tuple[str, str, Emit]:
    """A program of a tracer: a rule's name and filter, and what lets it emit three texts."""
    if request.param == "lttng-ust":
        program = workshop.program("greeting")
        words = ("one", "two", "")
        rule = ("greeting:*", "number > 0 && number < 4")
        return *rule, lambda: run(daemon, program, *words)
    own = build_ordered(tmp_path)

    def lines() -> None:
        with ordered(daemon, own) as one:
            one.do("l3")
            one.end()

    return "ordered:line", "number < 4", lines


def test_a_session_is_started_when_an_event_rule_matches(daemon, emit, tmp_path):
    """It was inactive before, and is active then."""
    name, condition, begin = emit
    say(daemon, f"create pitou --output={tmp_path / 'trace'}", "enable-event -u --all")
    rule = ["--condition=event-rule-matches", "--type=user", f"--name={name}"]
    done = daemon.lttng(
        *("add-trigger", *rule, f"--filter={condition}"),
        *("--action=start-session", "pitou"),
    )
    assert (done.status, done.out) == (0, "Added trigger `trigger0`.\n")
    listed = daemon.lttng("list-triggers").out
    assert listed.splitlines() == [
        "- name: trigger0",
        f"  owner uid: {os.getuid()}",
        "  condition: event rule matches",
        f"    rule: {name} (type: user tracepoint, filter: {condition})",
        "    errors: none",
        "  actions:",
        "    start session `pitou`",
        "      errors: none",
        "  errors: none",
    ]
    first = daemon.lttng("list", "pitou").out.splitlines()[0]
    assert first == "Recording session pitou: [inactive]"
    begin()
    active = "Recording session pitou: [active]"
    wait_until(
        lambda: daemon.lttng("list", "pitou").out.splitlines()[0] == active,
        "the session is active",
        SECONDS,
    )
    assert daemon.lttng("remove-trigger", "trigger0").status == 0
    assert daemon.lttng("list-triggers").out == ""
    say(daemon, "destroy pitou")


def test_a_program_is_told_when_an_event_rule_matches(daemon, build, emit):
    """And prints what was captured, until the daemon ends."""
    name, condition, begin = emit
    rule = ["--condition=event-rule-matches", "--type=user", f"--name={name}"]
    captures = [f"--filter={condition}", "--capture=text", "--action=notify"]
    assert (
        daemon.lttng("add-trigger", "--name=told", *rule, *captures).out
        == "Added trigger `told`.\n"
    )
    with listening(daemon, build("listener"), "told") as program:
        assert program.stdout is not None
        begin()
        texts = [program.stdout.readline() for _ in range(3)]
    assert texts[:2] in (["one\n", "two\n"], ["\n", "a\n"])


def test_a_program_is_told_when_buffers_are_full(daemon, build, workshop, tmp_path):
    """As soon as nobody takes what is in them."""
    say(
        daemon,
        f"create my-session --output={tmp_path / 'trace'}",
        "enable-channel -u channel0 --subbuf-size=4k --num-subbuf=2 "
        "--read-timer=100000000 --monitor-timer=1000",
        "enable-event -u --all",
        "start",
    )
    words = ("my-session", "channel0", "0.75")
    with listening(daemon, build("filling"), *words) as program:
        run(daemon, workshop.program("flood"))
        assert program.stdout is not None
        line = program.stdout.readline()
        say(daemon, "destroy my-session")
    expected = (
        r"Buffer usage is ([0-9.]+) % in recording session \"my-session\", "
        r"user space channel \"channel0\"\.\n"
    )
    found = re.fullmatch(expected, line)
    assert found is not None, line
    assert 75 <= float(found[1]) <= 100


def test_a_program_is_told_of_buffers_of_the_own_tracer(daemon, build, tmp_path):
    """With the channel that an event rule makes, and a threshold that is soon reached."""
    own = build_ordered(tmp_path)
    say(
        daemon,
        f"create my-session --output={tmp_path / 'trace'}",
        "enable-event --userspace --all",
        "start",
    )
    words = ("my-session", "channel0", "0.00001")
    with listening(daemon, build("filling"), *words) as program:
        assert program.stdout is not None
        with ordered(daemon, own) as one:
            one.do("1")
            line = program.stdout.readline()
            assert line.startswith("Buffer usage is 0.0"), line
        say(daemon, "destroy my-session")
