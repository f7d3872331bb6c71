"""From what the kernel says of its events to fields as LTTng has them."""

from __future__ import annotations

import pytest

from vestige.record.backends.kernel.event_classes import event_class
from vestige.record.backends.kernel.formats import read_format
from vestige.record.backends.kernel.lttng_names import lttng_name

HEAD = """\
ID: 7
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

"""
TAIL = '\nprint fmt: "field:int x;\toffset:1;\tsize:4;\tsigned:1;", REC->x\n'


def made(system, name, *fields):
    """Return the class of an event with some fields: declaration, offset, size, sign."""
    lines = [
        f"\tfield:{text};\toffset:{at};\tsize:{size};\tsigned:{signed};\n"
        for text, at, size, signed in fields
    ]
    return event_class(read_format(system, name, HEAD + "".join(lines) + TAIL))


def named(one):
    """Return the names of a class's fields."""
    return [
        word.strip(";").split("[")[0] for word in one.fields.split() if word[0] == "_"
    ]


def test_neighbours_are_copied_in_one_go():
    """From the thread on, as the context is before the fields."""
    one = made("irq", "irq_handler_exit", ("int irq", 8, 4, 1), ("int ret", 12, 4, 1))

    assert one.name == "irq_handler_exit"
    assert one.operations == (("copy", 4, 12),)
    assert named(one) == ["_irq", "_ret"]


def test_a_switch_has_lttngs_names_and_priorities():
    """IDs of threads are no processes', and priority 0 is the kernel's 100."""
    one = made(
        "sched",
        "sched_switch",
        ("char prev_comm[16]", 8, 16, 0),
        ("pid_t prev_pid", 24, 4, 1),
        ("int prev_prio", 28, 4, 1),
        ("long prev_state", 32, 8, 1),
        ("char next_comm[16]", 40, 16, 0),
        ("pid_t next_pid", 56, 4, 1),
        ("int next_prio", 60, 4, 1),
    )

    assert named(one) == [
        *("_prev_comm", "_prev_tid", "_prev_prio", "_prev_state"),
        *("_next_comm", "_next_tid", "_next_prio"),
    ]
    assert one.operations == (
        ("copy", 4, 24),
        ("subtract", 28, 100),
        ("copy", 32, 28),
        ("subtract", 60, 100),
    )


def test_arguments_are_as_wide_as_their_types():
    """And what leads to a text is one, with its address beside it."""
    one = made(
        "syscalls",
        "sys_enter_openat",
        ("int __syscall_nr", 8, 4, 1),
        ("int dfd", 16, 8, 0),
        ("const char * filename", 24, 8, 0),
        ("int flags", 32, 8, 0),
        ("umode_t mode", 40, 8, 0),
    )

    assert one.name == "syscall_entry_openat"
    assert one.operations == (
        ("copy", 4, 4),
        ("copy", 16, 4),
        ("zeros", 1, 0),
        ("copy", 24, 12),
        ("copy", 40, 2),
    )
    assert named(one) == ["_dfd", "_filename", "_filename_addr", "_flags", "_mode"]
    assert "size = 32; align = 8; signed = 1; base = 10; } _dfd" in one.fields
    assert "base = 16; } _filename_addr" in one.fields
    assert "string _filename;" in one.fields


def test_a_kernel_that_reads_the_text_gives_it():
    """It is in a field beside the address then."""
    one = made(
        "syscalls",
        "sys_enter_chdir",
        ("const char * filename", 16, 8, 0),
        ("__data_loc char[] __filename_val", 24, 4, 0),
    )

    assert one.operations[:3] == (("copy", 4, 4), ("text", 24, 0), ("copy", 16, 8))


def test_what_a_buffer_holds_is_no_text():
    """What is written may be anything."""
    one = made("syscalls", "sys_enter_write", ("const char * buf", 24, 8, 0))

    assert "string" not in one.fields
    assert "base = 16; } _buf;" in one.fields


def test_requests_to_disks_have_bits_and_a_thread():
    """The text with letters is the kernel's."""
    one = made(
        "block",
        "block_rq_issue",
        ("unsigned int bytes", 28, 4, 0),
        ("unsigned short ioprio", 32, 2, 0),
        ("char rwbs[10]", 34, 10, 0),
        ("char comm[16]", 44, 16, 0),
        ("__data_loc char[] cmd", 60, 4, 0),
    )

    assert named(one) == ["_bytes", "_rwbs", "_comm", "_tid"]
    assert ("request_bits", 34, 10) in one.operations
    assert one.operations[-1] == ("copy", 4, 4)


def test_a_fork_has_thread_groups():
    """Of parent and child, which the kernel's event does not have."""
    one = made(
        "sched",
        "sched_process_fork",
        ("__data_loc char[] parent_comm", 8, 4, 0),
        ("pid_t parent_pid", 12, 4, 1),
        ("__data_loc char[] child_comm", 16, 4, 0),
        ("pid_t child_pid", 20, 4, 1),
    )

    assert named(one) == [
        *("_parent_comm", "_parent_tid", "_child_comm", "_child_tid"),
        *("_parent_pid", "_child_pid"),
    ]
    assert one.operations[-1] == ("groups", 12, 20)


@pytest.mark.parametrize(
    ("declaration", "size", "operation", "text"),
    [
        ("unsigned int vec", 4, ("copy", 4, 5), "size = 8;"),
        ("unsigned long args[6]", 48, ("copy", 4, 52), "size = 64;"),
        ("u8 addr[16]", 16, ("copy", 4, 20), "_addr[16];"),
        ("struct thing x", 24, ("copy", 4, 28), "_x[24];"),
        ("__data_loc u64[] list", 4, ("sequence", 8, 8), "[__list_length];"),
        ("__rel_loc char[] name", 4, ("relative_text", 8, 0), "string _name;"),
        ("__data_loc cpumask_t mask", 4, ("sequence", 8, 1), "_mask[__mask_length]"),
    ],
)
def test_fields_of_any_kind_are_kept(declaration, size, operation, text):
    """What has no meaning here stays as the bytes that it is."""
    one = made("irq", "softirq_entry", (declaration, 8, size, 0))

    assert one.operations[-1] == operation
    assert text in one.fields


@pytest.mark.parametrize(
    ("system", "name", "expected"),
    [
        ("syscalls", "sys_exit_read", "syscall_exit_read"),
        ("irq", "softirq_entry", "irq_softirq_entry"),
        ("net", "netif_receive_skb", "net_if_receive_skb"),
        ("kmem", "kmalloc", "kmem_kmalloc"),
        ("timer", "hrtimer_setup", "timer_hrtimer_init"),
        ("irq_vectors", "local_timer_entry", "x86_irq_vectors_local_timer_entry"),
        ("exceptions", "page_fault_user", "x86_exceptions_page_fault_user"),
        ("power", "cpu_idle", "power_cpu_idle"),
        ("ftrace", "print", "lttng_logger"),
        ("sched", "sched_waking", "sched_waking"),
    ],
)
def test_names_are_lttngs(system, name, expected):
    """One of each kind."""
    assert lttng_name(system, name) == expected


def test_what_is_no_format_is_refused():
    """It has no ID."""
    with pytest.raises(ValueError, match="no ID"):
        read_format("a", "b", "format:\n")
