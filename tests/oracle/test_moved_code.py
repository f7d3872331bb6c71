"""Moved code, read by an independent disassembler: it does what the original did."""

from __future__ import annotations

import re
import shutil
import struct
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.patched import needs_patching
from vestige.core import FunctionPlan, ObjectFile

pytestmark = needs_patching

HEADER = 88
FUNCTION = struct.Struct("<QQBBB5x24s")
FIXUP = struct.Struct("<I4xQ")
BASE = 0x10000000
"""Where the moved code is laid out, near enough to any object."""
SPACE = 256
"""Of each function there."""
LINE = re.compile(r"\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(.*)")
END = re.compile(r"(repz |bnd |notrack )?(ret|jmp|ud2|hlt)\b")
PADDING = re.compile(r"(data16 |cs )*(nop|xchg ax,ax|int3)")
TARGET = re.compile(r"0x[0-9a-f]+")
OBJECTS = ("/bin/bash", "/usr/bin/python3.11", "/usr/bin/git", "/usr/bin/sqlite3")


def functions(plan):
    """Yield address, place, replaced bytes, moved code and fixups of each function."""
    at = HEADER
    while at < len(plan):
        address, place, size, code_size, count, replaced = FUNCTION.unpack_from(
            plan, at
        )
        at += FUNCTION.size
        code = plan[at : at + code_size]
        at += (code_size + 7) & ~7
        fixups = [FIXUP.unpack_from(plan, at + FIXUP.size * n) for n in range(count)]
        at += FIXUP.size * count
        yield address, place, replaced[:size], code, fixups


def laid_out(parts):
    """Return pieces of code with as much space for each."""
    return b"".join(part.ljust(SPACE, b"\xcc") for part in parts)


def fixed(code, fixups, place):
    """Return moved code as the tracer puts it to a place."""
    code = bytearray(code)
    for at, target in fixups:
        struct.pack_into("<i", code, at, target - (place + at + 4))
    return bytes(code)


def disassembled(directory, code, base):
    """Return what objdump reads: address, number of bytes, text."""
    path = directory / "code"
    path.write_bytes(code)
    command = ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-Mintel", "-z"]
    text = run_tool([*command, "-w", f"--adjust-vma={base:#x}", path]).decode()
    found = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            text = re.sub(r"\s+", " ", match[3]).strip()
            found[int(match[1], 16)] = (len(match[2].split()), text)
    return found


def at(code, start, end):
    """Return addresses and texts of the instructions in a range."""
    found = []
    while start < end:
        size, text = code[start]
        found.append((start, size, text))
        start += size
    return found


def meaning(text, shift=0):
    """Return what an instruction does, and where it leads or what it refers to."""
    text, _, comment = (part.strip() for part in text.partition("#"))
    if "[rip" in text:
        refers = int(TARGET.search(comment)[0], 16) + shift
        return re.sub(r"\[rip.*?\]", "[there]", text), refers
    match = re.match(r"(j\w+|call) (0x[0-9a-f]+)$", text)
    return (match[1], int(match[2], 16) + shift) if match else (text, None)


def moved_meaning(instructions, end):
    """Return the same of moved code, with calls put together and without its end."""
    found = []
    texts = [text for _, _, text in instructions]
    while texts:
        if texts[0] == "lea rsp,[rsp-0x8]":
            # A place for the return address, and a jump to what is called.
            assert texts[1] == "push rax"
            back = meaning(texts[2])
            assert back[0] == "lea rax,[there]"
            assert texts[3:5] == ["mov QWORD PTR [rsp+0x8],rax", "pop rax"]
            kind, target = meaning(texts[5])
            found.append((re.sub(r"^(notrack )?jmp", "call", kind), target, back[1]))
            texts = texts[6:]
            continue
        found.append((*meaning(texts[0]), None))
        texts = texts[1:]
    if found and found[-1][:2] == ("jmp", end):
        found.pop()
    return found


@pytest.mark.skipif(shutil.which("objdump") is None, reason="not installed: objdump")
@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: Path(path).name)
def test_moved_code_does_what_the_original_did(tmp_path, path):
    """The same instructions with the same operands and targets, of each function."""
    if not Path(path).exists():
        pytest.skip(f"not installed: {path}")
    plan = FunctionPlan.make(ObjectFile.open(path), [], only_sites=False)
    planned = list(functions(plan.to_bytes()))
    assert len(planned) > 100
    places = [BASE + SPACE * number for number in range(len(planned))]
    codes = [
        fixed(code, fixups, place)
        for place, (_, _, _, code, fixups) in zip(places, planned, strict=True)
    ]
    moved = disassembled(tmp_path, laid_out(codes), BASE)
    originals = [replaced for _, _, replaced, _, _ in planned]
    before = disassembled(tmp_path, laid_out(originals), BASE)
    for ours, (_, place, replaced, code, _) in zip(places, planned, strict=True):
        shift = place - ours
        expected = []
        for start, size, text in at(before, ours, ours + len(replaced)):
            after = start + size + shift if is_call(text) else None
            if not PADDING.match(text):
                expected.append((*meaning(text, shift), after))
            if END.match(text):
                # What is replaced after it is padding, perhaps not all of it.
                break
        found = moved_meaning(at(moved, ours, ours + len(code)), place + len(replaced))
        assert found == expected, hex(place)


def is_call(text):
    """Whether an instruction is a call."""
    return re.match(r"(notrack )?call\b", text) is not None
