"""Counters, and contexts that programs register, in channels of sessions."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import vestige
from support.instrumented import Sources
from support.own_programs import STEP, build_ordered, ordered, wait_for_listed
from support.recorded import record_command
from support.session_daemon import SECONDS, SessionDaemon, say
from vestige.record.rules.contexts import context_field

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

NUMBERS = [-1, *range(12)]
HALVES = [{}, *(number / 2 for number in range(12))]
USERS = [{}, *(["ada", "bob", "(null)"] * 4)]
MOST_COUNTERS = 8


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that registers contexts after its first event."""
    sources = Sources(tmp_path_factory.mktemp("registered"))
    return Path(sources.build("registered", "registered.c"))


def run(daemon: SessionDaemon, program: Path) -> None:
    """Let a program run that registers with the daemon."""
    command = [str(program)]
    subprocess.run(command, env=daemon.environment, check=True, timeout=SECONDS)


def events(output: Path, channel: str, name: str) -> list[vestige.Event]:
    """Return the events of a name in a channel."""
    trace = output / f"ust/uid/{os.getuid()}/64-bit-vestige/{channel}"
    opened = vestige.open(trace, debug_info=False)
    found = [*opened.events(name)]
    assert not opened.damage
    return found


def test_channels_have_contexts_of_their_own(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Some of both, in another order, with counters before them or none."""
    first = (
        "-t $app.shop:user -t perf:thread:cs -t $app.shop:half -t perf:thread:faults"
    )
    second = "-t perf:thread:faults -t procname -t $app.shop:half -t $app.shop:user"
    say(
        daemon,
        f"create s --output={tmp_path}",
        *(f"enable-channel -u {one}" for one in ("a", "b", "c", "d")),
        *(f"enable-event -u -c {one} registered:*" for one in ("a", "b", "c", "d")),
        f"add-context -u -c a {first}",
        f"add-context -u -c b {second}",
        f"add-context -u -c d {second}",
        "start",
    )
    run(daemon, program)
    say(daemon, "destroy")
    for channel in ("a", "b", "d"):
        found = events(tmp_path, channel, "registered:*")
        assert [one.payload["number"] for one in found] == NUMBERS
        assert [one["_app_shop_user"] for one in found] == USERS
        assert [one["_app_shop_half"] for one in found] == HALVES
        faults = [one["perf_thread_faults"] for one in found]
        assert 0 < faults[0] <= faults[-1] < 100_000
        assert faults == sorted(faults)
    plain = events(tmp_path, "c", "registered:*")
    assert [one.payload["number"] for one in plain] == NUMBERS
    assert list(plain[0].context) == ["vpid", "vtid"]
    assert "perf_thread_cs" in events(tmp_path, "a", "registered:*")[0].context
    assert "procname" in events(tmp_path, "b", "registered:*")[0].context


def test_a_session_that_overwrites_has_them(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Its records are in rings of threads."""
    say(
        daemon,
        f"create s --output={tmp_path}",
        "enable-channel -u c --overwrite",
        "enable-event -u -c c registered:*",
        "add-context -u -c c -t perf:thread:task-clock -t $app.shop:number",
        "start",
    )
    run(daemon, program)
    say(daemon, "destroy")
    found = events(tmp_path, "c", "registered:*")
    assert [one["_app_shop_number"] for one in found] == [{}, *range(12)]
    clocks = [one["perf_thread_task_clock"] for one in found]
    assert clocks[0] > 0
    assert clocks == sorted(clocks)


def test_what_cannot_be_had_is_left_out(daemon: SessionDaemon, tmp_path: Path):
    """The others are recorded: counters beyond the eighth, those that nobody has."""
    kernel = "page-fault faults major-faults minor-faults context-switches cs cpu-clock"
    names = [*kernel.split(), "migrations", "task-clock"]
    program = build_ordered(tmp_path)
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        say(
            daemon,
            f"create s --output={tmp_path}",
            f"enable-event -u {STEP}",
            *(f"add-context -u -t perf:thread:{name}" for name in names),
            "add-context -u -t perf:thread:raw:rffff:odd -t $app.no:thing",
            "start",
        )
        one.do("t10")
        one.end()
    say(daemon, "destroy")
    found = events(tmp_path, "channel0", STEP)
    expected = [name.replace("-", "_") for name in names if name != "migrations"]
    counters = [f"perf_thread_{name}" for name in expected]
    assert len(counters) == MOST_COUNTERS
    fields = ["_app_no_thing_tag", "_app_no_thing"]
    assert list(found[0].context) == ["vpid", "vtid", *counters, *fields]
    assert len(found) == 20
    for event in found:
        assert event["perf_thread_faults"] == event["perf_thread_page_fault"]
        assert event["_app_no_thing"] == {}


def test_a_counter_by_its_number_has_the_field_of_lttng(tmp_path: Path):
    """That is its name, whatever the number."""
    assert context_field("perf:thread:raw:r1a:my_count") == "perf_thread_my_count"
    names = "perf:thread:raw:r1:one,perf:thread:raw:r2:one"
    command = record_command(tmp_path / "trace", ["true"], "-c", names)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "would be the same field, perf_thread_one" in done.stderr
