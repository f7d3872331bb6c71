"""Channels of programs with Vestige's own tracer have a data stream for each CPU."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.own_programs import STEP, Ordered, build_ordered, ordered, wait_for_listed
from support.session_daemon import SessionDaemon, say

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="only there are restartable sequences"
    ),
]
WITHOUT_SEQUENCES = {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}
BLOCKING = {"LTTNG_UST_ALLOW_BLOCKING": "1"}
CPU_FILE = re.compile(r"(?:first|second)_(\d+)")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def begin(daemon: SessionDaemon, output: Path, *channels: str) -> None:
    """Start a session that writes to a directory, with channels that record steps."""
    say(daemon, f"create --output={output} s")
    for channel in channels:
        say(daemon, f"enable-channel -u {channel}")
        say(daemon, f"enable-event -u -c {channel.partition(' ')[0]} {STEP}")
    say(daemon, "start")


def folder_of(output: Path, channel: str) -> Path:
    """Return the directory of a channel's trace."""
    return output / f"ust/uid/{os.getuid()}/64-bit-vestige/{channel}"


def move(program: Ordered, cpu: int) -> None:
    """Let the first thread of a program go to a CPU."""
    os.sched_setaffinity(program.process.pid, {cpu})


def numbers_by_cpu(trace: Path) -> dict[int | None, list[int]]:
    """Return what the steps of a trace have counted on each CPU, in order."""
    found: dict[int | None, list[int]] = {}
    for event in vestige.open(trace):
        if event.name == STEP:
            found.setdefault(event.get("cpu_id"), []).append(event["number"])
    return found


def stream_files(trace: Path) -> set[str]:
    """Return the names of data stream files that are not empty."""
    names = {"metadata", "index"}
    return {
        one.name
        for one in trace.iterdir()
        if one.name not in names and one.name[0] != "." and one.stat().st_size
    }


def test_each_packet_tells_on_which_cpu_it_was_recorded(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """A program that is moved: each CPU has what was recorded there, in its file."""
    cpus = sorted(os.sched_getaffinity(0))
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, "first", "second")
        for count, cpu in enumerate([*cpus, *cpus], 1):
            move(one, cpu)
            one.do(f"{count}")
        say(daemon, "stop")
        one.end()
    expected: dict[int, list[int]] = {}
    for count, cpu in enumerate([*cpus, *cpus], 1):
        expected.setdefault(cpu, []).extend(range(count))
    for channel in ("first", "second"):
        trace = folder_of(tmp_path, channel)
        assert numbers_by_cpu(trace) == expected
        files = stream_files(trace)
        # That of a thread is there only for what no CPU's can have.
        assert {f"{channel}_{cpu}" for cpu in cpus} <= files
        assert all(CPU_FILE.fullmatch(name) for name in files)


