"""Threads and processes by their names, where other events of a kernel tell them."""

from __future__ import annotations

import pytest

from vestige import ctf
from vestige.cli.main import main

SWITCH = {
    "prev_comm": ctf.array("u8", 16, text=True),
    "prev_tid": "s32",
    "prev_state": "s64",
    "next_comm": ctf.array("u8", 16, text=True),
    "next_tid": "s32",
}
STATE = {"tid": "s32", "pid": "s32", "name": ctf.array("u8", 16, text=True)}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """A process with two threads, and another one; only the ID of threads is told."""
    path = tmp_path_factory.mktemp("named") / "trace"
    with ctf.Writer(
        path,
        packet_context={"cpu_id": "u32"},
        event_context={"tid": "s32"},
        environment={"domain": "kernel", "tracer_major": 2, "tracer_minor": 13},
    ) as writer:
        state = writer.event_class("lttng_statedump_process_state", STATE)
        switch = writer.event_class("sched_switch", SWITCH)
        call = writer.event_class("syscall_entry_read", {"fd": "s32"})
        stream = writer.stream("channel0_0", cpu_id=0)
        for time, (tid, pid, name) in enumerate(
            [(10, 10, b"server"), (11, 10, b"server"), (20, 20, b"[client]")], 1
        ):
            stream.write(state, time, {"tid": 1}, tid=tid, pid=pid, name=name)
        for time, before, after in ((10, 10, 11), (30, 11, 20), (50, 20, 10)):
            names = {10: b"server", 11: b"worker", 20: b"[client]"}
            stream.write(call, time, {"tid": before}, fd=before)
            stream.write(
                switch,
                time + 5,
                {"tid": before},
                prev_comm=names[before],
                prev_tid=before,
                prev_state=1,
                next_comm=names[after],
                next_tid=after,
            )
    return path


def shown(capfd, *words):
    """Return status, lines and errors of a command."""
    status = main([*words])
    text, errors = capfd.readouterr()
    return status, text.splitlines(), errors


@pytest.mark.parametrize(
    ("word", "read"),
    [
        ("--thread=worker", [11]),
        ("--thread=server", [10, 11]),
        ("--thread=work?r,server", [10, 11]),
        ("--thread=w*,20", [11, 20]),
        ("--thread=[client]", [20]),
        ("--thread=[c*", [20]),
        ("--process=server", [10, 11]),
        ("--process=10", [10, 11]),
    ],
)
def test_events_are_chosen_by_names(trace, capfd, word, read):
    """A thread has all names that it ever had, a process those of its first thread."""
    status, lines, _ = shown(capfd, "view", "-e", "syscall_*", word, str(trace))

    assert status == 0
    assert [f"fd={one}" for one in read] == [line.split()[-1] for line in lines]


@pytest.mark.parametrize(
    ("word", "events"),
    [
        ("--thread=worker", 2),
        ("--thread=server", 4),
        ("--process=server", 4),
        ("--process=10", 4),
        ("--process=20,server", 6),
        ("--thread=11,20", 4),
    ],
)
def test_reports_take_names(trace, capfd, word, events):
    """As IDs."""
    status, lines, errors = shown(capfd, "report", "--events", word, str(trace))

    assert (status, errors) == (0, "")
    assert lines[0].startswith(f"{events} events of 2 names")


def test_names_like_a_wrong_one_are_named(trace, capfd):
    """Of threads or of processes."""
    status, lines, errors = shown(capfd, "report", "--thread", "wroker", str(trace))
    assert (status, lines) == (2, [])
    assert "--thread=wroker: no thread is called so; did you mean 'worker'?" in errors

    status, _, errors = shown(capfd, "report", "--process=worker", str(trace))
    assert status == 2
    assert "--process=worker: no process is called so" in errors


def test_a_directory_after_the_option_is_the_trace(trace, capfd):
    """Whoever leaves out the name means each thread."""
    status, lines, _ = shown(capfd, "report", "--events", "--thread", str(trace))

    assert status == 0
    assert "thread 11: 2 events" in "\n".join(lines)


def test_threads_are_listed_with_names_and_processes(trace, capfd):
    """The last name that a thread had."""
    status, lines, _ = shown(capfd, "report", "--threads", str(trace))

    assert status == 0
    assert lines[0] == "4 threads of 3 processes, 9 events"
    assert [line.partition("thread ")[2] for line in lines[5:8]] == [
        "10 of process 10 (server)",
        "11 of process 10 (worker)",
        "20 of process 20 ([client])",
    ]
