"""Which events of the kernel words choose."""

from __future__ import annotations

import pytest

from vestige.record.backends.kernel.selection import choose

AVAILABLE = [
    ("ftrace", "print"),
    ("irq", "softirq_entry"),
    ("sched", "sched_switch"),
    ("sched", "sched_waking"),
    ("syscalls", "sys_enter_openat"),
    ("syscalls", "sys_exit_openat"),
    ("syscalls", "sys_exit_read"),
]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["all"], AVAILABLE[1:]),
        (["sched"], AVAILABLE[2:4]),
        (["sched_w*", "sched_switch"], AVAILABLE[2:4]),
        (["irq_softirq_*"], AVAILABLE[1:2]),
        (["irq:softirq_entry"], AVAILABLE[1:2]),
        (["syscalls:open*"], AVAILABLE[4:6]),
        (["syscall_exit_*"], AVAILABLE[5:]),
        (["syscalls"], AVAILABLE[4:]),
    ],
)
def test_words_choose_events(words, expected):
    """Systems are the kernel's, names are LTTng's."""
    assert choose(words, AVAILABLE) == (expected, [])


def test_words_that_choose_nothing_are_told():
    """The others do what they say; a dot is a dot."""
    found = choose(["sched.*", "sched_switch", "softirq_entry", "print"], AVAILABLE)

    assert found == (AVAILABLE[2:3], ["sched.*", "softirq_entry", "print"])
