"""Where probes are put: functions and marked places of programs."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from contextlib import suppress

import pytest

from support.compilers import PROGRAMS, run_tool
from vestige.errors import RecordError
from vestige.inspect import named_symbols
from vestige.inspect.probe_places import ProbedFile, ProbePlace

ROUNDS = 400


def built(directory, *flags):
    """Build the program whose places are looked for."""
    path = directory / "marked"
    run_tool(["gcc", "-g", "-O1", *flags, "-o", path, PROGRAMS / "marked.c"])
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program with functions and marked places; it may be loaded anywhere."""
    return built(tmp_path_factory.mktemp("program"))


def output_of(*words):
    """Return what a tool prints."""
    return run_tool(words).decode()


def offset_of(path, address):
    """Return where in a file an address is loaded from, by the headers that we see."""
    for line in output_of("readelf", "-lW", path).splitlines():
        if found := re.match(r"\s+LOAD\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)", line):
            offset, start, size = (int(one, 16) for one in found.groups())
            if start <= address < start + size:
                return address - start + offset
    raise AssertionError(f"{address:#x} is not loaded")


def function_at(path, name):
    """Return where in a file a function is."""
    [address] = re.findall(rf"^(\w+) \w {name}$", output_of("nm", path), re.MULTILINE)
    return offset_of(path, int(address, 16))


def functions(path, name):
    """Return the places of functions."""
    with ProbedFile(str(path)) as file:
        return file.functions(name)


def marked(path, provider, name):
    """Return the places that are marked."""
    with ProbedFile(str(path)) as file:
        return file.marked(provider, name)


@pytest.mark.parametrize("flags", [(), ("-no-pie",), ("-shared", "-fPIC")])
def test_functions_are_where_their_symbols_say(tmp_path, flags):
    """In programs that are loaded anywhere or at one place, and in libraries."""
    path = built(tmp_path, *flags)

    for name in ("sell", "work", "sell_again"):
        assert functions(path, name) == [ProbePlace(function_at(path, name))]


def test_marked_places_have_their_counters(program):
    """The same as readelf says; one name may be at several places."""
    notes = re.findall(
        r"Name: (\w+)\n\s+Location: (\w+), Base: \w+, Semaphore: (\w+)",
        output_of("readelf", "-nW", program),
    )
    expected = {}
    for name, *addresses in notes:
        address, counter = (int(one, 16) for one in addresses)
        place = ProbePlace(
            offset_of(program, address), offset_of(program, counter) if counter else 0
        )
        expected.setdefault(name, []).append(place)

    assert {name: len(places) for name, places in expected.items()} == {
        "work": 1,
        "half": 2,
        "sold": 1,
    }
    for name, places in expected.items():
        assert marked(program, "shop", name) == sorted(places)
    assert expected["sold"][0].counter


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("chosen", "chosen only chooses a function when the program starts"),
        ("printf", "does not have printf itself: a library has it"),
        ("sel", "has no function sel: there are 'sell' and "),
        ("shop_sold_counter", "has no function shop_sold_counter: there are"),
        ("", "expected the name of a function"),
    ],
)
def test_a_function_that_can_have_no_probe_is_refused(program, name, message):
    """With the reason, and names like it."""
    with pytest.raises(RecordError, match=re.escape(message)):
        functions(program, name)


def test_a_mark_that_there_is_not_is_refused(program):
    """With names like it."""
    with pytest.raises(RecordError, match="no probe shop:solt: there are 'shop:sold'"):
        marked(program, "shop", "solt")
    with pytest.raises(RecordError, match="no probe libc:setjmp: there is none"):
        marked(shutil.which("true"), "libc", "setjmp")


def test_versions_belong_to_no_name(tmp_path):
    """All functions of a name are meant, whatever their versions."""
    source, versions = tmp_path / "old.c", tmp_path / "versions"
    source.write_text(
        "int first(void) { return 1; }\n"
        "int second(void) { return 2; }\n"
        '__asm__(".symver first, value@OLD");\n'
        '__asm__(".symver second, value@@NEW");\n'
    )
    versions.write_text("OLD {}; NEW {} OLD;\n")
    path = tmp_path / "old.so"
    script = f"-Wl,--version-script={versions}"
    run_tool(["gcc", "-shared", "-fPIC", script, "-o", path, source])

    places = [function_at(path, "first"), function_at(path, "second")]
    assert functions(path, "value") == sorted(map(ProbePlace, places))


@pytest.mark.parametrize("by", ["build ID", "debug link"])
def test_symbols_of_a_debug_file_are_found(tmp_path, monkeypatch, by):
    """Where distributions put it, and only if it belongs to the program."""
    monkeypatch.setattr(named_symbols, "DEBUG_DIRECTORY", str(tmp_path / "debug"))
    path = built(tmp_path, *(() if by == "build ID" else ("-Wl,--build-id=none",)))
    place = function_at(path, "work")
    kept = tmp_path / "marked.debug"
    if by == "build ID":
        [number] = re.findall(r"Build ID: (\w+)", output_of("readelf", "-nW", path))
        kept = tmp_path / "debug/.build-id" / number[:2] / f"{number[2:]}.debug"
        kept.parent.mkdir(parents=True)
    run_tool(["objcopy", "--only-keep-debug", path, kept])
    run_tool(["strip", path])
    if by == "debug link":
        run_tool(["objcopy", f"--add-gnu-debuglink={kept}", path])

    assert functions(path, "work") == [ProbePlace(place)]
    with kept.open("r+b") as file:
        if by == "build ID":
            file.write(bytes(64))
        else:
            file.seek(0, 2)
            file.write(b"x")
    with pytest.raises(RecordError, match="has no symbols, and no debug file"):
        functions(path, "work")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no ELF file"),
        (b"#!/bin/sh\n", "is no program or library: not an ELF file"),
        (b"\x7fELF\2\1" + b"\xff" * 58, "is for another kind of machine"),
        (None, "cannot be read: No such file"),
    ],
)
def test_what_is_no_program_is_refused(tmp_path, content, message):
    """On opening."""
    path = tmp_path / "program"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordError, match=message):
        ProbedFile(str(path))


def test_a_pipe_and_a_directory_are_refused(tmp_path):
    """Nobody waits for one who writes."""
    subprocess.run(["mkfifo", tmp_path / "pipe"], check=True)
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(RecordError, match="is no ELF file"):
            ProbedFile(str(path))


def test_damaged_files_end_in_an_error_or_in_an_answer(tmp_path, program):
    """Whatever bytes there are; never another exception."""
    whole = bytearray(program.read_bytes())
    headers = int.from_bytes(whole[40:48], "little")
    path = tmp_path / "damaged"
    chance = random.Random(21)  # noqa: S311 - repeatable
    for _ in range(ROUNDS):
        data = whole.copy()
        begin = chance.choice([0, 64, headers])
        for _ in range(chance.randrange(1, 12)):
            place = min(begin + chance.randrange(2048), len(data) - 1)
            data[place] = chance.choice([0, 1, 0x7F, 0xFF, chance.randrange(256)])
        path.write_bytes(
            data[: chance.choice([len(data), chance.randrange(len(data))])]
        )
        for look in (
            lambda: functions(path, "sell"),
            lambda: functions(path, "nothing"),
            lambda: marked(path, "shop", "sold"),
        ):
            with suppress(RecordError):
                look()
