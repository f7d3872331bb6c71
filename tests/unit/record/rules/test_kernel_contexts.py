"""Contexts of the kernel: which there are, and what is said of others."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.record.backends.kernel.contexts import CONTEXTS, context_fields
from vestige.record.rules.kernel_contexts import KERNEL_CONTEXTS, check_kernel_contexts
from vestige.record.rules.kernel_counters import Counter, cpu_counter
from vestige.record.rules.options import RecordingOptions


def test_all_that_are_known_can_be_written():
    """Those that are taken, and no others."""
    check_kernel_contexts(KERNEL_CONTEXTS)

    assert set(CONTEXTS) == set(KERNEL_CONTEXTS)
    fields = context_fields(KERNEL_CONTEXTS)
    names = [name.replace("-", "_") for name in KERNEL_CONTEXTS]
    assert [name for name in names if f"_{name}" not in fields] == []
    assert fields.count("_tid;") == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("perf:cpu:nothing", "no context 'perf:cpu:nothing'"),
        ("perf:cpu:raw:r0:a b", "no context 'perf:cpu:raw:r0:a b'"),
        ("perf:thread:cycles", "no context 'perf:thread:cycles'"),
        ("vip", "no context 'vip' of the kernel: expected some of tid, pid"),
    ],
)
def test_others_are_refused(name, reason):
    """With what there is, or why there is none."""
    with pytest.raises(SelectionError, match=reason):
        check_kernel_contexts(["pid", name])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"kernel_contexts": ("pid",)}, "expected events of the kernel"),
        ({"kernel_filter": "tid == 1"}, "expected events of the kernel"),
        ({"kernel": ("sched",), "kernel_contexts": ("ip",)}, "no context 'ip'"),
        ({"kernel": ("sched",), "kernel_filter": "tid =="}, "column 7"),
    ],
)
def test_a_recording_is_refused_before_it_starts(options, reason):
    """What makes no sense in any kernel."""
    with pytest.raises(SelectionError, match=reason):
        RecordingOptions(**options).check()


@pytest.mark.parametrize(
    ("name", "counter"),
    [
        ("perf:cpu:page-fault", ("perf_cpu_page_fault", 1, 2)),
        ("perf:cpu:LLC-store-misses", ("perf_cpu_LLC_store_misses", 3, 0x10102)),
        ("perf:cpu:raw:r1aF:mine", ("perf_cpu_mine", 4, 0x1AF)),
        ("perf:cpu:raw:r1:", None),
        ("perf:cpu:raw:rg:x", None),
        ("perf:thread:cs", None),
        ("pid", None),
    ],
)
def test_counters_have_the_fields_of_lttng(name, counter):
    """With underscores only, and what the kernel knows them by."""
    check_kernel_contexts([name] if counter else [])

    assert cpu_counter(name) == (counter and Counter(*counter))
