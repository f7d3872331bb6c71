"""lttng-analyses' programs, as they are, say of a kernel's trace what our reports say.

They know which thread runs from ``sched_switch`` alone. So what is compared of a
recording are the threads that begin in it, and what has no thread.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import vestige
from support.analyses import analysed, analysed_with_ours, missing_analyses, rows
from support.kernel_io_traces import io_records
from support.kernel_tracer import why_not
from support.kernel_traces import random_records, write_kernel_trace
from support.recorded import run_recorded
from support.session_daemon import session_daemon
from vestige.cli.main import main

REASON = missing_analyses()
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
]
WANTED = "sched,syscalls,irq,block,kmem:mm_page_*"
WORK = """
for number in 1 2 3; do
    dd if=/dev/zero of=data bs=16k count=5 conv=fsync 2>/dev/null
    cat data | wc -c >/dev/null
    sleep 0.01
done
"""
COPIED = 5 * (16 << 10)
"""Bytes that each round writes and reads."""
ALL = ("--limit", "100000")
TRIES = 4
"""Recordings until none of the events of a busy machine is lost."""
ENTRY = "from vestige.cli.start import entry_point; entry_point()"
WHOLE = "--no-intersection"
"""Everything counts, not only the time in which all CPUs have events."""


@contextmanager
def no_idle_cpus():
    """Have something to do for each CPU.

    Kernels of some virtual machines leave out switches from an idle CPU. Those programs
    take who was switched to last for the one that makes a system call.
    """
    loop = ["nice", "-n", "19", "sh", "-c", "while :; do :; done"]
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            one = stack.enter_context(subprocess.Popen(loop))
            stack.callback(one.kill)
        yield


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording of the kernel; the threads that began in it."""
    if reason := why_not():
        pytest.skip(f"no kernel tracer: {reason}")
    directory = tmp_path_factory.mktemp("analyses")
    program = ["sh", "-c", f"cd {directory}\n{WORK}"]
    for number in range(TRIES):
        output = directory / f"trace-{number}"
        options = ("--kernel", WANTED, "--buffer-size", "32M")
        with no_idle_cpus():
            done = run_recorded(output, program, *options)
        assert done.returncode == 0, done.stderr
        trace = output / "kernel"
        opened = vestige.open(trace, debug_info=False)
        if "events lost" not in done.stderr.replace("no events lost", ""):
            break
    else:
        pytest.skip(f"the machine is too busy: events were lost {TRIES} times")
    names = defaultdict(str)
    for event in opened:
        if event.name == "sched_process_fork":
            names[event["child_tid"]] = ""
        elif event.name == "sched_switch" and event["prev_tid"] in names:
            names[event["prev_tid"]] = event["prev_comm"]
    assert not opened.losses
    # What others start in the meantime may end later.
    found = {
        thread: name for thread, name in names.items() if name in {"dd", "cat", "wc"}
    }
    assert Counter(found.values()) >= Counter({"dd": 3, "cat": 3, "wc": 3})
    return trace, found


@pytest.fixture
def report(capsys):
    """Gives the facts of a report about the only machine of a trace."""

    def facts(trace, *words):
        capsys.readouterr()
        assert main(["report", *words, "--json", str(trace)]) == 0
        [machine] = json.loads(capsys.readouterr().out)["machines"]
        return machine

    return facts


def of_threads(found):
    """Return the rows of a report by their threads."""
    return {one["tid"]: one for one in found["threads"]}


def thread_of(title):
    """Return the thread that a title names."""
    found = re.search(r"TID: (\d+)", title)
    return int(found[1]) if found else None


def calls_of(results, threads):
    """Return number, shortest and longest of the system calls of threads."""
    found = {thread: {} for thread in threads}
    for title, cells in rows(results, lambda title: thread_of(title) in threads):
        call, count, shortest, _, longest, *_ = cells
        found[thread_of(title)][call["name"]] = count, shortest, longest
    return found


def our_calls(facts):
    """Return the same of a report about a thread; calls that never end have no time."""
    return {
        one["name"].removeprefix("syscall "): tuple(
            one[key] for key in ("count", "min_ns", "max_ns")
        )
        for one in facts["system_calls"]
        if one["count"]
    }


