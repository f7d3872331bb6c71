"""What is found in binaries that were compiled with LTTng-UST's headers, by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, run_tool
from vestige.inspect import Field, FoundObject, Tracepoint, list_program
from vestige.inspect.program_objects import without_places
from vestige.record.backends.in_process.tracer import library_path

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")
SIGNATURE = "int, number, const char *, text"
NUMBER = Field("number", "integer", "int32_t", "", ())
TEXT = Field("text", "string", "const char *", "", ())
EXPECTED = [
    Tracepoint(
        "later",
        "blobs",
        13,
        "DEBUG_LINE",
        fields=(
            Field("head", "array", "uint8_t", "2", ("hexadecimal",)),
            Field("tail", "sequence", "uint8_t", "uint16_t", ("hexadecimal",)),
        ),
        signature=SIGNATURE,
    ),
    Tracepoint(
        "sound", "also_fine", 13, "DEBUG_LINE", fields=(NUMBER,), signature=SIGNATURE
    ),
    Tracepoint(
        "sound",
        "fine",
        4,
        "WARNING",
        "http://example.com/fine",
        (NUMBER, TEXT),
        signature=SIGNATURE,
    ),
]


@needs_gcc
@pytest.mark.parametrize("flags", [[], ["-no-pie", "-fno-pie"], ["-s"]])
def test_descriptions_are_found(tmp_path, flags):
    """With and without relocations; names of symbols are not needed."""
    program = tmp_path / "handmade"
    source = PROGRAMS / "lttng/handmade.c"
    headers = PROGRAMS.parent.parent / "tracer/lttng"
    library = Path(library_path()).with_name("libvestige-lttng.so")
    words = ["gcc", "-O1", f"-I{headers}", *flags, source, library]
    run_tool([*words, "-o", program, "-ldl"])
    found = list_program(str(program)).objects[0].tracepoints

    assert [point for point in found if point.provider != "damaged"] == EXPECTED


def test_a_place_with_other_arguments_stays():
    """Those with the same arguments are listed with their provider."""
    place = Tracepoint("a", "b", has_provider=False, signature="int, number")
    found = FoundObject("x", (place, place._replace(name="c")), ())

    assert without_places(
        found, {("a", "b"): "long, number", ("a", "c"): "int, number"}
    ) == (found._replace(tracepoints=(place._replace(is_recorded=False),)))
