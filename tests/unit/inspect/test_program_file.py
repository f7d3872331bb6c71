"""What executables say about whether they can be traced."""

from __future__ import annotations

import os
import platform
import shutil
import struct

import pytest

from support.compilers import compiled
from vestige.inspect.program_file import why_untraceable
from vestige.inspect.programs import find_program

needs_compiler = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


def elf(path, *, bits=64, machine=62, order=1):
    """Write the header of an ELF file."""
    start = b"\x7fELF" + bytes([2 if bits == 64 else 1, order, 1]) + bytes(9)
    path.write_bytes((start + struct.pack("=HH", 2, machine)).ljust(64, b"\0"))
    return path


@needs_compiler
def test_programs_that_the_dynamic_linker_loads_can_be_traced(tmp_path):
    """Position-independent or not, and scripts."""
    script = tmp_path / "script"
    script.write_text("#! /bin/sh -e\n")
    searching = tmp_path / "searching"
    searching.write_text("#!/usr/bin/env sh\n")

    assert why_untraceable(compiled(tmp_path)) is None
    assert why_untraceable(compiled(tmp_path, "-no-pie")) is None
    assert why_untraceable(script) is None
    assert why_untraceable(searching) is None


@needs_compiler
def test_a_static_program_cannot_be_traced(tmp_path):
    """Nor a script that it interprets."""
    program = compiled(tmp_path, "-static")
    script = tmp_path / "script"
    script.write_text(f"#!{program}\n")

    for path in (program, script):
        assert f"{program} is a static program" in (why_untraceable(path) or "")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names x86-64")
@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ({"bits": 32, "machine": 3}, "is a program for 32-bit x86, and the tracer"),
        ({"machine": 183}, "is a program for AArch64, and the tracer"),
        ({"machine": 4711}, "is a program for machine 4711, and the tracer"),
        ({"machine": 22, "order": 2}, "is for another architecture"),
    ],
)
def test_a_program_for_another_machine_cannot_be_traced(tmp_path, header, expected):
    """It runs in an emulator, or with libraries of its own."""
    assert expected in (why_untraceable(elf(tmp_path / "program", **header)) or "")


def test_what_is_no_program_cannot_be_traced(tmp_path):
    """The reason names it."""
    (tmp_path / "text").write_text("hello")

    assert "text is no ELF file" in (why_untraceable(tmp_path / "text") or "")
    assert "cannot be read: No such" in (why_untraceable(tmp_path / "nothing") or "")


@pytest.mark.skipif(os.getuid() != 0, reason="needs files of somebody else")
@pytest.mark.parametrize(("mode", "whose"), [(0o4755, "user"), (0o2755, "group")])
def test_a_program_with_privileges_cannot_be_traced(tmp_path, mode, whose):
    """The dynamic linker ignores the environment."""
    path = tmp_path / "program"
    shutil.copy("/bin/true", path)
    os.chown(path, 12345, 12345)
    path.chmod(mode)

    assert f"is a set-{whose}-ID program" in (why_untraceable(path) or "")


def test_programs_are_found_as_the_shell_does(tmp_path):
    """By the path variable, unless there is a slash in the name."""
    path = tmp_path / "tool"
    path.write_text("#!/bin/sh\n")

    assert find_program("tool", str(tmp_path)) is None
    path.chmod(0o755)
    assert find_program("tool", f"/nowhere:{tmp_path}") == str(path)
    assert find_program("./tool", None) == "./tool"
    assert find_program("sh", None) is not None


def test_directories_that_cannot_be_searched_are_passed_over():
    """As those of another user, which become part of PATH with su(1)."""
    assert find_program("true", f"/{'x' * 300}:/bin") == "/bin/true"
