"""The tracer and the collector of recordings, without the recorder between them."""

from __future__ import annotations

import os
import subprocess
import time
from uuid import UUID

import pytest

from support.arena import UUID_OF_TESTS, WORDS, read_counts, write_metadata
from support.tortured import COUNTER
from vestige.record._agreement import AGREEMENT
from vestige.record._collector import Collector
from vestige.record.backends.in_process.metadata import event_names
from vestige.record.backends.in_process.tracer import library_path


@pytest.fixture
def recorded(tmp_path):
    """Record a program; return its status, how many records are missing, and what was lost."""

    def run(command, *, kill_after=None, **options):
        trace = tmp_path / "trace"
        trace.mkdir(mode=0o700)
        counter = tmp_path / "counter"
        counter.write_bytes(bytes(4096))
        (trace / ".classes").write_bytes(b"")
        write_metadata(trace, WORDS)
        collector = Collector(
            trace,
            UUID(UUID_OF_TESTS).bytes,
            fingerprint=int(AGREEMENT, 16),
            first_class=len(event_names()),
            **options,
        )
        collector.start()
        place = f"arena={collector.arena_path} arena-id={collector.arena_fd_info[1]}"
        program = subprocess.Popen(
            [os.fspath(word) for word in command],
            stdout=subprocess.DEVNULL,
            env={
                **os.environ,
                "VESTIGE_TRACER": f"{WORDS} {place} directory={trace}",
                "LD_PRELOAD": library_path(),
                "TORTURE_COUNTER": str(counter),
            },
        )
        if kill_after is not None:
            time.sleep(kill_after)
            program.kill()
        program.wait()
        outcome = collector.close(1.0)
        events, lost, damage = read_counts(trace)
        calls, _ = COUNTER.unpack(counter.read_bytes()[: COUNTER.size])
        assert outcome.problems == []
        assert damage == ()
        lost += outcome.lost_unplaced
        seen = events["func_entry"] + events["func_exit"]
        return program.returncode, 2 * calls - seen - lost, lost

    return run


@pytest.mark.parametrize(
    ("mode", "number"),
    [
        ("clone-shared", 20_000),
        ("coroutines", 3000),
        ("exec", 6),
        ("forking-threads", 5),
        ("keys", 3),
        ("raw-fork", 9),
        ("seccomp", 1000),
        ("signals", 100_000),
        ("strict", 5000),
        ("threads", 20_000),
        ("vfork", 10),
    ],
)
def test_each_call_is_there_once(recorded, torture, mode, number):
    """In files that the collector alone has opened."""
    _, missing, lost = recorded([torture, mode, str(number)])

    # What test_recording_to_the_arena.py says of signals.
    assert (-1 - lost if mode == "signals" else 0) <= missing <= 0


@pytest.mark.parametrize("delay", [0.005, 0.02, 0.06])
def test_a_program_that_is_killed(recorded, torture, delay):
    """All that its threads have committed is there."""
    status, missing, lost = recorded(
        [torture, "threads", "100000000"], kill_after=delay
    )

    assert (status, lost) == (-9, 0)
    assert abs(missing) <= 2 * 8


def test_a_recording_that_reaches_its_size(recorded, torture):
    """What comes later is counted."""
    status, missing, lost = recorded([torture, "threads", "50000"], max_size=1 << 20)

    assert status == 0
    assert lost > 0
    assert missing == 0


def test_a_small_arena_slows_programs_down(recorded, torture):
    """And loses nothing."""
    status, missing, lost = recorded(
        [torture, "threads", "50000"], arena_size=1 << 20, ring=4, chunk_bytes=16384
    )

    assert (status, missing, lost) == (0, 0, 0)
