"""Who waited for mutexes, and who had them: from events with known times."""

from __future__ import annotations

import struct

import pytest

import vestige
from support.ctf_writer import Event, Packet, metadata_head, write_trace
from support.resource_traces import write_resources
from vestige.analysis.locks import read_locks
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.ctf import Writer
from vestige.errors import SelectionError

M, N = 0x10, 0x20


def lock(thread, wanted, got, mutex=M):
    """Return the events of a lock."""
    return [
        (wanted, thread, "lock_req", (mutex,)),
        (got, thread, "lock_acq", (mutex, 0)),
    ]


def unlock(thread, time, mutex=M, status=0):
    """Return the event of an unlock."""
    return (time, thread, "unlock", (mutex, status))


def read(tmp_path, *calls, **options):
    """Return what is found in a trace."""
    flat = [
        one for call in calls for one in (call if isinstance(call, list) else [call])
    ]
    return read_locks(write_resources(tmp_path / "t", sorted(flat)), **options)


def counts(one):
    """Return acquired, blocked, waited, longest wait, held, longest hold, failed."""
    return (
        one.acquired,
        one.blocked,
        one.waited,
        one.longest_wait,
        one.held,
        one.longest_hold,
        one.failed,
    )


def test_waits_and_holds_are_measured(tmp_path):
    """One thread waits for another one; a second mutex is free."""
    found = read(
        tmp_path,
        lock(1, 100, 101),
        lock(2, 110, 151),
        unlock(1, 150),
        unlock(2, 160),
        lock(1, 200, 203, N),
        unlock(1, 230, N),
    )
    first, second = found.locks

    assert (first.address, counts(first)) == (M, (2, 1, 42, 41, 58, 49, 0))
    assert (second.address, counts(second)) == (N, (1, 0, 3, 3, 27, 27, 0))
    assert counts(found.total) == (3, 1, 45, 41, 85, 49, 0)
    assert (first.threads, second.threads, first.process.pid) == (2, 1, 7)
    assert [(one.count, one.waited) for one in found.blockings] == [(1, 40)]
    longest = found.longest[0]
    assert (longest.begin, longest.duration) == (110, 41)
    assert (longest.thread.tid, longest.holder.tid, longest.address) == (2, 1, M)
    assert (found.waiting, found.still_held, found.events) == (0, 0, 9)


def test_an_unlock_that_is_told_late_ends_at_the_next_lock(tmp_path):
    """Its event comes after it, and that of the next owner may be before."""
    found = read(
        tmp_path, lock(1, 0, 10), lock(2, 20, 50), unlock(1, 51), unlock(2, 60)
    )

    assert counts(found.total) == (2, 1, 40, 30, 50, 40, 0)


def test_a_wait_is_divided_among_those_who_had_the_mutex(tmp_path):
    """Each blocks whoever waits for as long as it has it."""
    found = read(
        tmp_path,
        lock(1, 0, 10),
        lock(2, 20, 101),
        lock(3, 50, 201),
        unlock(1, 100),
        unlock(2, 200),
        unlock(3, 300),
    )
    [pair] = found.blockings

    assert counts(found.total)[:4] == (3, 2, 242, 151)
    # 20 to 100 and 50 to 100 for the first, 101 to 200 for the second.
    assert (pair.count, pair.waited, pair.longest) == (3, 80 + 50 + 99, 99)


def test_a_mutex_may_be_locked_again_by_its_owner(tmp_path):
    """It is held until the last unlock, and nobody waits for himself."""
    found = read(
        tmp_path, lock(1, 0, 10), lock(1, 20, 21), unlock(1, 30), unlock(1, 40)
    )

    assert counts(found.total) == (2, 0, 11, 10, 30, 30, 0)


def test_what_fails_is_no_lock(tmp_path):
    """Neither a lock that is refused nor a trylock that finds another owner."""
    found = read(
        tmp_path,
        (10, 1, "trylock", (M, 0)),
        (20, 2, "trylock", (M, 16)),
        (21, 2, "lock_req", (M,)),
        (22, 2, "lock_acq", (M, 35)),
        unlock(2, 23, status=1),
        unlock(1, 30),
    )

    assert counts(found.total) == (1, 0, 0, 0, 20, 20, 2)


