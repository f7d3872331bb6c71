"""What programs of the kernel tell of system calls: their texts."""

from __future__ import annotations

import fcntl
import itertools
import os
import struct

import pytest

import vestige
from support.kernel_calls import call, texts_told
from support.kernel_fixtures import format_text
from support.kernel_tracer import why_not
from support.recorded import run_recorded
from vestige.record.backends.kernel import call_programs
from vestige.record.backends.kernel.call_memory_program import MemoryProgram
from vestige.record.backends.kernel.call_programs import (
    CallPrograms,
    entry_program,
    has_untold,
    joined_at,
)
from vestige.record.backends.kernel.event_classes import event_class
from vestige.record.backends.kernel.formats import read_format
from vestige.record.backends.kernel.programs import TEXT_EVENT
from vestige.record.backends.kernel.tracefs import Tracefs

REASON = why_not()
OPEN = read_format(
    "syscalls",
    "sys_enter_openat",
    format_text(
        7,
        ("int __syscall_nr", 8, 4, 1),
        ("int dfd", 16, 8, 0),
        ("const char * filename", 24, 8, 0),
        ("umode_t mode", 32, 8, 0),
    ),
)
CONNECT = call(
    "sys_enter_connect", "int fd", "struct sockaddr * uservaddr", "int addrlen"
)
SETTING = "events/{}/{}/enable".format(*TEXT_EVENT)


def steps(code):
    """Return instructions: operation, place and value."""
    return [(one[0], one[2], one[3]) for one in struct.iter_unpack("<BBhi", code)]


def setting(tracefs):
    """Return the kernel's setting, while nobody is about to set it back."""
    lock = tracefs.open("instances", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return tracefs.read(SETTING)
    finally:
        os.close(lock)


@pytest.fixture
def kernel():
    """A kernel that takes programs."""
    if REASON is not None:
        pytest.skip(f"no kernel tracer: {REASON}")
    if not texts_told():
        pytest.skip("this kernel takes no programs that tell texts")


def tells_itself():
    """Tell whether this kernel's own event has the text."""
    tracefs = Tracefs()
    try:
        form = tracefs.read("events/syscalls/sys_enter_openat/format")
    finally:
        tracefs.close()
    return "__filename_val" in form


def program(calls, *, in_pieces=False):
    """Return the program that tells texts of calls."""
    memory = MemoryProgram({}, -1, is_end=False, prints_little=in_pieces)
    return steps(entry_program(calls, memory))


def reached(code, number):
    """Follow a program whose register 7 has a number, up to its end."""
    place, found = 0, []
    while code[place][0] != 0x95:
        kind, over, value = code[place]
        found.append(code[place])
        is_taken = {0x05: True, 0x15: number == value, 0x25: number > value}
        place += 1 + (over if is_taken.get(kind, False) else 0)
    return found


def test_a_program_tells_the_arguments_of_its_calls():
    """By the number of the call, after few comparisons; nothing of others."""
    calls = {2: [0], 85: [0], 82: [0, 1], **{one: [1] for one in range(200, 280)}}
    code = program(calls)
    for number in (0, 2, 82, 83, 85, 200, 240, 279, 280, 1 << 40):
        found = reached(code, number)
        prints = [one for one in found if one == (0x85, 0, 6)]
        assert len(prints) == len(calls.get(number, ()))
        assert sum(one[0] in {0x15, 0x25} for one in found) <= 8


def test_older_kernels_print_a_text_in_pieces():
    """Each but the first one only if the text is that long."""
    code = program({257: [1]}, in_pieces=True)
    prints = [one for one in code if one == (0x85, 0, 6)]
    jumps = [(place, one) for place, one in enumerate(code) if one[0] == 0xD5]

    assert len(prints) == 7
    assert [one[2] for _, one in jumps] == [63 * piece + 1 for piece in range(1, 7)]
    for (place, (_, over, _)), (following, _) in itertools.pairwise(jumps):
        assert place + 1 + over == following


def test_words_that_lead_to_texts_are_behind_the_fields():
    """Those of the kernel, which are as they are."""
    made = event_class(OPEN, texts_at=joined_at(OPEN))

    assert joined_at(OPEN) == 40
    assert ("text", 40, 0) in made.operations


def test_other_machines_tell_no_texts(monkeypatch):
    """Their registers are elsewhere."""
    other = os.uname_result(("Linux", "here", "6.1.0", "1", "riscv64"))
    monkeypatch.setattr(call_programs.os, "uname", lambda: other)
    texts = CallPrograms(None)

    assert not texts.tell([OPEN])
    assert not texts.has(OPEN)
    assert not texts.has_memory(CONNECT)
    assert has_untold(CONNECT)


@pytest.mark.usefixtures("kernel")
def test_nothing_is_left_of_a_program():
    """Neither the setting that the kernel changes when one is loaded."""
    tracefs = Tracefs()
    try:
        before = setting(tracefs)
        texts_told()
        assert setting(tracefs) == before
    finally:
        tracefs.close()


@pytest.mark.usefixtures("kernel")
def test_files_have_their_names(tmp_path):
    """Of calls with one text and with two; newer kernels cut off long ones."""
    first, second = tmp_path / "first name", tmp_path / "second"
    first.write_text("text\n")
    long = str(tmp_path / ("long" * 50))
    shell = 'cat "$0"; mv "$0" "$1"; cat "$1"; : > "$2"'
    words = ["sh", "-c", shell, str(first), str(second), long]
    calls = "syscalls:openat,syscalls:rename*,sched_process_exec"
    done = run_recorded(tmp_path / "trace", words, "--kernel", calls)
    opened, renamed = set(), set()
    for event in vestige.open(tmp_path / "trace" / "kernel"):
        if event.name == "syscall_entry_openat":
            opened.add(event.payload["filename"])
            assert event.payload["filename_addr"]
        elif event.name.startswith("syscall_entry_rename"):
            renamed.add((event.payload["oldname"], event.payload["newname"]))

    assert done.returncode == 0, done.stderr
    assert "texts to which arguments" not in done.stderr
    assert (f"{long[:165]}..." if tells_itself() else long) in opened
    assert {str(first), str(second)} <= opened
    assert (str(first), str(second)) in renamed
