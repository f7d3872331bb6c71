"""Which memory is left, and what is freed twice: from events with known blocks."""

from __future__ import annotations

import random

from support.resource_traces import write_resources
from vestige.analysis.memory import read_memory, reader


def read(tmp_path, calls, **options):
    """Return what is found in a trace."""
    return read_memory(write_resources(tmp_path / "t", calls), **options)


def counts(one):
    """Return allocations, their bytes, freed, live, peak, largest."""
    return (
        one.allocations,
        one.allocated,
        one.freed,
        one.live,
        one.peak,
        one.longest_block,
    )


def test_each_function_gets_and_gives_memory(tmp_path):
    """What is not given back is left; `posix_memalign` and others may fail."""
    found = read(
        tmp_path,
        [
            (10, 1, "malloc", (100, 0xA)),
            (20, 1, "calloc", (3, 50, 0xB)),
            (30, 2, "memalign", (64, 1000, 0xC)),
            (40, 2, "posix_memalign", (0xD, 64, 10, 0)),
            (41, 2, "posix_memalign", (0xE, 64, 10, 12)),
            (42, 2, "malloc", (1 << 40, 0)),
            (43, 2, "malloc", (0, 0)),
            (50, 1, "free", (0xC,)),
            (60, 1, "realloc", (0xA, 200, 0xAA)),
            (70, 1, "realloc", (0xAA, 1 << 50, 0)),
            (80, 1, "realloc", (0xB, 0, 0)),
            (90, 1, "realloc", (0, 5, 0xF)),
            (91, 1, "free", (0,)),
        ],
    )
    [process] = found.processes

    assert counts(found.total) == (6, 1465, 3, 215, 1260, 1000)
    assert found.total.live_blocks == 3
    assert found.total.churned == 1250
    assert (process.process.pid, process.failed, process.unknown_frees) == (7, 3, 0)
    assert (process.peak_time, found.events) == (40, 13)
    assert found.double_frees == []
    assert "<td>215</td><td>3</td>" in found._repr_html_()


def test_what_is_freed_twice_is_told_from_what_nobody_saw(tmp_path):
    """A block that is there again may be freed again."""
    found = read(
        tmp_path,
        [
            (10, 1, "malloc", (8, 0xA)),
            (20, 1, "free", (0xA,)),
            (30, 2, "free", (0xA,)),
            (40, 1, "free", (0xA,)),
            (50, 1, "malloc", (8, 0xA)),
            (60, 1, "free", (0xA,)),
            (70, 1, "free", (0xB,)),
            (80, 1, "realloc", (0xC, 4, 0xD)),
        ],
    )

    assert [(one.time, one.thread.tid, one.address) for one in found.double_frees] == [
        (30, 2, 0xA),
        (40, 1, 0xA),
    ]
    assert found.double_free_count == 2
    assert found.processes[0].unknown_frees == 2
    assert counts(found.total) == (3, 20, 2, 4, 8, 8)


def test_blocks_that_are_gone_are_remembered_for_a_while(tmp_path, monkeypatch):
    """So that memory grows with the blocks that are there."""
    monkeypatch.setattr(reader, "MOST_GONE", 2)
    calls = [(1 + n, 1, "malloc", (1, n)) for n in (1, 2, 3)]
    calls += [(10 + at, 1, "free", (n,)) for at, n in enumerate((1, 2, 3, 1, 3))]
    found = read(tmp_path, calls)

    assert [one.address for one in found.double_frees] == [3]
    assert found.processes[0].unknown_frees == 1


def test_a_realloc_that_is_told_late_takes_nothing_from_the_next_owner(tmp_path):
    """Another thread gets the block before the event of what left it."""
    found = read(
        tmp_path,
        [
            (10, 1, "malloc", (8, 0xA)),
            (20, 2, "malloc", (16, 0xA)),
            (21, 1, "realloc", (0xA, 32, 0xB)),
        ],
    )

    assert counts(found.total) == (3, 56, 1, 48, 48, 32)


def test_only_what_some_threads_got_counts(tmp_path):
    """Whoever gives it back."""
    found = read(
        tmp_path,
        [
            (10, 1, "malloc", (8, 0xA)),
            (11, 2, "malloc", (16, 0xB)),
            (12, 1, "malloc", (32, 0xC)),
            (20, 2, "free", (0xA,)),
        ],
        takes=lambda _process, thread: thread == 1,
    )

    assert counts(found.total) == (2, 40, 1, 32, 40, 32)


def test_any_order_adds_up(tmp_path):
    """Against the plainest way to know it."""
    choose = random.Random(19)  # noqa: S311 - the same each time
    live, calls, peak, total = {}, [], 0, 0
    for time in range(1, 3_000):
        if live and choose.random() < 0.48:
            address = choose.choice(list(live))
            del live[address]
            calls.append((time, choose.randint(1, 3), "free", (address,)))
        else:
            address, size = choose.randint(1, 1 << 40), choose.randint(0, 1 << 30)
            if address in live:
                continue
            live[address] = size
            total += size
            peak = max(peak, sum(live.values()))
            calls.append((time, choose.randint(1, 3), "malloc", (size, address)))
    found = read(tmp_path, calls).total

    assert (found.live, found.live_blocks) == (sum(live.values()), len(live))
    assert (found.allocated, found.peak) == (total, peak)
