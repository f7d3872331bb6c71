"""Input and output of a kernel: sums equal what was counted when the trace was made."""

from __future__ import annotations

import pytest

import vestige
from support.kernel_io_traces import io_records
from support.kernel_traces import write_kernel_trace
from vestige.analysis.kernel import kernel_io


def read(path, records, **options):
    """Return what a trace of some records tells."""
    trace = vestige.open(write_kernel_trace(path, records), debug_info=False)
    return kernel_io(trace.streams, **options)


@pytest.mark.parametrize("seed", [1, 2])
def test_sums_are_those_of_the_records(tmp_path, seed):
    """Of threads, system calls, disks, interfaces and pages."""
    records, model = io_records(seed, 1500)
    [found] = read(tmp_path / "kernel", records)
    threads = {one.thread: one for one in found.threads}

    assert set(threads) == {11, 12, 13}
    for thread, one in threads.items():
        assert (one.read, one.written) == (
            model.bytes["read", thread],
            model.bytes["write", thread],
        )
        assert one.failed == model.failed[thread]
        assert (one.pages_allocated, one.pages_freed) == (
            model.pages["alloc", thread],
            model.pages["free", thread],
        )
        assert one.name == f"worker {thread}"
    for operation in found.operations:
        times = model.times[operation.name]
        assert (operation.durations.count, operation.total) == (len(times), sum(times))
        assert operation.durations.quantile(1) == max(times)
    for disk in found.disks:
        requests = model.disks[disk.device]
        assert (disk.requests, disk.total) == (
            len(requests),
            sum(time for time, _, _ in requests),
        )
        assert disk.sectors_written == sum(one[1] for one in requests if one[2])
        assert disk.sectors_read == sum(one[1] for one in requests if not one[2])
    assert [one.name for one in found.disks] == ["(8,0)", "(8,16)"]
    for interface in found.interfaces:
        assert interface.sent == model.networks[interface.name, "sent"]
        assert interface.received == model.networks[interface.name, "received"]


def test_pages_are_those_of_all_blocks(tmp_path):
    """A block has two to the power of its order; those from before the trace count."""
    records = [
        (0, 100, "sched_switch", {"next_tid": 5, "next_comm": "five"}),
        (0, 110, "kmem_mm_page_free", {"order": 0}),
        (0, 120, "kmem_mm_page_free", {"order": 3}),
        (0, 130, "kmem_mm_page_alloc", {"order": 2}),
    ]
    [found] = read(tmp_path / "kernel", records)

    [one] = found.threads
    assert (one.pages_allocated, one.pages_freed) == (4, 9)


def test_one_thread_and_a_range(tmp_path):
    """What ends in the range counts; interfaces have no thread."""
    records = [
        (0, 100, "sched_switch", {"next_tid": 5, "next_comm": "five"}),
        (1, 105, "sched_switch", {"next_tid": 6, "next_comm": "six"}),
        (0, 110, "syscall_entry_read", {"fd": 3}),
        (1, 120, "syscall_entry_read", {"fd": 4}),
        (0, 150, "syscall_exit_read", {"ret": 70}),
        (1, 190, "syscall_exit_read", {"ret": 30}),
        (0, 200, "netif_receive_skb", {"len": 90, "name": "lo"}),
    ]
    [five] = read(tmp_path / "a", records, threads={5})
    assert [(one.thread, one.read) for one in five.threads] == [(5, 70)]
    assert [one.received for one in five.interfaces] == [90]
    [long] = five.operations[1].durations.longest
    assert (long.call, long.file_descriptor, long.size, long.duration) == (
        "read",
        3,
        70,
        40,
    )
    selection = vestige.graph.Selection(begin=160, end=195)
    [late] = read(tmp_path / "b", records, selection=selection)
    assert [(one.thread, one.read) for one in late.threads] == [(6, 30)]
    assert late.interfaces == []


def test_names_of_disks_and_parts_of_requests(tmp_path):
    """A state dump names them; a part that is completed is not the request."""
    issue = {"dev": 8 << 20, "sector": 4, "nr_sector": 16, "rwbs": 1, "tid": 9}
    records = [
        (0, 90, "lttng_statedump_block_device", {"dev": 8 << 20, "diskname": "sda"}),
        (0, 100, "block_rq_issue", issue),
        (0, 130, "block_rq_complete", {**issue, "nr_sector": 8}),
        (0, 150, "block_rq_complete", issue),
        (0, 160, "block_rq_complete", issue),
    ]
    [found] = read(tmp_path / "kernel", records)

    [disk] = found.disks
    assert (disk.name, disk.requests, disk.total) == ("sda", 1, 50)
    assert disk.sectors_written == 16
    assert [(one.thread, one.disk_written) for one in found.threads] == [(9, 16 * 512)]


def test_traces_without_any_of_it_are_none(tmp_path):
    """As those of programs."""
    records = [(0, 100, "sched_switch", {"next_tid": 5, "next_comm": "five"})]

    assert read(tmp_path / "kernel", records) == []
