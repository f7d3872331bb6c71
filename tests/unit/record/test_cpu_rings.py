"""Rings of CPUs: all threads on one share them, of all processes."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.compilers import run_tool
from support.recorded import build_program, record_command, run_recorded
from vestige.record.backends.in_process.backend import CPU_RINGS

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
    pytest.mark.skipif(
        platform.machine() != "x86_64" or not hasattr(os, "sched_getaffinity"),
        reason="only there are restartable sequences",
    ),
]
SMALL = "--buffer-size=16k"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Processes and threads that tell how many calls they made."""
    return build_program(tmp_path_factory.mktemp("program"), "shared_cpus")


@pytest.fixture(autouse=True)
def _switched_on(monkeypatch):
    monkeypatch.setenv(CPU_RINGS, "1")


def cpu_files(trace: Path) -> list[str]:
    """Return the names of the files of CPUs."""
    return sorted(one.name for one in trace.glob("channel0_*"))


def calls_of(trace: Path) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int]]]:
    """Count entries and exits of each thread."""
    entries: Counter[tuple[int, int]] = Counter()
    exits: Counter[tuple[int, int]] = Counter()
    opened = vestige.open(trace, debug_info=False)
    for event in opened.events("*:func_*"):
        name = event.name or ""
        of = entries if name.endswith("entry") else exits
        of[event["vpid"], event["vtid"]] += 1
    assert list(opened.damage) == []
    assert list(opened.losses) == []
    return entries, exits


def expect_calls(trace: Path, output: str) -> None:
    """Expect of each thread the calls that it has told."""
    entries, exits = calls_of(trace)
    lines = [tuple(map(int, line.split())) for line in output.splitlines()]
    assert lines
    for process, thread, finished, begun in lines:
        key = process, thread
        assert finished <= entries[key] <= begun, key
        # One is made before its call is counted.
        assert finished <= exits[key] <= begun, key


@pytest.mark.parametrize(
    ("mode", "number"), [("moving", 20_000), ("killed", 40), ("vforking", 100)]
)
@pytest.mark.parametrize("options", [(), (SMALL,)], ids=["usual", "small"])
def test_each_thread_has_its_calls(tmp_path, program, mode, number, options):
    """Threads that change CPUs, processes that are killed, children with their memory."""
    trace = tmp_path / "trace"
    done = run_recorded(trace, [program, mode, str(number)], *options)

    assert done.returncode == 0
    expect_calls(trace, done.stdout)
    assert cpu_files(trace)


def test_packets_tell_their_cpu(tmp_path, program):
    """As those of LTTng; the time goes on in each ring, and a thread changes them."""
    run_recorded(tmp_path / "trace", [program, "moving", "5000"], SMALL)
    last: dict[int, int] = {}
    cpus_of_threads: dict[int, set[int]] = {}
    for event in vestige.open(tmp_path / "trace", debug_info=False).events("*:func_*"):
        cpu = event["cpu_id"]
        assert event.timestamp >= last.get(cpu, 0)
        last[cpu] = event.timestamp
        cpus_of_threads.setdefault(event["vtid"], set()).add(cpu)

    names = [f"channel0_{cpu}" for cpu in sorted(last)]
    assert set(names) <= set(cpu_files(tmp_path / "trace"))
    assert max(map(len, cpus_of_threads.values())) == len(last)
    assert set(last) <= os.sched_getaffinity(0)


@pytest.mark.skipif(
    shutil.which("babeltrace2") is None, reason="not installed: babeltrace2"
)
def test_babeltrace_reads_them(tmp_path, program):
    """The same number of events, and no warning."""
    trace = tmp_path / "trace"
    run_recorded(trace, [program, "moving", "5000"], SMALL)
    done = subprocess.run(
        ["babeltrace2", trace], capture_output=True, text=True, check=True
    )

    assert done.stderr == ""
    assert done.stdout.count("func_entry") == done.stdout.count("func_exit") == 20_000
    assert "{ cpu_id = " in done.stdout


def test_what_a_killed_recorder_left_is_recovered(tmp_path, program):
    """All that programs have committed, and the losses since then."""
    trace = tmp_path / "trace"
    command = record_command(trace, [program, "moving", "300000"], SMALL)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as recorder:
        while not any(one.stat().st_size for one in trace.glob("channel0_*")):
            time.sleep(0.01)
        recorder.send_signal(signal.SIGKILL)
        assert recorder.stdout is not None
        lines = recorder.stdout.read().splitlines()
    subprocess.run(
        [*record_command(trace, [])[:4], "--recover", trace],
        capture_output=True,
        check=True,
    )
    opened = vestige.open(trace, debug_info=False)
    seen = sum(1 for _ in opened.events("*:func_*"))
    lost = sum(one.count or 0 for one in opened.losses)

    finished = sum(int(line.split()[2]) for line in lines)
    assert seen
    assert seen + lost == 2 * finished
    assert list(opened.damage) == []


def test_threads_without_sequences_have_rings_of_their_own(tmp_path, program):
    """Where the C library was told to register none."""
    trace = tmp_path / "trace"
    words = ["env", "GLIBC_TUNABLES=glibc.pthread.rseq=0", program, "moving", "1000"]
    done = run_recorded(trace, words)

    expect_calls(trace, done.stdout)
    calls = list(vestige.open(trace, debug_info=False).events("*:func_*"))
    assert calls
    assert all("cpu_id" not in (one.packet_context or {}) for one in calls)


NOT_OURS = """
#include <dlfcn.h>
#include <unistd.h>
pid_t vfork(void)
{
    return ((pid_t (*)(void)) dlsym(RTLD_NEXT, "fork"))();
}
"""


def test_programs_with_another_vfork_have_rings_of_threads(tmp_path, program):
    """Nobody would tell of its children."""
    source = tmp_path / "vfork.c"
    source.write_text(f"#define _GNU_SOURCE{NOT_OURS}")
    library = tmp_path / "libvfork.so"
    run_tool(["gcc", "-shared", "-fPIC", str(source), "-o", str(library)])
    words = ["sh", "-c", f"LD_PRELOAD={library}:$LD_PRELOAD exec {program} moving 1000"]
    done = run_recorded(tmp_path / "trace", words)

    expect_calls(tmp_path / "trace", done.stdout)
    calls = list(vestige.open(tmp_path / "trace", debug_info=False).events("*:func_*"))
    assert calls
    assert all("cpu_id" not in (one.packet_context or {}) for one in calls)
