"""Babeltrace's own debug-info objects resolve as its tests expect.

Set `BABELTRACE_CHECKOUT` to a checkout of Babeltrace 2; the objects are in
`tests/data/plugins/flt.lttng-utils.debug-info`, what is expected of them in the scripts
`tests/plugins/flt.lttng-utils.debug-info/test_bin_info_*`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from vestige.debuginfo import (
    DebugFileFinder,
    DebugInfoOptions,
    DebugLink,
    Mapping,
    Place,
    Reason,
    Resolver,
    Unresolved,
)

VARIABLE = "BABELTRACE_CHECKOUT"
CHECKOUT = Path(os.environ.get(VARIABLE, "/nowhere"))
FOLDER = "plugins/flt.lttng-utils.debug-info"
DATA = CHECKOUT / "tests/data" / FOLDER
MACHINES = ("i386", "powerpc", "powerpc64le", "x86_64")
OTHER_BUILD_ID = bytes.fromhex("a3fd8bff45e1a93215dd6daad553987eafd40cbb")
BASE = 0x400000
SIZE = 0x800000
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        not DATA.is_dir(), reason=f"{VARIABLE} names no checkout of Babeltrace 2"
    ),
]


@dataclass(frozen=True)
class Expected:
    """What the script for a machine says."""

    folder: Path
    foo: int
    printf_offset: int
    printf_line: int
    tracepoint_offset: int
    tracepoint_line: int
    crc: int
    build_id: bytes

    @classmethod
    def read(cls, machine: str) -> Expected:
        """Read the options that the script hands to the test program."""
        name = f"{machine}-linux-gnu"
        script = CHECKOUT / "tests" / FOLDER / f"test_bin_info_{name}"
        option = re.compile(r"--([a-z-]+)[= ]\"?([\w]+)")
        said = dict(option.findall(script.read_text()))
        return cls(
            DATA / name,
            int(said["foo-addr"], 16),
            int(said["printf-offset"], 16),
            int(said["printf-lineno"]),
            int(said["tp-offset"], 16),
            int(said["tp-lineno"]),
            int(said["debug-link-crc"], 16),
            bytes.fromhex(said["build-id"]),
        )


@pytest.fixture(params=MACHINES)
def expected(request: pytest.FixtureRequest) -> Expected:
    """What Babeltrace expects of the objects of one machine."""
    return Expected.read(request.param)


def look_up(
    expected: Expected,
    way: str,
    offset: int,
    build_id: bytes | None = None,
    debug_link: DebugLink | None = None,
) -> Place | Unresolved:
    """Resolve an address in `foo`, with the object where Babeltrace's tests map it."""
    folder = expected.folder / way
    options = DebugInfoOptions(debug_directories=(folder,))
    mapping = Mapping(
        BASE, SIZE, str(folder / "libhello_so"), True, build_id, debug_link
    )
    resolver = Resolver(DebugFileFinder.of(options))
    return resolver.resolve(mapping, BASE + expected.foo + offset)


def summary(
    place: Place | Unresolved,
) -> tuple[str | None, int, str | None, int | None]:
    """Return function, offset, file and line of a place."""
    assert isinstance(place, Place)
    return place.function, place.offset, place.source_path, place.line


def printf_place(expected: Expected) -> tuple[str, int, str, int]:
    """Return the place of the call of printf() in `foo`."""
    return "foo", expected.printf_offset, "./libhello.c", expected.printf_line


def test_object_with_dwarf(expected: Expected) -> None:
    """Function, offset and line come from the object itself."""
    place = look_up(expected, "dwarf_full", expected.printf_offset)
    assert summary(place) == printf_place(expected)


def test_inlined_tracepoint(expected: Expected) -> None:
    """The line of a tracepoint is that of its call."""
    place = look_up(expected, "dwarf_full", expected.tracepoint_offset)
    line = expected.tracepoint_line
    offset = expected.tracepoint_offset
    assert summary(place) == ("foo", offset, "./libhello.c", line)


def test_object_with_symbols_only(expected: Expected) -> None:
    """Function and offset are known, and why there is no line."""
    place = look_up(expected, "elf_only", expected.printf_offset)
    assert summary(place) == ("foo", expected.printf_offset, None, None)
    assert isinstance(place, Place)
    assert place.shortfall is not None
    assert place.shortfall.reason is Reason.NO_LINE


def test_debug_file_by_build_id(expected: Expected) -> None:
    """The debug file is found by the build ID that the trace has recorded."""
    place = look_up(
        expected, "build_id", expected.printf_offset, build_id=expected.build_id
    )
    assert summary(place) == printf_place(expected)


def test_another_build_id(expected: Expected) -> None:
    """An object with another build ID than the recorded one is not used."""
    place = look_up(
        expected, "build_id", expected.printf_offset, build_id=OTHER_BUILD_ID
    )
    assert summary(place)[0] is None


def test_debug_file_by_debug_link(expected: Expected) -> None:
    """The debug file is found by the name and CRC that the trace has recorded."""
    link = ("libhello_so.debug", expected.crc)
    place = look_up(expected, "debug_link", expected.printf_offset, debug_link=link)
    assert summary(place) == printf_place(expected)


def test_address_outside(expected: Expected) -> None:
    """An address below the object has no place in it."""
    place = look_up(expected, "dwarf_full", -0x200000)
    assert isinstance(place, Place)
    assert (place.function, place.line) == (None, None)
