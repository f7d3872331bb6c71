"""Programs of LTTng-UST, as they were built, tell of events that triggers mean."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

import vestige
from support.live_sessions import SECONDS, launch, run
from support.recipes import Workshop
from support.session_daemon import SessionDaemon, say, stopped
from support.waiting import wait_until
from vestige.daemon.client import Client

pytestmark = pytest.mark.oracle
ROOT = Path(__file__).resolve().parents[2]
RULE = "--condition=event-rule-matches --type=user"
END = "end"


@pytest.fixture
def daemon(daemon: SessionDaemon) -> SessionDaemon:
    """The daemon, with a trigger that tells when a program has done all it does."""
    for line in daemon.lttng("list-triggers").out.splitlines():
        if line.startswith("- name: "):
            daemon.lttng("remove-trigger", line.removeprefix("- name: "))
    say(
        daemon,
        f"add-trigger --name={END} {RULE} --name=fields:nothing --action=notify",
    )
    return daemon


@contextmanager
def listening(daemon: SessionDaemon) -> Iterator[vestige.Notifications]:
    """Have what tells of all triggers."""
    with (
        mock.patch.dict("os.environ", daemon.environment),
        vestige.notifications() as fired,
    ):
        yield fired


def heard(
    daemon: SessionDaemon, workshop: Workshop, fired: vestige.Notifications
) -> list[vestige.Notification]:
    """Return what was told until another program came, which it lets do so."""
    run(daemon, workshop.program("fields"))
    found: list[vestige.Notification] = []
    while (one := fired.wait(SECONDS)) is not None:
        if one.trigger == END:
            return found
        found.append(one)
    pytest.fail(f"no end was told after {found}")


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["-n", "greeting:*"], ["good morning", "a", "b", "good night"]),
        (["-n", "greeting:said", "-f", 'text != "good*"'], ["a", "b"]),
        (["-n", "greeting:*", "-x", "greeting:s*"], []),
        (["-n", "greeting:*", "-x", "other:*", "-f", "number < 0"], ["good morning"]),
        (["-n", "greeting:*", "-l", "INFO..", "-f", "number == 2"], ["b"]),
        (["-n", "greeting:*", "-l", "NOTICE.."], []),
        (["-n", "greeting:*", "-l", "INFO", "-f", "number == 1"], ["a"]),
        (["-n", "greeting:*", "-l", "DEBUG"], []),
    ],
)
def test_conditions(daemon, workshop: Workshop, conditions, expected):
    """Names, exclusions, filters and levels are looked at in the program."""
    words = ["--capture=text", "--action", "notify"]
    rule = [*RULE.split(), *conditions]
    assert daemon.lttng("add-trigger", "--name", "t", *rule, *words).status == 0
    with listening(daemon) as fired:
        run(daemon, workshop.program("greeting"), "a", "b")
        told = heard(daemon, workshop, fired)
    assert [one.captures["text"] for one in told] == expected


def test_captures(daemon, workshop: Workshop):
    """Numbers, texts, arrays, elements and contexts; what is not there is none."""
    fields = ["number", "text", "$ctx.procname", "nosuch", "$app.p:t", "text[3]"]
    words = [f"--capture={one}" for one in fields]
    rule = [*RULE.split(), "-n", "greeting:*", "-f", "number == -1"]
    assert daemon.lttng("add-trigger", *rule, *words, "--action=notify").status == 0
    with listening(daemon) as fired:
        run(daemon, workshop.program("greeting"), "a")
        (one,) = heard(daemon, workshop, fired)
    nothing = dict.fromkeys(("nosuch", "$app.p:t", "text[3]"))
    number, text = {"number": -1}, {"text": "good morning"}
    name = {"$ctx.procname": "greeting"}
    assert one.captures == number | text | name | nothing
    assert (one.condition, one.dropped) == ("event-rule-matches", 0)


def captured(daemon, workshop, event, *fields):
    """Return what is captured of all events of a kind."""
    words = [f"--capture={one}" for one in fields]
    rule = [*RULE.split(), "-n", f"fields:{event}"]
    assert daemon.lttng("add-trigger", *rule, *words, "--action=notify").status == 0
    with listening(daemon) as fired:
        told = heard(daemon, workshop, fired)
    return [[*one.captures.values()] for one in told]


def test_captured_integers(daemon, workshop: Workshop):
    """At all edges."""
    found = captured(daemon, workshop, "integers", "i8", "u64", "i64", "i32")
    patterns = [0, 1, 65, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000]
    patterns += [0x0123456789ABCDEF, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]

    def signed(number, bits):
        number &= (1 << bits) - 1
        return number - (1 << bits) if number >> (bits - 1) else number

    expected = [
        [signed(one, 8), one, signed(one, 64), signed(one, 32)] for one in patterns
    ]
    assert found == expected


def test_captured_sequences(daemon, workshop: Workshop):
    """With their elements; one that is not there is none."""
    found = captured(daemon, workshop, "sequences", "words", "words[1]", "numbers[0]")
    words = [0, 0xDEADBEEF, 0xFFFFFFFF]
    assert [one[0] for one in found[:4]] == [words[:count] for count in range(4)]
    # LTTng-UST takes an index that is one too large.
    assert [one[1] for one in (found[0], found[2])] == [None, 0xDEADBEEF]
    assert [one[2] for one in found[:2]] == [None, 1]


def test_captured_strings_keep_all_their_bytes(daemon, workshop: Workshop):
    """Those that are no UTF-8, too."""
    found = [one[0] for one in captured(daemon, workshop, "strings", "text")]
    assert "grüß gott" in found
    every = bytes(range(1, 256))
    assert every in [str(one).encode(errors="surrogateescape") for one in found]


def test_captured_enumerations(daemon, workshop: Workshop):
    """Are their numbers."""
    found = captured(daemon, workshop, "enumerations", "degrees", "small_state")
    assert found[0] == [-41, 0]
    assert found[-1][0] == -2147483648


def test_programs_that_run_already(daemon, workshop: Workshop, tmp_path):
    """Are told of triggers, and that these are gone."""
    gate = tmp_path / "gate"
    say(daemon, f"add-trigger --name=first {RULE} --name=flood:* --action=notify")
    with listening(daemon) as fired:
        program = launch(daemon, workshop.program("flood"), 1, 2, 0, gate)
        first = fired.wait(SECONDS)
        assert first is not None
        assert first.trigger == "first"
        say(
            daemon,
            "remove-trigger first",
            f"add-trigger --name=second {RULE} --name=flood:* --action=notify",
        )
        gate.touch()
        second = fired.wait(SECONDS)
        assert second is not None
        assert second.trigger == "second"
        assert program.wait(SECONDS) == 0
        assert heard(daemon, workshop, fired) == []


def test_actions_are_done_in_order(daemon, workshop: Workshop, tmp_path):
    """As often as their policies say; what fails is counted."""
    say(
        daemon,
        f"create s --output={tmp_path}",
        "enable-event -u greeting:*",
        f"add-trigger --name=t {RULE} --name=greeting:* --action=start-session s "
        "--rate-policy=once-after:2 --action=notify --rate-policy=every:2 "
        "--action=stop-session nosuch",
    )
    with listening(daemon) as fired:
        run(daemon, workshop.program("greeting"), "a", "b")
        assert [one.trigger for one in heard(daemon, workshop, fired)] == ["t", "t"]
    assert "Recording session s: [active]" in daemon.lttng("list", "s").out
    shown = daemon.lttng("list-triggers").out
    lines = [one.strip() for one in shown.splitlines()]
    start = lines.index("stop session `nosuch`")
    assert lines[start + 1 : start + 3] == ["errors:", "total execution failures: 4"]
    say(daemon, "destroy s")


def test_nothing_waits_for_a_daemon_and_all_is_counted(
    daemon, workshop: Workshop, tmp_path
):
    """What the pipe has no room for, and what a reader does not read."""
    gate = tmp_path / "gate"
    say(daemon, f"add-trigger --name=t {RULE} --name=flood:* --action=notify")
    with listening(daemon) as fired:
        program = launch(daemon, workshop.program("flood"), 50_000, 2, 0, gate)
        assert fired.wait(SECONDS) is not None
        with stopped(daemon):
            gate.touch()
            # It is never waited for, and ends.
            assert program.wait(SECONDS) == 0
        told = 1

        def all_are_counted() -> bool:
            nonlocal told
            while fired.wait(0.0) is not None:
                told += 1
            shown = daemon.lttng("list-triggers").out
            found = re.search(r"discarded tracer messages: (\d+)", shown)
            assert found is not None
            assert int(found[1]) > 0
            return told + fired.dropped + int(found[1]) == 100_000

        wait_until(all_are_counted, "all matches are counted", SECONDS)


def registered(daemon: SessionDaemon, name: str, **condition: object) -> None:
    """Add a trigger that notifies, for which there are no options."""
    with mock.patch.dict("os.environ", daemon.environment):
        client = Client.connect()
    values = {"name": name, "condition": condition, "action": {"type": "notify"}}
    client.register_trigger(values)
    client.close()


def test_full_buffers_and_rotations_are_told(daemon, workshop: Workshop, tmp_path):
    """With how full they are, and where the archive is."""
    registered(
        *(daemon, "high"),
        type="buffer-usage-high",
        session="s",
        channel="c",
        domain="UST",
        threshold_ratio=0.5,
    )
    registered(
        daemon, "size", type="session-consumed-size", session="s", threshold_bytes=1
    )
    registered(daemon, "rotated", type="session-rotation-completed", session="s")
    say(
        daemon,
        f"create s --output={tmp_path}",
        # Nobody reads the buffers, so they are full, until it is rotated.
        "enable-channel -u c --subbuf-size=4k --num-subbuf=2 --read-timer=100000000 "
        "--monitor-timer=1000",
        "enable-event -u -c c flood:*",
        "start",
    )
    gate = tmp_path / "gate"
    with listening(daemon) as fired:
        program = launch(daemon, workshop.program("flood"), 100_000, 2, 0, gate)
        full = fired.wait(SECONDS)
        assert full is not None
        assert full.trigger == "high"
        assert 0.5 <= full.facts["ratio"] <= 1
        assert full.facts["bytes"] == full.facts["ratio"] * 8192
        say(daemon, "rotate s")
        told = {}
        while len(told) < 2:
            one = fired.wait(SECONDS)
            assert one is not None, told
            told[one.trigger] = one.facts
        assert told["rotated"]["location"].startswith(f"{tmp_path}/archives/")
        assert told["size"]["bytes"] >= 4096
        gate.touch()
        assert program.wait(SECONDS) == 0
    say(daemon, "destroy s")


def test_full_buffers_are_empty_after_stop(daemon, workshop: Workshop, tmp_path):
    """As LTTng tells: its timer goes on after a session was stopped."""
    of = {"session": "s", "channel": "c", "domain": "UST"}
    registered(daemon, "high", **of, type="buffer-usage-high", threshold_ratio=0.42)
    registered(daemon, "low", **of, type="buffer-usage-low", threshold_ratio=0.0)
    say(
        daemon,
        f"create s --output={tmp_path}",
        "enable-channel -u c --subbuf-size=4k --num-subbuf=2 --read-timer=100000000 "
        "--monitor-timer=1000",
        "enable-event -u -c c flood:*",
        "start",
    )
    with listening(daemon) as fired:
        run(daemon, workshop.program("flood"))
        told = []
        while "high" not in told:
            one = fired.wait(SECONDS)
            assert one is not None
            told.append(one.trigger)
        say(daemon, "stop s")
        one = fired.wait(SECONDS)
        assert one is not None
        assert one.trigger == "low"
    say(daemon, "destroy s")


def test_the_program_of_the_guide(daemon, workshop: Workshop, tmp_path):
    """Runs as it stands, whatever was captured, and ends with the daemon."""
    page = (ROOT / "docs/guide/triggers.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    program = tmp_path / "program.py"
    program.write_text(source.replace("'url'", "'text'"))
    logged = tmp_path / "logged"
    logger = tmp_path / "logger"
    logger.write_text(f'#!/bin/sh\nprintf "%s|" "$#" "$@" >> {logged}\n')
    logger.chmod(0o755)
    captures = "--capture=text --capture=$ctx.vpid --action=notify"
    say(daemon, f"add-trigger --name=slow {RULE} --name=fields:strings {captures}")
    path = f"{tmp_path}:{os.environ['PATH']}"
    process = subprocess.Popen(
        [sys.executable, program],
        env={**os.environ, **daemon.environment, "PATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        output = select.poll()
        output.register(process.stdout, select.POLLIN)

        def has_said() -> bool:
            # It may not have subscribed before.
            run(daemon, workshop.program("fields"))
            return bool(output.poll(0))

        wait_until(has_said, "it says something", SECONDS)
        run(daemon, workshop.program("fields"))
        daemon.end()
        said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert "\\udcff" in said
    assert all(
        re.fullmatch(r"slow: ['\"].*['\"], process \d+", one)
        for one in said.splitlines()
    )
    assert logged.read_text().startswith("2|--|slow: ")
    assert daemon.start().returncode == 0
