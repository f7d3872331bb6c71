"""Recordings of programs with the kernel, in parts, in snapshots, sent and followed."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import children_of, instances, instances_of, why_not
from support.public_folder import public_folder
from support.recorded import build_program, record_command
from support.relay_receiver import relay_receiver
from support.waiting import wait_until
from vestige.ctf import find_traces
from vestige.record.backends.in_process.backend import InProcess
from vestige.record.rules.options import RecordingOptions
from vestige.record.trace_directory import Places

REASON = why_not() or (None if platform.machine() == "x86_64" else "numbers of calls")
pytestmark = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
NAME, CALL = "sched_rr_get_interval", 148
"""A call that few programs make, and its number."""
EVENTS = (f"syscall_entry_{NAME}", f"syscall_exit_{NAME}")
KERNEL = ("--kernel", f"syscalls:{NAME}")
SECONDS = 30.0
SETTLED = 6
"""So many parts of 200 ms have another clock, at most: it is settled in the first second."""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that makes a system call in a function, again and again."""
    return build_program(tmp_path_factory.mktemp("program"), "system_calls")


def record(output, program, count, pause, *options):
    """Record so many calls, with microseconds between them; return what is printed."""
    words = [program, str(count), str(CALL), str(pause)]
    done = subprocess.run(
        record_command(output, words, *KERNEL, *options),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def parts_of(output):
    """Return the directories of all parts, in their order."""
    archives = (output / "archives").iterdir()
    numbered = sorted(archives, key=lambda one: int(one.name.rpartition("-")[2]))
    return [*numbered, output / "present"]


def calls_of(directory):
    """Return the names of the events of calls of the program, in order."""
    trace = [*vestige.open(directory, debug_info=False)]
    [process] = {one.context["vpid"] for one in trace if "vpid" in one.context}
    names = {"lttng_ust_cyg_profile_fast:func_entry": "in"}
    names |= {"lttng_ust_cyg_profile_fast:func_exit": "out"}
    names |= dict(zip(EVENTS, ("entry", "exit"), strict=True))
    return [
        names[one.name]
        for one in trace
        if one.name in names and process in {one.context.get("tid"), one.process}
    ]


def clock_of(directory):
    """Return what the metadata say of the clock."""
    text = (directory / "metadata").read_text()
    return re.search(r"clock \{.*?\};", text, re.DOTALL)[0]


@pytest.fixture(scope="module")
def rotated(tmp_path_factory, program):
    """A recording in parts."""
    output = tmp_path_factory.mktemp("rotated") / "trace"
    record(output, program, 1500, 1000, "--rotate=200ms")
    return output


def test_each_part_has_both_domains(rotated):
    """With one clock, and with the state of the machine."""
    parts = parts_of(rotated)

    assert len(parts) >= 2
    for part in parts:
        assert clock_of(part / "ust") == clock_of(part / "kernel")
        names = {one.name for one in vestige.open(part / "kernel", debug_info=False)}
        assert {"lttng_statedump_start", "lttng_statedump_end"} <= names
    assert calls_of(rotated) == ["in", *["in", "entry", "exit", "out"] * 1500, "out"]


@pytest.mark.oracle
def test_babeltrace_reads_each_part_the_same(rotated):
    """Every line but those of the state, where it has texts of records before."""
    peer = shutil.which("babeltrace2")
    if peer is None:
        pytest.skip("babeltrace2 is not installed")
    for part in (*parts_of(rotated), rotated):
        theirs = subprocess.run(
            [peer, part], capture_output=True, text=True, check=True
        )
        ours = subprocess.run(
            [*record_command(part, ["x"])[:3], "convert", str(part)],
            capture_output=True,
            text=True,
            check=True,
        )
        lines = zip(theirs.stdout.splitlines(), ours.stdout.splitlines(), strict=True)

        assert theirs.stderr == ""
        # Babeltrace 2.0 writes the text before in place of an empty one.
        assert [
            (one, other) for one, other in lines if one != other and '""' not in other
        ] == []


def test_what_is_lost_is_told_in_its_part(tmp_path, program):
    """In buffers that are too small, what is read and what is lost is all, in all."""
    output, count = tmp_path / "trace", 1_000_000
    options = ("--rotate=100ms", "--buffer-size=8k", "--functions=off")
    said = record(output, program, count, 0, *options)
    read = lost = 0
    for part in parts_of(output):
        trace = vestige.open(part / "kernel", debug_info=False)
        counts = Counter(one.name for one in trace)
        read += sum(counts[name] for name in EVENTS)
        lost += sum(one.count for one in trace.losses)

    told = re.search(r"of the kernel .*; (?:no|([\d,]+)) events? lost", said)
    assert lost == int((told[1] or "0").replace(",", ""))
    assert read + lost == 2 * count


def test_snapshots_and_the_end_have_both_domains(tmp_path, program):
    """The newest of each."""
    output = tmp_path / "trace"
    words = [program, "100000", str(CALL), "1000"]
    command = record_command(output, words, *KERNEL, "--mode=overwrite", "-q")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as recorder:
        wait_until(lambda: has_records(recorder.pid), "records", SECONDS)
        taken = subprocess.run(
            [*command[:3], "snapshot", str(output)],
            capture_output=True,
            text=True,
            check=True,
        )
        os.kill(process_of_program(recorder.pid), signal.SIGTERM)
        said = recorder.stderr.read()

    assert said == ""
    for place in (Path(taken.stdout.strip()), output):
        assert clock_of(place / "ust") == clock_of(place / "kernel")
        found = calls_of(place)
        # They are taken one after the other.
        ends = [len(found) - found[::-1].index(one) for one in ("exit", "out")]
        both = found[found.index("entry") : min(ends)]
        assert len(both) > 40
        cycle = ["entry", "exit", "out", "in"]
        assert both == [cycle[at % 4] for at in range(len(both))]


def test_a_recorder_that_is_killed_leaves_what_was_kept(tmp_path, program):
    """The process that reads the kernel writes it, when nobody tells it anything."""
    output = tmp_path / "trace"
    words = [program, "100000", str(CALL), "1000"]
    command = record_command(output, words, *KERNEL, "--mode=overwrite", "-q")
    with subprocess.Popen(command, start_new_session=True) as recorder:
        wait_until(lambda: has_records(recorder.pid), "records", SECONDS)
        [instance] = instances_of(recorder.pid)
        os.killpg(recorder.pid, signal.SIGKILL)
    wait_until(lambda: instance not in instances(), "its end", SECONDS)

    names = Counter(one.name for one in vestige.open(output / "kernel"))
    assert names[EVENTS[0]] > 0
    assert abs(names[EVENTS[0]] - names[EVENTS[1]]) <= 1


def test_what_was_recorded_stays_when_the_collector_is_killed(tmp_path, program):
    """The program is recorded further, and that is said whatever else is not."""
    output = tmp_path / "trace"
    words = [program, "1500", str(CALL), "1000"]
    command = record_command(output, words, *KERNEL, "--rotate=200ms", "-q")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as recorder:
        wait_until((output / "archives").exists, "a part", SECONDS)
        wait_until(lambda: has_records(recorder.pid), "records", SECONDS)
        [instance] = instances_of(recorder.pid)
        os.kill(int(instance.split("-")[1]), signal.SIGKILL)
        said = recorder.stderr.read()

    assert recorder.returncode == 0
    assert said.startswith("vestige: warning: of the kernel, events are missing: its ")
    parts = parts_of(output)
    have_kernel = [(part / "kernel").is_dir() for part in parts]
    assert have_kernel[0]
    assert not have_kernel[-1]
    names = Counter(one.name for one in vestige.open(output, debug_info=False))
    assert 0 < names[EVENTS[0]] < 1500
    assert names["lttng_ust_cyg_profile_fast:func_entry"] == 1501
    assert instance not in instances()


def test_both_domains_are_sent_as_one_session(program):
    """And what is said counts both."""
    with relay_receiver() as relay:
        url = f"net://127.0.0.1:{relay.control_port}:{relay.data_port}"
        command = record_command(Path("x"), [program, "100", str(CALL)], *KERNEL)
        at = command.index("-o")
        command[at : at + 2] = ["--to", url]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        [session] = relay.sessions

    assert done.returncode == 0, done.stderr
    assert "vestige: of the kernel " in done.stderr
    paths = {one.path.partition("/")[0] for one in session.streams.values()}
    assert paths == {"ust", "kernel"}


def test_a_recording_is_followed_in_both_domains(tmp_path, program):
    """In order, and over several parts, from the moment when it can be found."""
    output = tmp_path / "trace"
    words = [program, "1000000", str(CALL), "1000"]
    options = ("--rotate=200ms", "--live=20ms", "-q")
    follow = ("view", "--follow", "--no-debug-info", "-e", f"*{NAME},*:func_*")
    with subprocess.Popen(record_command(output, words, *KERNEL, *options)) as recorder:
        wait_until((output / "present/ust/metadata").exists, "a recording", SECONDS)
        with subprocess.Popen(
            [sys.executable, "-m", "vestige", *follow, output],
            stdout=subprocess.PIPE,
            text=True,
        ) as follower:
            wait_until(lambda: is_archived(output, SETTLED + 3), "parts", SECONDS)
            process = process_of_program(recorder.pid)
            os.kill(process, signal.SIGTERM)
            shown = follower.stdout.read()
    assert (recorder.returncode, follower.returncode) == (128 + signal.SIGTERM, 0)
    found = re.findall(rf"(func_e)|\] *{process} +(syscall_e)", shown)
    called = ["".join(one) for one in found]
    kinds = {"in": "func_e", "out": "func_e", "entry": "syscall_e", "exit": "syscall_e"}
    recorded = [kinds[one] for one in calls_of(output)]
    assert Counter(called) == Counter(recorded)
    # Before that, the clock is not settled, and each domain may learn of it first.
    settled = sum(len(calls_of(part)) for part in parts_of(output)[SETTLED + 1 :])
    assert settled > 100
    assert called[-settled:] == recorded[-settled:]


def test_both_domains_have_one_clock_before_anything_is_recorded(tmp_path):
    """Its rate is not known well yet, but both know it as well."""
    programs, kernel = tmp_path / "ust", tmp_path / "kernel"
    programs.mkdir()
    options = RecordingOptions(kernel=("sched_switch",))
    places = Places(str(programs), str(tmp_path), str(kernel))
    backend = InProcess(places, options)
    try:
        backend.prepare()
        rates = [clock_of(one).partition("freq")[2] for one in (programs, kernel)]
    finally:
        backend.close()

    assert words_of(rates[0]) == words_of(rates[1])
    assert not kernel.exists()


def words_of(text):
    """Return words: what may be written again has blanks behind it."""
    return text.replace(";", " ").split()


@pytest.mark.parametrize("word", ["sched_switch", "sched_swich"])
def test_who_opens_a_recording_at_once_gets_all_its_traces(tmp_path, word):
    """That of programs is the last one, whether the kernel can be recorded or not."""
    output = tmp_path / "trace"
    found = set()

    def is_found():
        with suppress(vestige.NotATraceError):
            found.update(one.relative_name for one in find_traces(output))
        return bool(found)

    command = record_command(output, ["cat"], "-q", f"--kernel={word}")
    with subprocess.Popen(command, stdin=subprocess.PIPE) as recorder:
        wait_until(is_found, "a trace", SECONDS)
        # At its end the program ends.
        recorder.stdin.close()

    there = {one.name for one in output.iterdir()}
    assert (recorder.returncode, found) == (0, there)
    assert there == ({"ust", "kernel"} if word == "sched_switch" else {"ust"})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have other groups")
def test_directories_of_a_group_are_written_to(program):
    """One that the recorder has besides its own, without the right to pass over that."""
    with public_folder() as folder:
        of_group = folder / "of-group"
        of_group.mkdir()
        os.chown(of_group, 65534, 12345)
        of_group.chmod(0o770)
        output = of_group / "trace"
        words = [program, "10", str(CALL)]
        done = subprocess.run(
            ["setpriv", "--groups=12345", *record_command(output, words, *KERNEL)],
            capture_output=True,
            text=True,
            check=False,
        )

        assert (done.returncode, "warning" in done.stderr) == (0, False), done.stderr
        assert (output / "kernel" / "metadata").exists()


def is_archived(output, number):
    """Tell whether so many parts of a recording have ended."""
    archives = output / "archives"
    return archives.is_dir() and len([*archives.iterdir()]) > number


def has_records(recorder):
    """Tell whether a program has made some calls: it pauses after each."""
    found = [one for one in children_of(recorder) if _name(one) == "system_calls"]
    text = "".join(Path(f"/proc/{one}/status").read_text() for one in found)
    switches = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.MULTILINE)
    return switches is not None and int(switches[1]) > 50


def process_of_program(recorder):
    """Return the process of the program that is recorded."""
    [process] = [one for one in children_of(recorder) if _name(one) == "system_calls"]
    return process


def _name(process):
    return Path(f"/proc/{process}/comm").read_text().strip()
