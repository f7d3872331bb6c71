"""Programs with Vestige's own tracer tell of events that triggers mean."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

import vestige
from support.own_programs import build_ordered, ordered, steps, wait_for_listed
from support.session_daemon import SECONDS, SessionDaemon, say, stopped
from support.waiting import wait_until
from vestige.daemon.client import Client

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
RULE = "--condition=event-rule-matches --type=user"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with tracepoints."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


@pytest.fixture
def daemon(daemon: SessionDaemon) -> SessionDaemon:
    """A daemon without triggers."""
    for line in daemon.lttng("list-triggers").out.splitlines():
        if line.startswith("- name: "):
            daemon.lttng("remove-trigger", line.removeprefix("- name: "))
    return daemon


@contextmanager
def listening(daemon: SessionDaemon) -> Iterator[vestige.Notifications]:
    """Have what tells of all triggers."""
    with (
        mock.patch.dict("os.environ", daemon.environment),
        vestige.notifications() as fired,
    ):
        yield fired


def heard(fired: vestige.Notifications, count: int) -> list[vestige.Notification]:
    """Return so many notifications, after which there are no more."""
    found = []
    while len(found) < count:
        one = fired.wait(SECONDS)
        assert one is not None, found
        found.append(one)
    assert fired.wait(0.0) is None
    return found


def add(daemon: SessionDaemon, name: str, *words: str, action: str = "notify") -> None:
    """Add a trigger."""
    rule = [*RULE.split(), *words, "--action", *action.split()]
    done = daemon.lttng("add-trigger", f"--name={name}", *rule)
    assert done.status == 0, done.err


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["-n", "ordered:*"], [0, 1, 2]),
        (["-n", "ordered:step", "-f", "number >= 1"], [1, 2]),
        (["-n", "ordered:*", "-x", "ordered:st*"], []),
        (["-n", "ordered:*", "-x", "ordered:line", "-f", "number == 0"], [0]),
        (["-n", "ordered:*", "-l", "INFO..", "-f", "number == 2 || !number"], [0, 2]),
        (["-n", "ordered:*", "-l", "NOTICE.."], []),
        (["-n", "ordered:step", "-l", "INFO"], [0, 1, 2]),
        (["-n", "ordered:step", "-f", "nosuch == 1"], []),
        (["-n", "ordered:step", "-f", '$ctx.procname == "nosuch"'], []),
        (["-n", "ordered:step", "-f", '$ctx.procname != "nosuch"'], [0, 1, 2]),
        (["-n", "ordered:step", "-f", "number > 1 && $ctx.vpid != 0"], [2]),
        (["-n", "ordered:step", "-f", "number > 1 || $ctx.vtid != 0"], [0, 1, 2]),
        (["-n", "ordered:step", "-f", "$ctx.vpid == 0 || number == 1"], [1]),
        (["-n", "ordered:step", "-f", "(number & 1) == 1"], [1]),
    ],
)
def test_conditions(daemon, program, conditions, expected):
    """They are looked at in the program, which registers before it begins."""
    add(daemon, "t", *conditions, "--capture=number")
    add(daemon, "end", "-n", "ordered:line")
    with listening(daemon) as fired, ordered(daemon, program) as one:
        one.do("3")
        one.do("l1")
        # The end may match the other, too.
        found = [
            each.captures["number"]
            for each in iter(lambda: fired.wait(SECONDS), None)
            if each.trigger == "t" or (each.trigger == "end" and fired.close())
        ]
    assert found[: len(expected)] == expected


def test_captures(daemon, program):
    """Numbers, texts and contexts; what is not there is none."""
    fields = ["number", "text", "$ctx.procname", "$ctx.vpid", "nosuch", "text[1]"]
    fields += ["$app.p:t", "$ctx.nosuch"]
    captures = [f"--capture={one}" for one in fields]
    add(daemon, "t", "-n", "ordered:line", "-f", "number == 3", *captures)
    with listening(daemon) as fired, ordered(daemon, program) as one:
        one.do("l5")
        (told,) = heard(fired, 1)
        assert told.captures == {
            "number": 3,
            "text": "abc",
            "$ctx.procname": "ordered",
            "$ctx.vpid": one.process.pid,
            **dict.fromkeys(("nosuch", "text[1]", "$app.p:t", "$ctx.nosuch")),
        }


def test_what_is_too_long_to_be_told(daemon, program):
    """Is none; what comes after it is there."""
    captures = ["--capture=text", "--capture=number"]
    chosen = "number == 4000 || number == 4150"
    add(daemon, "t", "-n", "ordered:line", "-f", chosen, *captures)
    with listening(daemon) as fired, ordered(daemon, program) as one:
        one.do("l4200")
        short, long = [each.captures for each in heard(fired, 2)]
    assert (len(str(short["text"])), short["number"]) == (4000, 4000)
    assert long == {"text": None, "number": 4150}


def test_a_running_program_is_told_of_other_triggers(daemon, program):
    """And what is removed is told no more."""
    with listening(daemon) as fired, ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        add(daemon, "first", "-n", "ordered:*")
        one.do("1")
        add(daemon, "second", "-n", "ordered:step", "--capture=number")
        one.do("1")
        say(daemon, "remove-trigger first")
        one.do("1")
        say(daemon, "remove-trigger second")
        one.do("1")
        names = [each.trigger for each in heard(fired, 4)]
    assert names == ["first", "first", "second", "second"]


def test_events_are_told_and_recorded(daemon, program, tmp_path):
    """Whether they are recorded at first, or a trigger starts that."""
    say(daemon, f"create s --output={tmp_path}", "enable-event -u ordered:step")
    add(
        daemon, "t", "-n", "ordered:step", "-f", "number == 2", action="start-session s"
    )
    add(daemon, "u", "-n", "ordered:step", "-f", "number == 2")
    with listening(daemon) as fired, ordered(daemon, program) as one:
        one.do("3")
        heard(fired, 1)
        wait_until(
            lambda: "[active]" in daemon.lttng("list", "s").out, "it starts", SECONDS
        )
        # The start waits a second for it; it answers one request after the other.
        wait_for_listed(daemon, one)
        one.do("5")
        heard(fired, 1)
        say(daemon, "stop s")
        assert steps(tmp_path) == {one.process.pid: 5}
    shown = daemon.lttng("list-triggers").out
    assert shown.count("total execution failures") == 0


def test_children_tell_of_themselves(daemon, program):
    """After a fork."""
    add(daemon, "t", "-n", "ordered:step", "--capture=$ctx.vpid")
    with listening(daemon) as fired, ordered(daemon, program) as one:
        one.do("1")
        # The child answers that it is there.
        one.do("fork")
        one.do("1")
        parent, child = [each.captures["$ctx.vpid"] for each in heard(fired, 2)]
        assert parent == one.process.pid
        assert child != parent


def test_nothing_waits_and_all_is_counted(daemon, program):
    """What finds no room is counted, also by a program that has ended since."""
    add(daemon, "t", "-n", "ordered:step")
    with listening(daemon) as fired, ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        with stopped(daemon):
            one.do("20000")
        one.end()
        told = 0

        def all_are_counted() -> bool:
            nonlocal told
            while fired.wait(0.0) is not None:
                told += 1
            shown = daemon.lttng("list-triggers").out
            found = re.search(r"discarded tracer messages: (\d+)", shown)
            return found is not None and told + fired.dropped + int(found[1]) == 20_000

        wait_until(all_are_counted, "all matches are counted", SECONDS)


def test_a_daemon_that_is_killed(home, program):
    """The program goes on without it, and tells the next one."""
    assert home.start().returncode == 0
    add(home, "t", "-n", "ordered:step", "--capture=number")
    with ordered(home, program) as one:
        wait_for_listed(home, one)
        home.end(signal.SIGKILL)
        one.do("3")
        assert home.start().returncode == 0
        wait_for_listed(home, one)
        with listening(home) as fired:
            one.do("2")
            assert [each.captures["number"] for each in heard(fired, 2)] == [0, 1]


def registered(daemon: SessionDaemon, name: str, **condition: object) -> None:
    """Add a trigger that notifies, for which there are no options."""
    with mock.patch.dict("os.environ", daemon.environment):
        client = Client.connect()
    values = {"name": name, "condition": condition, "action": {"type": "notify"}}
    client.register_trigger(values)
    client.close()


@pytest.mark.parametrize("scheme", ["--buffers-uid", "--buffers-pid"])
def test_full_buffers_are_told(daemon, program, tmp_path, scheme):
    """With how full they are, that they are empty again, and how much was written."""
    of = {"session": "s", "channel": "c", "domain": "UST"}
    registered(daemon, "there", **of, type="buffer-usage-high", threshold_ratio=1e-9)
    registered(daemon, "full", **of, type="buffer-usage-high", threshold_bytes=16384)
    registered(daemon, "low", **of, type="buffer-usage-low", threshold_bytes=0)
    registered(daemon, "some", **of, type="buffer-usage-high", threshold_bytes=20)
    registered(
        daemon, "size", type="session-consumed-size", session="s", threshold_bytes=100
    )
    say(
        daemon,
        f"create s --output={tmp_path}",
        f"enable-channel -u c {scheme} --subbuf-size=4k --num-subbuf=4 "
        "--monitor-timer=1000",
        "enable-event -u -c c ordered:step",
        "start",
    )
    with listening(daemon) as fired, ordered(daemon, program) as one:
        told = {}
        for trigger in ("there", "low", "some", "size"):
            if trigger == "some":
                one.do("1")
            while trigger not in told:
                now = fired.wait(SECONDS)
                assert now is not None, told
                told[now.trigger] = now.facts
    # A part of a byte is none, and nothing was needed for it.
    assert told["there"]["bytes"] < 16384
    assert "full" not in told
    assert told["low"] == {"bytes": 0, "ratio": 0}
    assert told["some"]["bytes"] >= 20
    assert told["some"]["ratio"] == told["some"]["bytes"] / 16384
    assert told["size"]["bytes"] >= 100
    say(daemon, "destroy s")


def test_what_was_full_is_empty_after_stop(daemon, program, tmp_path):
    """That is told, too, though the timer has ended."""
    of = {"session": "s", "channel": "c", "domain": "UST"}
    registered(daemon, "high", **of, type="buffer-usage-high", threshold_bytes=1)
    registered(daemon, "low", **of, type="buffer-usage-low", threshold_bytes=0)
    say(
        daemon,
        f"create s --output={tmp_path}",
        # Nothing is written by itself.
        "enable-channel -u c --switch-timer=100000000 --monitor-timer=1000",
        "enable-event -u -c c ordered:step",
        "start",
    )
    with listening(daemon) as fired, ordered(daemon, program) as one:
        one.do("1")
        told = []
        while "high" not in told:
            now = fired.wait(SECONDS)
            assert now is not None
            told.append(now.trigger)
        say(daemon, "stop s")
        now = fired.wait(SECONDS)
        assert now is not None
        assert (now.trigger, now.facts["bytes"]) == ("low", 0)
    say(daemon, "destroy s")


def test_triggers_that_come_and_go_need_little_memory(daemon, program):
    """Of a program: equal filters are the same, and rules are not kept."""
    with mock.patch.dict("os.environ", daemon.environment):
        client = Client.connect()
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)

        def changed(words: str) -> int:
            """Add triggers and remove them; return the program's memory in KiB."""
            names = [f"t{number}" for number in range(30)]
            for name in names:
                rule = ["-n", "ordered:*", "-f", f"text == '{words}{name}' && number"]
                add(daemon, name, *(word.replace("'", '"') for word in rule))
            for name in names:
                client.unregister_trigger(name)
            status = Path(f"/proc/{one.process.pid}/status").read_text()
            found = re.search(r"VmRSS:\s+(\d+) kB", status)
            assert found is not None
            return int(found[1])

        first = changed("a")
        assert changed("a") - first < 1024
        assert changed("b") - first < 2048
    client.close()
