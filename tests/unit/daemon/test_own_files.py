"""The files that channels of programs with Vestige's own tracer write, and when."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import vestige
from support.lttng_index import indexed_packets, packets_of
from support.own_programs import (
    STEP,
    Ordered,
    build_ordered,
    ordered,
    steps,
    wait_for_listed,
)
from support.session_daemon import SECONDS, SessionDaemon, say
from support.waiting import wait_until

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
MANY = 20_000
SIZE = 16384
CHANNEL = (
    f"enable-channel -u c --subbuf-size=4k --num-subbuf=64 --tracefile-size={SIZE}"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def begin(daemon: SessionDaemon, output: Path, channel: str) -> None:
    """Start a session that writes to a directory, with a channel."""
    say(
        daemon,
        f"create --output={output} s",
        channel,
        f"enable-event -u -c c {STEP}",
        "start",
    )


def folder_of(output: Path) -> Path:
    """Return the directory of the channel's trace."""
    return output / f"ust/uid/{os.getuid()}/64-bit-vestige/c"


def numbers(output: Path) -> list[int]:
    """Return what the steps of a trace have counted, in order."""
    events = vestige.open(output)
    return [one.payload["number"] for one in events if one.name == STEP]


def files_of(output: Path, cpu: int | None = None) -> list[Path]:
    """Return the data stream files of a CPU, or of all."""
    number = r"\d+" if cpu is None else cpu
    found = re.compile(rf"c_{number}(_\d+)?")
    return [one for one in folder_of(output).iterdir() if found.fullmatch(one.name)]


def stay_on_one_cpu(program: Ordered) -> int:
    """Let the first thread of a program stay on one CPU; return its number."""
    cpu = min(os.sched_getaffinity(program.process.pid))
    os.sched_setaffinity(program.process.pid, {cpu})
    return cpu


def test_streams_go_on_in_other_files(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """None is longer than the channel says, and all events are there."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, f"{CHANNEL} --blocking-timeout=inf")
        for _ in range(10):
            one.do(f"{MANY // 10}")
        say(daemon, "stop")
        one.end()
    lost = daemon.lttng("list", "s").out
    files = files_of(tmp_path)
    numbers_of: dict[str, list[int]] = {}
    for stream, _, number in (one.name.rpartition("_") for one in files):
        numbers_of.setdefault(stream, []).append(int(number))
    assert max(map(len, numbers_of.values())) > 1
    for found_numbers in numbers_of.values():
        assert sorted(found_numbers) == [*range(len(found_numbers))]
    assert max(one.stat().st_size for one in files) <= SIZE
    for one_file in files:
        assert indexed_packets(one_file) == packets_of(one_file)
    found = re.search(r"Discarded events: (\d+)", lost)
    assert found is not None
    assert len(numbers(tmp_path)) + int(found[1]) == MANY


def test_the_newest_files_stay(daemon: SessionDaemon, program: Path, tmp_path: Path):
    """Of what was recorded on a CPU, the end is there, without a gap."""
    blocking = {"LTTNG_UST_ALLOW_BLOCKING": "1"}
    with ordered(daemon, program, environment=blocking) as one:
        wait_for_listed(daemon, one)
        cpu = stay_on_one_cpu(one)
        channel = f"{CHANNEL} --tracefile-count=3 --blocking-timeout=inf"
        begin(daemon, tmp_path, channel)
        one.do(f"{MANY}")
        say(daemon, "stop")
        first = numbers(tmp_path)
        say(daemon, "start")
        one.do("5")
        say(daemon, "destroy")
        one.end()
    assert first == [*range(MANY - len(first), MANY)]
    assert 0 < len(first) < MANY
    files = files_of(tmp_path, cpu)
    assert {one.name[-2:] for one in files} == {"_0", "_1", "_2"}
    assert sum(one.stat().st_size for one in files) <= 3 * SIZE
    indexes = [*(folder_of(tmp_path) / "index").iterdir()]
    assert {one.name for one in files} <= {one.stem for one in indexes}
    for one_file in (folder_of(tmp_path) / one.stem for one in indexes):
        assert indexed_packets(one_file) == packets_of(one_file)
    # Those that came after the stop go on in the same files.
    assert numbers(tmp_path)[-5:] == [*range(5)]


@pytest.mark.skipif(
    shutil.which("babeltrace2") is None, reason="not installed: babeltrace2"
)
def test_babeltrace2_reads_what_is_left(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """It counts the same events, and complains of nothing."""
    blocking = {"LTTNG_UST_ALLOW_BLOCKING": "1"}
    with ordered(daemon, program, environment=blocking) as one:
        wait_for_listed(daemon, one)
        channel = f"{CHANNEL} --tracefile-count=2 --blocking-timeout=inf"
        begin(daemon, tmp_path, channel)
        one.do(f"{MANY}")
        say(daemon, "destroy")
        one.end()
    done = subprocess.run(
        ["babeltrace2", tmp_path], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout.count(STEP) == steps(tmp_path).total() > 0


def test_a_trace_is_read_while_it_grows(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """The switch timer writes what fills no sub-buffer."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, "enable-channel -u c --switch-timer=20000")
        for round_number in range(1, 6):
            one.do("1")
            wait_until(
                lambda expected=round_number: steps(tmp_path).total() == expected,  # type: ignore[misc]
                "it is written",
                SECONDS,
            )
        say(daemon, "destroy")
        one.end()


def test_full_sub_buffers_are_read_after_a_time(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """With a read timer, programs tell of none; nothing is lost that has room."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        channel = "enable-channel -u c --subbuf-size=4k --num-subbuf=4096"
        begin(daemon, tmp_path, f"{channel} --read-timer=10000")
        one.do(f"{MANY}")
        wait_until(
            lambda: bool(files_of(tmp_path)) and steps(tmp_path).total() > MANY / 2,
            "full ones are read",
            SECONDS,
        )
        say(daemon, "destroy")
        one.end()
    assert steps(tmp_path).total() == MANY


def test_a_name_that_is_too_long_for_files_names_none(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """As the name of a directory it may be as long as that of a file."""
    name = "n" * 250
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        say(
            daemon,
            f"create --output={tmp_path} s",
            f"enable-channel -u {name}",
            f"enable-event -u -c {name} {STEP}",
            "start",
        )
        cpu = stay_on_one_cpu(one)
        one.do("10")
        say(daemon, "stop")
        one.end()
    assert (folder_of(tmp_path).with_name(name) / f"channel0_{cpu}").is_file()
    assert numbers(tmp_path) == [*range(10)]
