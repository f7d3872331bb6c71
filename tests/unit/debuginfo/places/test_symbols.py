"""Files and symbols of one object, without a trace."""

from __future__ import annotations

import array
import ctypes
import shutil
import zlib
from pathlib import Path

import pytest

from support.separate_debug_files import BUILD_ID, MISSING, PLACES, Target, run
from vestige.debuginfo import (
    DebugInfoOptions,
    DebugSource,
    Outcome,
    Place,
    Reason,
    SymbolTable,
    find,
)
from vestige.errors import DebugInfoError

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")


@pytest.fixture
def target(tmp_path):
    """A library that is not stripped yet."""
    return Target(tmp_path)


@pytest.fixture
def options(target):
    """Look for debug files below the target's own directory."""
    return DebugInfoOptions(debug_directories=(target.path("/usr/lib/debug"),))


def test_an_object_with_debug_information_is_found(target, options):
    """Nothing else is looked for."""
    found = find(target.object, options=options)

    assert (found.source, len(found.attempts)) == (DebugSource.OBJECT, 1)


def test_a_debug_file_is_found_by_its_build_id_alone(target, options):
    """Bytes or digits; no path is needed."""
    target.install(PLACES[0])

    by_digits = find(build_id=BUILD_ID, options=options)
    by_bytes = find(build_id=bytes.fromhex(BUILD_ID), options=options)

    for found in (by_digits, by_bytes):
        assert found.source is DebugSource.BUILD_ID
        assert [one.path for one in found.attempts] == [str(target.path(PLACES[0]))]


def test_a_file_with_another_build_id_is_not_used(target, options):
    """The reason names both."""
    found = find(target.object, build_id="1234", options=options)

    assert found.source is DebugSource.NONE
    assert (
        found.object_refusal.reason
        == f"has another build ID: {BUILD_ID} instead of 1234"
    )


def test_a_debug_link_may_be_given(target, options):
    """As a trace records it, when the object is gone."""
    target.install(PLACES[3])
    crc = zlib.crc32(target.debug.read_bytes())
    target.object.unlink()
    within = DebugInfoOptions(
        options.debug_directories, target_prefixes=(("/", target.root),)
    )

    found = find("/usr/bin/ls", debug_link=("ls.debug", crc), options=within)

    assert found.source is DebugSource.DEBUG_LINK


def test_something_must_be_asked_for():
    """Neither path nor build ID is a mistake of the caller."""
    with pytest.raises(ValueError, match="a path or a build ID"):
        find()


def test_addresses_are_those_of_the_file(target, options):
    """A list gives a list, in its order, with each distinct address once."""
    table = SymbolTable.open(target.object, options)

    places = table.lookup([target.twice + 4, 0, target.twice + 4])

    assert [isinstance(place, Place) for place in places] == [True] * 3
    assert places[0] is places[2]
    assert (places[0].function, places[0].offset, places[0].line) == ("twice", 4, 2)
    assert places[0].binary.address == target.twice + 4
    assert places[1].shortfall.reason is Reason.OUTSIDE_OF_TEXT


def test_the_debug_file_is_found_for_a_stripped_object(target, options):
    """The table says from where its names come."""
    target.strip()
    target.install(PLACES[0])

    table = SymbolTable.open(str(target.object), options)

    assert table.files.source is DebugSource.BUILD_ID
    assert table.lookup([target.twice])[0].line == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda numbers: array.array("Q", numbers),
        lambda numbers: array.array("q", numbers),
        lambda numbers: memoryview(array.array("Q", [0, *numbers]))[1:],
        lambda numbers: (ctypes.c_uint64 * len(numbers))(*numbers),
        lambda numbers: (ctypes.c_uint64.__ctype_be__ * len(numbers))(*numbers),
        tuple,
        iter,
    ],
)
def test_arrays_of_addresses_are_taken_through_the_buffer_protocol(
    target, options, make
):
    """Whatever their width and byte order."""
    table = SymbolTable.open(target.object, options)
    numbers = [target.twice, target.twice + 4]

    assert [place.offset for place in table.lookup(make(numbers))] == [0, 4]


@pytest.mark.parametrize("kind", ["<u8", ">u8", "i8", "u4"])
def test_arrays_of_numpy_are_taken(target, options, kind):
    """Of any type of integer, also when they have steps."""
    numpy = pytest.importorskip("numpy")
    table = SymbolTable.open(target.object, options)
    numbers = numpy.array([target.twice, 0, target.twice + 4, 0], dtype=kind)[::2]

    assert [place.offset for place in table.lookup(numbers)] == [0, 4]


@pytest.mark.parametrize(
    "wrong", [["1"], [1.0], b"\1\2", "12", array.array("d", [1.0]), [None]]
)
def test_what_is_no_integer_is_refused(target, options, wrong):
    """Bytes too: nobody can tell how many make an address."""
    table = SymbolTable.open(target.object, options)

    with pytest.raises(TypeError):
        table.lookup(wrong)


def test_two_dimensions_are_refused(target, options):
    """The answer is a list."""
    table = SymbolTable.open(target.object, options)
    square = memoryview(bytes(16)).cast("B", [4, 4])

    with pytest.raises(TypeError, match="one-dimensional"):
        table.lookup(square)


@pytest.mark.parametrize("address", [1 << 64, -(1 << 63) - 1])
def test_a_number_beyond_64_bits_is_refused(target, options, address):
    """It would be taken for another address."""
    table = SymbolTable.open(target.object, options)

    with pytest.raises(ValueError, match="no address of 64 bits"):
        table.lookup([address])


def test_an_object_that_is_missing_is_an_error(tmp_path, options):
    """With its path and the reason."""
    with pytest.raises(DebugInfoError, match="nothing-here: no such file"):
        SymbolTable.open(tmp_path / "nothing-here", options)


def test_an_object_that_is_no_object_is_an_error(tmp_path, options):
    """As for a text file."""
    path = tmp_path / "text"
    path.write_text("text")

    with pytest.raises(DebugInfoError, match="not a usable ELF file"):
        SymbolTable.open(path, options)


def test_a_directory_has_no_symbols(tmp_path, options):
    """The log says so too."""
    with pytest.raises(DebugInfoError, match="not a regular file"):
        SymbolTable.open(tmp_path, options)
    assert find(tmp_path, options=options).attempts[0].outcome is Outcome.NOT_A_FILE


def test_a_relative_path_is_one_of_this_directory(target, options, monkeypatch):
    """Given as text or path."""
    monkeypatch.chdir(target.object.parent)

    assert find("ls", options=options).host_path == str(target.object)
    assert find(Path("../bin/ls"), options=options).source is DebugSource.OBJECT


def test_the_width_of_an_address_is_that_of_the_object(tmp_path, options):
    """A larger one would be taken for another address of a 32-bit object."""
    compiler = shutil.which("i686-linux-gnu-gcc") or shutil.which(
        "powerpc-linux-gnu-gcc"
    )
    if compiler is None:
        pytest.skip("not installed: a compiler for 32 bits")
    (tmp_path / "a.c").write_text("int twice(int value) { return value * 2; }\n")
    path = tmp_path / "a.so"
    run(compiler, "-g", "-shared", "-nostdlib", tmp_path / "a.c", "-o", path)
    (symbol,) = (one for one in run("nm", path).splitlines() if "T twice" in one)
    table = SymbolTable.open(path, options)

    address = int(symbol.split()[0], 16)

    assert table.lookup([address])[0].function == "twice"
    with pytest.raises(ValueError, match="no address of 32 bits"):
        table.lookup([address + (1 << 32)])
