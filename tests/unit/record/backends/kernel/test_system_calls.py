"""Arguments of system calls as LTTng has them."""

from __future__ import annotations

import struct

import pytest

import vestige
from support.kernel_calls import call, read_back
from support.kernel_fixtures import format_text, write_trace
from support.kernel_tracer import page
from vestige.record.backends.kernel.event_classes import event_class
from vestige.record.backends.kernel.formats import read_format
from vestige.record.backends.kernel.system_calls import (
    content_bytes,
    has_unread_texts,
)
from vestige.record.backends.kernel.watched_pages import read_values

CALL = ("int __syscall_nr", 8, 4, 1)


@pytest.mark.parametrize(
    ("declaration", "given", "expected"),
    [
        ("int fd", (1 << 64) - 1, -1),
        ("unsigned int fd", (1 << 64) - 1, (1 << 32) - 1),
        ("size_t count", (1 << 64) - 1, (1 << 64) - 1),
        ("loff_t pos", (1 << 64) - 1, -1),
        ("umode_t mode", 0xFFFF0755, 0x0755),
        ("pid_t pid", 0xFFFFFFFF, -1),
        ("uid_t user", 0xFFFFFFFF, 0xFFFFFFFF),
        ("char * buf", 0x7FFF00001000, 0x7FFF00001000),
        ("struct timespec * when", 16, 16),
    ],
)
def test_values_are_those_of_the_c_type(tmp_path, declaration, given, expected):
    """What is above the type's bytes means nothing."""
    event = call("sys_enter_some", declaration)

    [value] = read_back(tmp_path, event, given).values()
    assert value == expected


def test_addresses_are_shown_to_the_base_16():
    """Whatever they point to; numbers are not."""
    made = event_class(call("sys_enter_some", "void * a", "const char * b", "long c"))

    assert made.fields.count("base = 16;") == 2
    assert "signed = 1; base = 10; } _c;" in made.fields


def test_flags_of_clone_are_two_enumerations(tmp_path):
    """The signal at the end, and the options."""
    event = call(
        "sys_enter_clone",
        "unsigned long clone_flags",
        "unsigned long newsp",
        "int * parent_tidptr",
        "int * child_tidptr",
        "unsigned long tls",
    )
    found = read_back(tmp_path, event, 0x00010000 | 17, 32, 64, 96, 128)

    assert list(found) == ["flags", "newsp", "parent_tid", "child_tid", "tls"]
    flags = found["flags"]
    assert [int(flags[name]) for name in ("exit_signal", "options")] == [17, 0x100]
    assert "SIGCHLD" in str(flags["exit_signal"].labels)
    assert "CLONE_THREAD" in str(flags["options"].labels)


def test_what_a_mapping_is_has_lttngs_types(tmp_path):
    """The kernel has long words for all of it."""
    event = call(
        "sys_enter_mmap",
        *(f"unsigned long {one}" for one in ("addr", "len", "prot", "flags")),
        *("unsigned long fd", "unsigned long off"),
    )
    found = read_back(tmp_path, event, 4096, 10, 3, 34, 0xFFFFFFFF, 0)

    assert list(found) == ["addr", "len", "prot", "flags", "fd", "offset"]
    assert found["fd"] == -1


def test_operations_of_epoll_have_names(tmp_path):
    """As an enumeration, the only one that LTTng always has."""
    event = call("sys_enter_epoll_ctl", "int epfd", "int op", "int fd")
    found = read_back(tmp_path, event, 3, 2, 4)

    assert list(found) == ["epfd", "op_enum", "fd", "event"]
    assert "EPOLL_CTL_DEL" in str(found["op_enum"].labels)


def test_texts_that_the_kernel_leaves_out_are_empty(tmp_path):
    """The address is beside them."""
    event = call("sys_enter_rename", "const char * oldname", "const char * newname")

    assert has_unread_texts(event)
    assert read_back(tmp_path, event, 16, 32) == {
        "oldname": "",
        "oldname_addr": 16,
        "newname": "",
        "newname_addr": 32,
    }


def test_texts_that_the_kernel_tells_are_read(tmp_path):
    """Their field is in no further field of the trace."""
    own = ("const char * filename", 16, 8, 0), ("int flags", 24, 8, 0)
    text = ("__data_loc char[] __filename_val", 32, 4, 0)
    event = read_format("syscalls", "sys_enter_open", format_text(7, CALL, *own, text))
    record = struct.pack("<HBBii4xQQI", 7, 0, 0, 1, 0, 16, 2, 36 | 5 << 16)
    record += b"/tmp\0\0\0\0"
    write_trace(tmp_path, [event], [page(2000, [(1, record)])])
    [found] = vestige.open(tmp_path)

    assert not has_unread_texts(event)
    assert content_bytes([event]) > 165
    assert dict(found.payload) == {
        "filename": "/tmp",
        "filename_addr": 16,
        "flags": 2,
    }
    assert read_values(memoryview(record), event) == {"filename": b"/tmp", "flags": 2}


def test_what_is_written_is_in_no_trace(tmp_path):
    """The kernel tells it, LTTng does not; if nothing else is told, it need not."""
    own = ("const char * buf", 16, 8, 0), ("size_t count", 24, 8, 0)
    told = ("__data_loc char[] __buf_val", 32, 4, 0)
    event = read_format("syscalls", "sys_enter_write", format_text(7, CALL, *own, told))
    record = struct.pack("<HBBii4xQQI", 7, 0, 0, 1, 0, 16, 6, 36 | 6 << 16)
    record += b"secret\0\0"
    write_trace(tmp_path, [event], [page(2000, [(1, record)])])
    [found] = vestige.open(tmp_path)

    assert dict(found.payload) == {"buf": 16, "count": 6}
    assert read_values(memoryview(record), event) == {"buf": 16, "count": 6}
    assert content_bytes([event]) == 0


def test_other_pointers_are_no_texts():
    """What is written, and where an answer goes."""
    assert not has_unread_texts(call("sys_enter_write", "const char * buf"))
    assert not has_unread_texts(call("sys_enter_newuname", "char * name"))
    assert not has_unread_texts(call("sys_exit_open", "long ret"))
