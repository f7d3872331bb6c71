"""How deep events are in calls, and how long calls took: in the lines of `view`."""

from __future__ import annotations

import re

import pytest

from support.call_traces import enter, leave, packet, state, write_calls
from support.ctf_writer import Packet
from vestige import ctf
from vestige.cli.main import main

A, B, C = 0xA000, 0xB000, 0xC000

EVENTS = [
    enter(1_000, A),
    enter(2_000, B),
    leave(2_500),
    enter(3_000, C, 0xA010),
    state(3_100, "unload", 0x1),
    enter(3_200, B),
    leave(4_700),
    leave(4_800, C, 0xA010),
    leave(4_601_000),
]
INDENTED = """\
0xA000() {
  0xB000(); 500ns
  0xC000() {
    lttng_ust_lib:unload  baddr=1
    0xB000(); 1.50µs
  } 1.80µs  0xC000
} 4.60ms
"""


@pytest.fixture
def view(capfd):
    """Return a function that shows a trace: lines without time and thread, errors."""

    def run(*words):
        capfd.readouterr()
        status = main(["view", "--no-debug-info", "--no-delta", *map(str, words)])
        out, err = capfd.readouterr()
        lines = [line.split("  ", 2)[2] for line in out.splitlines()]
        return status, "".join(f"{line}\n" for line in lines), err

    return run


@pytest.fixture
def trace(tmp_path):
    """Write a trace of one thread."""
    return write_calls(tmp_path / "trace", {"s": [packet(EVENTS)]})


def test_calls_have_braces_and_are_indented(view, trace):
    """One with nothing in it is one line; the call site is the call around."""
    assert view("--indent", "--all", trace)[:2] == (0, INDENTED)


def test_exits_have_durations_in_plain_lines_too(view, trace):
    """Where calls are followed; programs that read the lines pay nothing for it."""
    durations = [
        [
            word
            for line in view(*words, trace)[1].splitlines()
            for word in line.split()[1:2]
            if line.startswith("func_exit") and word.endswith("s")
        ]
        for words in (["--min-duration=1us"], [])
    ]

    assert durations == [["1.50µs", "1.80µs", "4.60ms"], []]


def test_calls_that_are_open_before_the_range_count(view, trace):
    """Their depth and their beginning are known, though they are not shown."""
    found = view("--indent", "-t", "+2.1us,+3.8us", trace)[1]

    assert found == "    0xB000(); 1.50µs\n  } 1.80µs  0xC000\n"


def test_what_is_chosen_keeps_its_depth(view, trace):
    """Whatever calls around it are not shown."""
    found = view("--indent", "--event=lttng_ust_lib:*", trace)[1]

    assert found == "    lttng_ust_lib:unload  baddr=1\n"


def test_a_call_that_is_cut_by_a_packet_has_both_lines(view, tmp_path):
    """And one whose exit is missing has no second one."""
    events = [enter(10, A), enter(20, B)]
    path = write_calls(tmp_path / "t", {"s": [packet(events)]})

    assert view("--indent", path)[1] == "0xA000() {\n  0xB000() {\n"


def test_an_exit_without_entry_has_no_duration(view, tmp_path):
    """Nobody knows it."""
    events = [leave(10, A, 0x5), enter(20, B), leave(30)]
    path = write_calls(tmp_path / "t", {"s": [packet(events)]})

    assert view("--indent", path)[1] == "}  0xA000\n0xB000(); 10ns\n"


def test_each_thread_has_its_own_calls(view, tmp_path):
    """In the order of time."""
    one = [enter(10, A, vtid=1), leave(40, A, vtid=1)]
    other = [enter(20, B, vtid=2), leave(30, B, vtid=2)]
    path = write_calls(
        tmp_path / "t",
        {"a": [packet(one, vtid=1)], "b": [packet(other, vtid=2)]},
        contexts=True,
    )

    assert view("--indent", path)[1] == "0xA000(); 30ns\n0xB000(); 10ns\n"


def test_threads_that_nobody_knows_are_an_error(capfd, tmp_path):
    """With what would help."""
    cpu = Packet([enter(1, A), leave(2)], context=bytes(4))
    path = write_calls(tmp_path / "t", {"cpu0": [cpu]}, per_thread=False)

    assert main(["view", "--indent", str(path)]) == 2
    assert "add-context -u -t vpid -t vtid" in capfd.readouterr().err


def test_deep_recursion_stays_on_the_screen(view, tmp_path):
    """Lines are indented so far and no farther."""
    depth = 1_000
    events = [enter(10 + level, A) for level in range(depth)]
    path = write_calls(tmp_path / "t", {"s": [packet(events)]})
    lines = view("--indent", path)[1].splitlines()

    assert len(lines) == depth
    assert max(len(line) - len(line.lstrip()) for line in lines) == 128


def test_the_other_layout_has_no_braces(view, trace):
    """It is that of Babeltrace."""
    status, _, errors = view("--indent", "--layout=babeltrace", trace)

    assert (status, "--indent is for --layout=short" in errors) == (2, True)


def test_what_the_kernel_does_stands_in_the_call_of_its_thread(view, tmp_path):
    """A call with something of that in it has both lines; other threads have no calls."""
    calls = [enter(1_000, A), enter(2_000, B), leave(5_000), leave(9_000)]
    directory = tmp_path / "t"
    write_calls(directory / "ust", {"s": [packet(calls, vtid=7)]})
    with ctf.Writer(
        directory / "kernel",
        packet_context={"cpu_id": "u32"},
        event_context={"tid": "s32"},
        environment={"domain": "kernel"},
    ) as writer:
        closing = writer.event_class("syscall_entry_close", {"fd": "s32"})
        stream = writer.stream("channel0_0", cpu_id=0)
        for time, thread in ((500, 7), (3_000, 7), (4_000, 8), (6_000, 7), (9_500, 7)):
            stream.write(closing, time, {"tid": thread}, fd=thread)

    # Behind the columns of traces and threads.
    lines = [
        re.sub(r"^.*?(\[0\] \d|77/7) {2}", "", line.replace("77/7 ", "77/7"))
        for line in view("--indent", directory)[1].splitlines()
    ]
    assert lines == [
        "syscall_entry_close  fd=7",
        "0xA000() {",
        "  0xB000() {",
        "    syscall_entry_close  fd=7",
        "syscall_entry_close  fd=8",
        "  } 3.00µs",
        "  syscall_entry_close  fd=7",
        "} 8.00µs",
        "syscall_entry_close  fd=7",
    ]


def test_losses_before_the_range_count(view, tmp_path):
    """What is open after them nobody knows for sure; nobody is told of them."""
    before, lossy, late = [enter(10, A)], [enter(20, B)], [leave(70), leave(80)]
    packets = [packet(before), packet(lossy, discarded=3), packet(late, discarded=3)]
    path = write_calls(tmp_path / "t", {"s": packets})
    _, whole, told = view("--indent", path)
    _, part, untold = view("--indent", "--begin=00:00:00.000000060", path)

    assert whole.splitlines()[-2:] == part.splitlines() == ["  }", "  }"]
    assert "discarded 3 events" in told
    assert untold == "2 events over 0.0 µs; nothing lost\n"
