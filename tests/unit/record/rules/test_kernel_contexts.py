"""Contexts of the kernel: which there are, and what is said of others."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.record.backends.kernel.contexts import CONTEXTS, context_fields
from vestige.record.rules.kernel_contexts import KERNEL_CONTEXTS, check_kernel_contexts
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
        ("perf:cpu:cycles", "reads no performance counters"),
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
        ({"kernel_contexts": ("pid",)}, "expected events of it"),
        ({"kernel_filter": "tid == 1"}, "expected events of it"),
        ({"kernel": ("sched",), "kernel_contexts": ("ip",)}, "no context 'ip'"),
        ({"kernel": ("sched",), "kernel_filter": "tid =="}, "column 7"),
    ],
)
def test_a_recording_is_refused_before_it_starts(options, reason):
    """What makes no sense in any kernel."""
    with pytest.raises(SelectionError, match=reason):
        RecordingOptions(**options).check()