def test_threads_run_as_long_and_wait_as_long(recorded, report):
    """As cputop and schedstats say."""
    trace, threads = recorded
    ours = of_threads(report(trace, "--kernel"))
    ran = {}
    for result in analysed("cputop", trace, *ALL):
        times = result["time-range"]
        whole = times["end"]["value"] - times["begin"]["value"]
        for _, cells in rows([result], lambda title: title == "per-process"):
            ran[cells[0]["tid"]] = round(cells[3] * whole)
    waited = {
        cells[0]["tid"]: (cells[1], cells[4])
        for _, cells in rows(
            analysed("schedstats", trace), lambda title: title == "per_tid_stats"
        )
    }

    for thread in threads:
        one = ours[thread]
        # A share of the whole time is no exact number.
        assert one["running_ns"] == pytest.approx(ran[thread], abs=2)
        latest = one["wakeups"], one["latency_max_ns"]
        assert latest == waited.get(thread, (0, None))
    assert any(waited.get(thread, (0,))[0] > 1 for thread in threads)


def test_system_calls_take_as_long(recorded, report):
    """As syscallstats says, of some threads."""
    trace, threads = recorded
    some = [*threads][:4]
    theirs = calls_of(analysed("syscallstats", trace), some)

    assert {
        thread: our_calls(report(trace, "--kernel", f"--thread={thread}"))
        for thread in some
    } == theirs
    assert {"openat", "close"} <= {*theirs[some[0]]}


def test_interrupts_and_disks_are_the_same(recorded, report):
    """As irqstats and iolatencystats say: they have no thread."""
    trace, _ = recorded
    ours = {
        int(one["number"]): (one["count"], one["min_ns"], one["max_ns"])
        for one in report(trace, "--kernel")["interrupts"]
    }
    theirs = {
        cells[0]["nr"]: (cells[1], cells[2], cells[4])
        for _, cells in rows(
            analysed("irqstats", trace, WHOLE), lambda title: title == "hard-stats"
        )
    }
    assert ours == theirs

    ours = {
        one["name"]: (one["count"], one["min_ns"], one["max_ns"])
        for one in report(trace, "--io").get("disks", ())
        if one["count"]
    }
    theirs = {
        cells[0]["name"]: (cells[1], cells[2], cells[4])
        for _, cells in rows(
            analysed("iolatencystats", trace, WHOLE), lambda title: "disk" in title
        )
    }
    assert ours == theirs


def test_bytes_are_those_of_the_same_threads(recorded, report):
    """As iousagetop says, which has the file by its name; and pages as memtop does."""
    trace, threads = recorded
    ours = of_threads(report(trace, "--io"))
    results = analysed("iousagetop", trace, *ALL)
    titles = {
        "Per-process top I/O operations [read]": "read_bytes",
        "Per-process top I/O operations [written]": "written_bytes",
        "Per-process top block I/O operations [read]": "disk_read_bytes",
        "Per-process top block I/O operations [written]": "disk_written_bytes",
    }
    compared = Counter()
    for title, cells in rows(results, titles.__contains__):
        if cells[0]["tid"] in threads:
            key = titles[title]
            assert ours[cells[0]["tid"]][key] == cells[1]
            compared[key] += cells[1] > 0
    assert compared["read_bytes"] >= 6
    assert compared["written_bytes"] >= 6

    # They count blocks, which have two to the power of their order of pages each.
    blocks, pages = Counter(), Counter()
    for event in vestige.open(trace, debug_info=False):
        if event.name == "kmem_mm_page_alloc" and event.context["tid"] in threads:
            blocks[event.context["tid"]] += 1
            pages[event.context["tid"]] += 1 << event["order"]
    theirs = {
        cells[0]["tid"]: cells[1]
        for _, cells in rows(
            analysed("memtop", trace, *ALL), lambda title: title == "allocd"
        )
    }
    assert {thread: theirs.get(thread, 0) for thread in threads} == {
        thread: blocks[thread] for thread in threads
    }
    assert {thread: ours[thread]["pages_allocated"] for thread in threads} == {
        thread: pages[thread] for thread in threads
    }
    assert blocks


def test_files_have_their_names(recorded):
    """Those of texts of system calls: who is killed by a missing one says so."""
    trace, _ = recorded
    entries = [
        one["filename"]
        for one in vestige.open(trace, debug_info=False)
        if one.name == "syscall_entry_openat"
    ]
    found = {
        cells[0]["path"]: cells[1]
        for _, cells in rows(
            analysed("iousagetop", trace, *ALL),
            lambda title: title == "Per-file top I/O operations [written]",
        )
    }
    if not any(entries):
        pytest.skip("this kernel has no texts of system calls")

    assert (
        sum(size for path, size in found.items() if path.endswith("/data"))
        == (3 * COPIED)
        or found.get("data") == 3 * COPIED
    )