def test_what_has_not_ended_is_in_no_count(tmp_path):
    """Who waits, and what is locked, is told apart."""
    found = read(tmp_path, lock(1, 0, 10), (20, 2, "lock_req", (M,)))

    assert counts(found.total) == (1, 0, 10, 10, 0, 0, 0)
    assert (found.waiting, found.still_held) == (1, 1)


def test_a_lock_without_its_request_has_no_wait(tmp_path):
    """As at the beginning of a range of time, or after a loss."""
    found = read(tmp_path, (10, 1, "lock_acq", (M, 0)), unlock(1, 30), unlock(1, 40, N))

    assert counts(found.total) == (0, 0, 0, 0, 20, 20, 0)


def test_only_what_some_threads_do_counts(tmp_path):
    """They may wait for others all the same."""
    found = read(
        tmp_path,
        lock(1, 100, 101),
        lock(2, 110, 151),
        unlock(1, 150),
        unlock(2, 160),
        takes=lambda _process, thread: thread == 2,
    )

    assert counts(found.total) == (1, 1, 41, 41, 9, 9, 0)
    assert found.longest[0].holder.tid == 1


def test_the_longest_waits_are_kept(tmp_path):
    """As many as are wanted, the first of equal ones before the others."""
    calls = []
    for number, wait in enumerate((5, 9, 1, 9, 7)):
        at = 1_000 * number
        calls += [*lock(1, at, at + wait), unlock(1, at + 100)]
    found = read(tmp_path, calls, longest=3)

    assert [(one.begin, one.duration) for one in found.longest] == [
        (1_000, 9),
        (3_000, 9),
        (4_000, 7),
    ]
    assert read(tmp_path, calls, longest=0).longest == []
    assert "<td>0x10</td><td>5</td>" in found._repr_html_()


def test_threads_must_be_known(tmp_path):
    """Else nobody knows who waited for whom."""
    name = "lttng_ust_pthread:pthread_mutex_lock_req"
    head = metadata_head() + (
        f'event {{ id = 0; stream_id = 0; name = "{name}"; '
        "fields := struct { uint64_t mutex; }; };\n"
    )
    packet = Packet([Event(5, struct.pack("<Q", M))])
    path = write_trace(tmp_path / "t", head, {"s": packet.encode()})

    with pytest.raises(SelectionError, match="add-context -u -t vpid -t vtid"):
        read_locks(CtfFsSource([path]))


def test_a_process_is_called_as_it_says(tmp_path):
    """Threads with names of their own do not give theirs to the process."""
    writer = Writer(
        tmp_path / "t",
        packet_context={"vpid": "s32", "vtid": "s32", "procname": str},
        event_context={"ip": "x64", "vpid": "s32"},
    )
    mutex = {"mutex": "x64"}
    name = writer.event_class("lttng_ust_statedump:procname", {"procname": str})
    prefix = "lttng_ust_pthread:pthread_mutex_"
    wanted = writer.event_class(f"{prefix}lock_req", mutex)
    got = writer.event_class(f"{prefix}lock_acq", {**mutex, "status": "s32"})
    main = writer.stream("main", vpid=7, vtid=7, procname="server")
    main.write(name, 10, {"ip": 0, "vpid": 7}, procname="server")
    worker = writer.stream("worker", vpid=7, vtid=8, procname="worker-1")
    worker.write(wanted, 20, {"ip": 0x100, "vpid": 7}, mutex=M)
    worker.write(got, 25, {"ip": 0x100, "vpid": 7}, mutex=M, status=0)
    writer.close()
    trace = vestige.open(tmp_path / "t")
    (found,) = trace.locks().locks
    assert (found.process.pid, found.process.name) == (7, "server")
    assert {one.process for one in trace.threads()} == {found.process}