@pytest.mark.parametrize("context", ["procname", "ip"])
def test_channels_with_the_same_contexts_have_the_same_records(
    daemon: SessionDaemon, program: Path, tmp_path: Path, context: str
):
    """Each of a thread has them all, in order, and the time goes on in each stream."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        names = ("first", "second")
        say(daemon, f"create --output={tmp_path} s")
        for name in names:
            say(
                daemon,
                f"enable-channel -u {name}",
                f"add-context -u -c {name} -t {context}",
                f"enable-event -u -c {name} {STEP}",
            )
        say(daemon, "start")
        one.do("t500")
        one.do("100")
        say(daemon, "stop")
        one.end()
    records: dict[str, dict[tuple[int, int], list[tuple[object, int]]]] = {}
    for name in names:
        last: dict[int, int] = {}
        found = records.setdefault(name, {})
        for event in vestige.open(folder_of(tmp_path, name)):
            assert event.timestamp >= last.get(event["cpu_id"], 0)
            last[event["cpu_id"]] = event.timestamp
            if event.name == STEP:
                row = (event[context], event["number"])
                found.setdefault((event["vpid"], event["vtid"]), []).append(row)
    assert records["first"] == records["second"]
    counts = sorted(len(rows) for rows in records["first"].values())
    assert counts == [100, 500, 500]


@pytest.mark.parametrize("channels", [("first",), ("first", "second", "third")])
def test_long_records_are_those_that_were_made(
    daemon: SessionDaemon, program: Path, tmp_path: Path, channels: tuple[str, ...]
):
    """Of any length, for one channel or several."""
    with ordered(daemon, program, environment=BLOCKING) as one:
        wait_for_listed(daemon, one)
        say(daemon, f"create --output={tmp_path} s")
        for name in channels:
            say(daemon, f"enable-channel -u {name} --blocking-timeout=inf")
            say(daemon, f"enable-event -u -c {name} ordered:line")
        say(daemon, "start")
        one.do("l1500")
        say(daemon, "stop")
        one.end()
    letters = "".join(chr(ord("a") + number % 26) for number in range(1500))
    for name in channels:
        texts = {
            event["number"]: event["text"]
            for event in vestige.open(folder_of(tmp_path, name))
            if event.name == "ordered:line"
        }
        assert texts == {number: letters[:number] for number in range(1500)}


@pytest.mark.skipif(
    shutil.which("babeltrace2") is None, reason="not installed: babeltrace2"
)
def test_babeltrace2_prints_the_same_events(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """With their CPUs, after a stop, while programs go on; of two programs at once."""
    with ordered(daemon, program) as one, ordered(daemon, program) as other:
        wait_for_listed(daemon, one, other)
        begin(daemon, tmp_path, "c")
        for _ in range(2):
            one.do("t300")
            other.do("t200")
            say(daemon, "stop")
            done = subprocess.run(
                ["babeltrace2", tmp_path], capture_output=True, text=True, check=True
            )
            assert done.stderr == ""
            line = re.compile(
                rf"{STEP}: {{ cpu_id = (\d+) }}, {{ vpid = (\d+), vtid = (\d+) }}, "
                r"{ number = (\d+) }"
            )
            printed = Counter(line.findall(done.stdout))
            fields = ("cpu_id", "vpid", "vtid", "number")
            ours = Counter(
                tuple(str(event[name]) for name in fields)
                for event in vestige.open(tmp_path)
                if event.name == STEP
            )
            assert printed == ours
            say(daemon, "start")
        one.end()
        other.end()
    assert printed.total() == 2 * 2 * (300 + 200)


def test_programs_without_sequences_have_rings_of_threads(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Beside others, in the same channels: nothing is lost, and nothing else is written to."""
    with (
        ordered(daemon, program) as one,
        ordered(daemon, program, environment=WITHOUT_SEQUENCES) as other,
    ):
        wait_for_listed(daemon, one, other)
        begin(daemon, tmp_path, "first", "second")
        one.do("t100")
        other.do("t70")
        other.do("30")
        other.do("left")
        say(daemon, "stop")
        one.end()
        other.end()
    for channel in ("first", "second"):
        found = Counter(
            (event["vpid"], event.get("cpu_id") is None)
            for event in vestige.open(folder_of(tmp_path, channel))
            if event.name == STEP
        )
        assert found == {
            (one.process.pid, False): 200,
            (other.process.pid, True): 171,
        }


def test_channels_that_overwrite_have_rings_of_threads(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """Beside one that does not, of the same program."""
    with ordered(daemon, program) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path, "discarding", "overwriting --overwrite")
        one.do("100")
        one.do("t50")
        say(daemon, "stop")
        one.end()
    found = numbers_by_cpu(folder_of(tmp_path, "overwriting"))
    assert {cpu: len(numbers) for cpu, numbers in found.items()} == {None: 200}
    found = numbers_by_cpu(folder_of(tmp_path, "discarding"))
    assert None not in found
    assert sum(map(len, found.values())) == 200


@pytest.mark.parametrize("preload", [True, False], ids=["preloaded", "linked"])
def test_a_child_of_vfork_writes_to_no_ring_of_a_cpu(
    daemon: SessionDaemon, tmp_path: Path, preload: bool
):
    """The kernel does not know on which it is; its records come into its own ring."""
    source = build_ordered(tmp_path, *([] if preload else ["-llttng-ust"]))
    with ordered(daemon, source, preload=preload) as one:
        wait_for_listed(daemon, one)
        begin(daemon, tmp_path / "trace", "first", "second")
        for _ in range(20):
            one.do("vfork")
            one.do("5")
        say(daemon, "stop")
        one.end()
    for channel in ("first", "second"):
        found = numbers_by_cpu(folder_of(tmp_path / "trace", channel))
        # Three of each child.
        assert found.pop(None) == [*range(3)] * 20
        rest = [number for numbers in found.values() for number in numbers]
        assert sorted(rest) == sorted([*range(5)] * 20)


def test_threads_go_on_in_the_rings_of_cpus_after_a_stop(
    daemon: SessionDaemon, program: Path, tmp_path: Path
):
    """They know the memory from before, whose own rings they have no need of."""
    begin(daemon, tmp_path / "trace", "first")
    with ordered(daemon, program) as one:
        one.do("100")
        for _ in range(2):
            say(daemon, "stop", "start")
            one.do("100")
        say(daemon, "destroy")
        one.end()
    files = [at.name for at in folder_of(tmp_path / "trace", "first").iterdir()]
    streams = [name for name in files if CPU_FILE.fullmatch(name)]
    assert streams
    # The daemon says after each stop what programs have loaded.
    states = [name for name in files if name.startswith("vestige-state")]
    assert {*files} == {"metadata", "index", *streams, *states}
    found = numbers_by_cpu(tmp_path / "trace")
    assert sum(map(len, found.values())) == 300
