"""Which events of the kernel rules and words choose."""

from __future__ import annotations

import pytest

from vestige.record.backends.kernel.rules import KernelRule, rules_of_words
from vestige.record.backends.kernel.selection import choose, names_like

AVAILABLE = [
    ("ftrace", "print"),
    ("irq", "softirq_entry"),
    ("raw_syscalls", "sys_enter"),
    ("sched", "sched_switch"),
    ("sched", "sched_waking"),
    ("syscalls", "sys_enter_openat"),
    ("syscalls", "sys_exit_openat"),
    ("syscalls", "sys_exit_read"),
]


def events(rules):
    """Return the events that rules choose, and the texts of rules that choose none."""
    found, without = choose(rules, AVAILABLE)
    return [(one.system, one.name) for one in found], [one.text for one in without]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["all"], [AVAILABLE[1], *AVAILABLE[3:]]),
        (["sched"], AVAILABLE[3:5]),
        (["sched_w*", "sched_switch"], AVAILABLE[3:5]),
        (["irq_softirq_*"], AVAILABLE[1:2]),
        (["irq:softirq_entry"], AVAILABLE[1:2]),
        (["syscalls:open*"], AVAILABLE[5:7]),
        (["syscall_exit_*"], AVAILABLE[6:]),
        (["syscalls"], AVAILABLE[5:]),
        (["raw_syscalls"], AVAILABLE[2:3]),
    ],
)
def test_words_choose_events(words, expected):
    """Systems are the kernel's, names are LTTng's."""
    assert events(rules_of_words(words)) == (expected, [])


def test_words_that_choose_nothing_are_told():
    """The others do what they say; a dot is a dot."""
    words = ["sched.*", "sched_switch", "softirq_entry", "print"]
    found = events(rules_of_words(words))

    assert found == (AVAILABLE[3:4], ["sched.*", "softirq_entry", "print"])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (KernelRule("tracepoint"), [AVAILABLE[1], *AVAILABLE[3:5]]),
        (KernelRule("tracepoint", "sys_enter"), AVAILABLE[2:3]),
        (KernelRule("tracepoint", "sched"), []),
        (KernelRule("tracepoint", r"sched_w\*"), []),
        (KernelRule("syscall"), AVAILABLE[5:]),
        (KernelRule("syscall", "openat", "entry"), AVAILABLE[5:6]),
        (KernelRule("syscall", "r*", "exit"), AVAILABLE[7:]),
        (KernelRule("probe", "*"), []),
    ],
)
def test_rules_choose_events(rule, expected):
    """Tracepoints and system calls are kinds of their own; probes bring theirs."""
    assert events([rule])[0] == expected


def test_an_event_has_all_rules_that_take_it():
    """Each may have a filter of its own."""
    rules = [KernelRule("tracepoint", "sched_*"), KernelRule("tracepoint", "*_switch")]
    found, _ = choose(rules, AVAILABLE)

    assert [one.rules for one in found] == [rules, rules[:1]]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("scheduler", ["sched"]),
        ("sched_swich", ["sched_switch"]),
        ("sched:sched_wake", ["sched:sched_waking"]),
        ("syscalls:openatt", ["syscalls:openat"]),
        ("nothing_of_all", []),
    ],
)
def test_a_mistake_has_names_like_it(word, expected):
    """As they could have been written in its place."""
    [rule] = rules_of_words([word])

    assert names_like(rule, AVAILABLE)[: len(expected) or 1] == expected
