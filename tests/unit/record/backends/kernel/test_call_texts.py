"""Texts of system calls that a program of the kernel reads."""

from __future__ import annotations

import fcntl
import itertools
import os
import struct

import pytest

import vestige
from support.kernel_fixtures import format_text
from support.kernel_tracer import why_not
from support.recorded import run_recorded
from vestige.record.backends.kernel import call_texts
from vestige.record.backends.kernel.call_texts import (
    CallTexts,
    joined_at,
    program,
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
SETTING = "events/{}/{}/enable".format(*TEXT_EVENT)


def steps(code):
    """Return instructions: operation, place and value."""
    return [(one[0], one[2], one[3]) for one in struct.iter_unpack("<BBhi", code)]


def texts_told():
    """Tell whether this kernel tells texts."""
    tracefs = Tracefs()
    try:
        made = CallTexts(tracefs)
        made.tell([OPEN])
        is_running = made.is_running
        made.close()
    finally:
        tracefs.close()
    return is_running


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


def test_a_program_tells_the_arguments_of_its_calls():
    """Whichever of its numbers it is leads to the same part, others go on."""
    code = steps(program({2: [0], 85: [0], 82: [0, 1]}))
    same, other, call = 0x15, 0x55, 0x85
    prints = [one for one in code if one == (call, 0, 6)]
    jumps = [(place, one) for place, one in enumerate(code) if one[0] in {same, other}]

    assert len(prints) == 1 + 2
    assert [one[1][2] for one in jumps] == [2, 85, 82]
    # The first number of a part jumps behind the last one of it.
    place, (_, over, _) = jumps[0]
    assert place + 1 + over == jumps[1][0] + 1
    for place, (kind, over, _) in jumps[1:]:
        assert kind == other
        assert code[place + over][0] == 0x95
    assert code[-1][0] == 0x95


def test_older_kernels_print_a_text_in_pieces():
    """Each but the first one only if the text is that long."""
    code = steps(program({257: [1]}, in_pieces=True))
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
    monkeypatch.setattr(call_texts.platform, "machine", lambda: "riscv64")
    texts = CallTexts(None)

    assert not texts.tell([OPEN])
    assert not texts.has(OPEN)


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