@pytest.mark.parametrize("name", ["schedlog", "iolog"])
def test_our_module_gives_them_the_same(recorded, name):
    """In place of Babeltrace 1's, whose times since 1970 are rounded to some ns."""
    trace, _ = recorded

    def without_times(found):
        if isinstance(found, dict):
            if found.get("class") == "timestamp":
                return found["class"]
            return {key: without_times(one) for key, one in found.items()}
        return [*map(without_times, found)] if isinstance(found, list) else found

    theirs = analysed(name, trace)
    assert len(theirs[0]["data"]) > 10
    assert without_times(analysed_with_ours(name, trace)) == without_times(theirs)


def test_sums_of_a_written_trace_are_the_same(tmp_path, report):
    """Of system calls, interrupts and files; it needs no kernel that can be recorded."""
    trace = write_kernel_trace(tmp_path / "kernel", random_records(1, 2000))
    threads = [1, 2, 3]
    theirs = calls_of(analysed("syscallstats", trace, WHOLE), threads)
    [interrupt] = report(trace, "--kernel")["interrupts"]

    assert {
        thread: our_calls(report(trace, "--kernel", f"--thread={thread}"))
        for thread in threads
    } == theirs
    assert [
        (cells[0]["nr"], cells[1], cells[2], cells[4])
        for _, cells in rows(
            analysed("irqstats", trace, WHOLE), lambda title: title == "hard-stats"
        )
    ] == [(7, interrupt["count"], interrupt["min_ns"], interrupt["max_ns"])]


def test_bytes_of_a_written_trace_are_the_same(tmp_path: Path, report) -> None:
    """Of threads, kinds of system calls, disks and interfaces."""
    trace = write_kernel_trace(tmp_path / "kernel", io_records(1, 2000)[0])
    facts = report(trace, "--io")
    ours = {
        key: {one["tid"]: one[f"{key}_bytes"] for one in facts["threads"]}
        for key in ("read", "written")
    }
    usage = analysed("iousagetop", trace, WHOLE)
    theirs = {
        key: {
            cells[0]["tid"]: cells[1]
            for _, cells in rows(
                usage,
                f"Per-process top I/O operations [{key}]".__eq__,
            )
        }
        for key in ours
    }
    assert ours == theirs

    latencies = analysed("iolatencystats", trace, WHOLE)
    assert {
        one["name"]: (one["count"], one["min_ns"], one["max_ns"])
        for one in (*facts["operations"], *facts["disks"])
    } == {
        (name.lower() if isinstance(name, str) else name["name"]): (
            cells[1],
            cells[2],
            cells[4],
        )
        for _, [name, *cells] in rows(latencies, lambda title: "latency" in title)
        for cells in [[name, *cells]]
    }
    assert {
        cells[0]["name"]: cells[1]
        for _, cells in rows(usage, lambda title: title.endswith("ations [received]"))
    } == {one["name"]: one["received_bytes"] for one in facts["interfaces"]}


def test_their_script_records_with_our_commands(tmp_path):
    """`lttng-analyses-record`, as it is, until Ctrl-C."""
    if reason := why_not():
        pytest.skip(f"no kernel tracer: {reason}")
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, words in (
        ("lttng", f"exec '{sys.executable}' -c '{ENTRY}' lttng"),
        # It asks for rights that it has.
        ("sudo", "exec"),
        ("lttng-sessiond", "exit 0 #"),
    ):
        path = commands / name
        path.write_text(f'#!/bin/sh\n{words} "$@"\n')
        path.chmod(0o755)
    with session_daemon() as daemon:
        assert daemon.start().returncode == 0
        with subprocess.Popen(
            ["lttng-analyses-record"],
            env={
                **os.environ,
                **daemon.environment,
                "PATH": f"{commands}:{os.environ['PATH']}",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as script:
            said = ""
            while not said.endswith("press ctrl+c to stop it "):
                said += (letter := script.stdout.read(1))
                assert letter, said
            subprocess.run(["true"], check=True)
            script.send_signal(signal.SIGINT)
            rest, _ = script.communicate(timeout=60)
        assert script.returncode == 0, said + rest
        [place] = re.findall(r"You can now launch the analyses scripts on /(.*)", rest)
        trace = vestige.open(Path(f"/{place}/kernel"), debug_info=False)
        names = {name for stream in trace.streams for name in stream.event_names}
    assert {"sched_switch", "syscall_entry_openat", "irq_softirq_entry"} <= names
    assert next(iter(trace))
