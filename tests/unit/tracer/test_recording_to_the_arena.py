"""What programs record to the arena: each call once, or counted as lost, whatever they do."""

from __future__ import annotations

import os
import platform

import pytest

from support.arena import HEAD, collect
from support.chosen import HEADERS, POINTS, SAMPLES, build_chosen
from support.compilers import PROGRAMS, run_tool
from vestige.record.backends.in_process.packets import PACKET
from vestige.record.rules.encoding import encode_rules
from vestige.record.rules.event_rules import EventRule, compile_rules

IS_LONG = bool(os.environ.get("VESTIGE_TORTURE"))
EXACT = [
    ("altstack", 50_000, 5_000_000),
    ("as", 1000, 20_000),
    ("bare-exit", 20, 20),
    ("cancel", 3, 100),
    ("clone", 10, 2000),
    ("clone-shared", 20_000, 3_000_000),
    ("coroutines", 3000, 300_000),
    ("exec", 6, 200),
    ("exit-threads", 5, 500),
    ("forking-threads", 5, 200),
    ("keys", 3, 300),
    ("kill", 2000, 200_000),
    ("late-signals", 20, 1000),
    ("main-exits", 2000, 200_000),
    ("nofile", 2000, 20_000),
    ("raw-fork", 9, 600),
    ("seccomp", 1000, 20_000),
    ("small-stacks", 1000, 50_000),
    ("spawn", 2, 50),
    ("strict", 5000, 50_000),
    ("threads", 2000, 1_000_000),
    ("trap", 1000, 20_000),
    ("vfork", 10, 1000),
    ("vfork-in-thread", 5, 500),
]
"""Modes of the torture program, and numbers for the short and the long form."""
FEW_CHUNKS = ("chunk=4096", "chunks=64", "ring=8")
WAYS = pytest.mark.parametrize(
    "way",
    [{}, {"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}],
    ids=["restartable", "announced"],
)
"""How records are appended: as the C library allows, or without restartable sequences."""


def missing(got, calls):
    """Entries and exits that are neither in the trace nor counted."""
    return 2 * calls - got.counted


@pytest.mark.parametrize(
    ("mode", "short", "long"), EXACT, ids=[mode for mode, _, _ in EXACT]
)
def test_each_call_is_there_once(tortured, mode, short, long):
    """Threads and processes of all kinds begin, end and change what they may."""
    got, calls, _ = tortured(mode, long if IS_LONG else short)

    assert calls > 0
    # Once with each filter, some records of the state dump may be among the lost.
    assert missing(got, calls) == 0


@WAYS
@pytest.mark.parametrize("chunk", [4096, 65536])
def test_signals_interrupt_hooks_and_switches(tortured, chunk, way):
    """Nested, at a high rate; each record is there once."""
    number = 3_000_000 if IS_LONG else 100_000
    got, calls, _ = tortured("signals", number, f"chunk={chunk}", environment=way)

    assert missing(got, calls) == 0
    assert got.lost == 0


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs its trap flag")
@WAYS
@pytest.mark.parametrize("mode", ["overwrite=0", "overwrite=1"])
def test_a_handler_goes_on_to_other_chunks_at_any_instruction(
    collector, steps, tmp_path, mode, way
):
    """Of a hook; the record that it interrupts is there, too."""
    trace = tmp_path / "trace"
    command = [steps, "trap", "1000"]
    options = ("chunk=4096", "chunks=4096", mode)
    got = collect(collector, trace, command, *options, environment=way)
    instructions = int(got.output) // 301

    assert got.damage == ()
    assert instructions > 100
    assert got.counted == 2 * int(got.output)
    # Nobody blocks SIGTRAP: what its handler does while the thread goes on to another chunk
    # is lost.
    assert got.lost < int(got.output) / 20


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs its trap flag")
@WAYS
def test_a_handler_jumps_away_at_any_instruction(collector, steps, tmp_path, way):
    """Out of a hook, and out of a hook of a handler: only those are missing, at most."""
    trace = tmp_path / "trace"
    command = [steps, "jumps", "1000"]
    got = collect(collector, trace, command, "chunk=4096", environment=way)
    calls, jumps = map(int, got.output.split())

    assert got.damage == ()
    assert jumps > 100
    assert abs(2 * calls - got.counted) <= 2 * jumps
    assert got.lost <= jumps


@WAYS
@pytest.mark.parametrize("chunk", [4096, 65536])
def test_handlers_that_jump_lose_one_record(tortured, chunk, way):
    """At most: that which they interrupt. It may also be there, and its call not be counted."""
    number = 3_000_000 if IS_LONG else 200_000
    got, calls, jumps = tortured("jump", number, f"chunk={chunk}", environment=way)

    assert jumps > 0
    assert abs(missing(got, calls)) <= jumps
    assert got.lost == 0


@WAYS
def test_coroutines_that_are_switched_in_a_handler(tortured, way):
    """They go on in any order; each record is there once."""
    options = ("chunk=4096", "chunks=4096")
    got, calls, _ = tortured("preempted", 30_000, *options, environment=way)

    assert missing(got, calls) == 0
    assert got.lost < calls / 100


@WAYS
def test_a_child_of_an_interrupted_hook_leaves_the_parents_chunk_alone(tortured, way):
    """The child goes on with the record, in memory of its own."""
    number = 500 if IS_LONG else 30
    got, calls, _ = tortured("fork-in-handler", number, environment=way)

    assert abs(missing(got, calls)) <= 2 * (500 if IS_LONG else 30)


@WAYS
@pytest.mark.parametrize("delay", [5, 20, 60])
def test_what_a_killed_program_has_committed_is_there(tortured, delay, way):
    """But for the record that each of its threads was writing."""
    options = (f"kill-ms={delay}", "chunk=4096")
    got, calls, _ = tortured("threads", 100_000_000, *options, environment=way)

    assert got.status == 137
    assert abs(missing(got, calls)) <= 2 * 8


def test_programs_wait_for_a_slow_collector(tortured):
    """Nothing is lost as long as it goes on."""
    got, calls, _ = tortured("threads", 10_000, *FEW_CHUNKS, "delay-us=200")

    assert got.lost == got.facts["shared_lost"] == 0
    assert missing(got, calls) == 0


def test_losses_are_counted_when_nobody_drains(tortured):
    """And the program goes on at once, after it has waited once."""
    got, calls, _ = tortured("threads", 50_000, *FEW_CHUNKS, "stall=1", "wait-ms=20")

    assert got.lost > 0
    assert missing(got, calls) == 0


def test_a_collector_that_ends_costs_what_finds_no_room(tortured):
    """The kernel tells that it is gone; what lies in the arena is recovered."""
    got, calls, _ = tortured(
        "threads", 100_000, *FEW_CHUNKS, "die-ms=20", "wait-ms=60000"
    )

    assert got.calls > 0
    assert missing(got, calls) == 0


def test_a_recording_that_is_full_takes_no_more(tortured):
    """All is counted, with the first record of the state dump."""
    got, calls, _ = tortured("threads", 1000, "state=2")

    assert got.calls == 0
    assert got.lost == 2 * calls + 1


def test_a_recording_that_is_closed_counts_nothing(tortured):
    """The tracer does nothing more in the program."""
    got, calls, _ = tortured("threads", 1000, "state=1")

    assert calls > 0
    assert got.counted == got.facts["slots"] == 0


def test_threads_wait_for_a_slot(tortured):
    """Of others, which end; nothing is lost."""
    got, calls, _ = tortured("threads", 1000, "slots=3")

    assert (missing(got, calls), got.lost, got.facts["shared_lost"]) == (0, 0, 0)


def test_threads_without_a_slot_are_counted(collector, steps, tmp_path):
    """All together, since nobody can tell which they were; each has waited once."""
    command = [steps, "at-once", "6"]
    got = collect(collector, tmp_path / "trace", command, "slots=5", "wait-ms=100")

    # The first thread has one.
    assert got.calls == 2 * 20 * 4
    assert got.facts["shared_lost"] == 2 * 20 * 2


@pytest.mark.parametrize("mode", ["signals", "threads", "storm"])
def test_what_records_need_is_kept_in_overwrite_mode(tortured, mode):
    """The state dump is in chunks that stay."""
    number = 3 if mode == "storm" else 20_000
    got, calls, _ = tortured(mode, number, "overwrite=1", "chunk=4096")

    assert got.facts["kept"] > 0
    assert -1 <= missing(got, calls) <= 0


def test_memory_of_ended_threads_is_used_again(collector, steps, tmp_path):
    """Thousands, one after the other, need no more than there are slots."""
    got = collect(collector, tmp_path / "trace", [steps, "churn", "6000"], "slots=64")

    # Where the collector is late to free a slot, they wait.
    assert (got.calls, got.lost, got.facts["shared_lost"]) == (12_000, 0, 0)
    assert int(got.output) < 2000


def test_packets_have_the_present_name_of_the_thread(collector, steps, tmp_path):
    """From the one on that it fills when it gives itself the name."""
    trace = tmp_path / "trace"
    collect(collector, trace, [steps, "names"])
    (data,) = (path for path in trace.iterdir() if path.name[0].isdigit())
    content = data.read_bytes()
    names = []
    place = 0
    while place < len(content):
        packet = PACKET.unpack_from(content, place)
        names.append(packet[-1].partition(b"\0")[0].decode())
        place += packet[7] // 8

    assert names == sorted(names, key=["steps", "second", "third"].index)
    assert set(names) == {"steps", "second", "third"}


@pytest.mark.parametrize("number", [20_000, 20_001])
def test_no_system_call_is_made_for_a_program_that_filters_them(
    collector, steps, tmp_path, number
):
    """By seccomp(2) or prctl(2): the filter would end the program."""
    got = collect(collector, tmp_path / "trace", [steps, "filter", str(number)])

    assert (got.status, got.output) == (0, "filtered\n")
    assert got.lost == 0
    assert got.calls == 4 * number


def test_a_filtered_program_does_not_wait_for_long(collector, steps, tmp_path):
    """It cannot sleep, and counts what finds no room."""
    got = collect(
        collector,
        tmp_path / "trace",
        [steps, "filter", "20000"],
        *FEW_CHUNKS,
        "stall=1",
        "wait-ms=50",
    )

    assert (got.status, got.output) == (0, "filtered\n")
    assert got.lost > 0
    assert got.counted == 80_000


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """A program with tracepoints."""
    return build_chosen(tmp_path_factory.mktemp("chosen"))


TRACEPOINTS = f"{HEAD} contexts=vpid entries=off exits=off"


def test_rules_of_the_arena_choose_tracepoints(collector, chosen, tmp_path):
    """By name and by filter; those that are not chosen have no class."""
    rules = [EventRule("chosen:p00"), EventRule("chosen:p01", filter="number > 10")]
    encoded = tmp_path / "rules"
    encoded.write_bytes(encode_rules(compile_rules(rules)))
    got = collect(
        collector,
        tmp_path / "trace",
        [chosen],
        f"rules={encoded}",
        words=TRACEPOINTS,
    )

    assert got.facts["classes"] == 2
    assert (got.events["p00"], got.events["p01"]) == (SAMPLES, SAMPLES - 15)
    assert not any(got.events[f"p{point:02}"] for point in range(2, POINTS))


def test_damaged_rules_choose_nothing(collector, chosen, tmp_path):
    """Rather than everything."""
    damaged = tmp_path / "rules"
    damaged.write_bytes(b"VESTRUL1" + bytes(64))
    got = collect(
        collector, tmp_path / "trace", [chosen], f"rules={damaged}", words=TRACEPOINTS
    )

    assert (got.facts["classes"], got.events["p00"]) == (0, 0)


def test_processes_share_the_classes_of_tracepoints(collector, chosen, tmp_path):
    """Several programs at once find or add the same hundred."""
    several = ["sh", "-c", 'for i in 1 2 3 4; do "$@" & done; wait', "sh", chosen]
    got = collect(collector, tmp_path / "trace", several, words=TRACEPOINTS)

    assert POINTS <= got.facts["classes"] < 2 * POINTS
    assert all(got.events[f"p{point:02}"] == 4 * SAMPLES for point in range(POINTS))
    assert got.damage == ()


def test_a_record_that_no_ring_holds_is_counted(collector, tmp_path):
    """The others are there."""
    program = tmp_path / "lengthy"
    source = PROGRAMS / "lengthy.c"
    flags = [f"-I{HEADERS}", f"-I{PROGRAMS}"]
    run_tool(["gcc", "-O1", *flags, "-o", program, source, "-ldl"])
    whole = collect(collector, tmp_path / "whole", [program], words=TRACEPOINTS)
    got = collect(
        collector,
        tmp_path / "trace",
        [program],
        *("chunk=4096", "ring=2"),
        words=TRACEPOINTS,
    )
    emitted = sum(whole.events[name] for name in ("text", "numbers"))

    assert whole.lost == 0
    assert got.lost > 0
    assert sum(got.events[name] for name in ("text", "numbers")) + got.lost == emitted
