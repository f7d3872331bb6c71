"""Names of C++ functions, as patterns see them."""

from __future__ import annotations

import random
import re
import shutil
import subprocess

import pytest

from support.compilers import PROGRAMS, run_tool

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

TRACER = PROGRAMS.parent.parent / "tracer/rules"
NAMES = {
    "_Z1fv": "f",
    "_ZL5localv": "local",
    "_ZN6shapes6Circle4areaEv": "shapes::Circle::area",
    "_ZNK6shapes6CircleclEi": "shapes::Circle::operator()",
    "_ZN6shapes6CircleC2Ev": "shapes::Circle::Circle",
    "_ZN6shapes6CircleD0Ev": "shapes::Circle::~Circle",
    "_ZN6shapes12_GLOBAL__N_16hiddenEv": "shapes::(anonymous namespace)::hidden",
    "_ZN6shapes5twiceIiEET_S1_": "shapes::twice",
    "_ZNSt6vectorIiSaIiEE9push_backEOi": "std::vector::push_back",
    "_ZNSaIcED1Ev": "std::allocator::~allocator",
    "_ZNSolsEPFRSoS_E": "std::basic_ostream::operator<<",
    "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c": "std::operator<<",
    "_ZN1AcvbEv": "A::operator",
    "_Znwm": "operator new",
    "_ZdaPv": "operator delete[]",
    "_ZN1A1fB5cxx11Ev": "A::f",
    "_ZZN1A1fEvEN1B1gEv": "A::f::B::g",
    "_ZZ4mainENKUliE_clEi": "main::{lambda}::operator()",
    "_ZN4llvm3orclsERNS_11raw_ostreamERKNS0_10LookupKindE": "llvm::orc::operator<<",
    "_ZN1AIXadL_Z1fvEEE1gEv": "",
    "_ZN1A": "",
    "_Z": "",
    "_Z99999999999999999999f": "",
    "main": "",
}
"""With an expression as template argument, cut off, and no names at all."""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that reads beyond nothing."""
    path = tmp_path_factory.mktemp("names") / "demangled"
    sources = [PROGRAMS / "demangled.c", TRACER / "cxx_names.c"]
    flags = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    run_tool(["gcc", *flags, "-o", path, *sources])
    return path


def readable(program, names):
    """Return the readable names."""
    done = subprocess.run(
        [program],
        input="\n".join([*names, ""]),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_names_are_qualified_and_without_types(program):
    """As they are written in a source file."""
    assert dict(zip(NAMES, readable(program, NAMES), strict=True)) == NAMES


def test_names_may_be_anything(program):
    """Damaged ones, and ones that are nested without end."""
    chance = random.Random(3)  # noqa: S311 - the same each time
    names = ["_Z" + letter * 9000 for letter in "NPASFIMTZJ"]
    known = [name for name in NAMES if name.startswith("_Z")]
    for _ in range(20_000):
        name = list(chance.choice(known))
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(2, len(name) + 1)
            letter = chance.choice("NZSTIEDFALMUXJ_019tdspl")
            name[place : place + chance.randint(0, 1)] = [letter]
        names.append("".join(name[: chance.randint(2, 60)]))

    assert len(readable(program, names)) == len(names)


def test_the_names_of_a_large_library_are_those_of_another_demangler(program):
    """But for types, which are cut out of the other's."""
    if shutil.which("c++filt") is None:
        pytest.skip("not installed: c++filt")
    library = run_tool(["g++", "-print-file-name=libstdc++.so"]).decode().strip()
    listed = run_tool(["nm", "-D", "--defined-only", library]).decode().split("\n")
    symbols = [line.split() for line in listed if re.search(r" [TW] _Z[^TG]", line)]
    names = sorted({words[2].partition("@")[0] for words in symbols})
    theirs = subprocess.run(
        ["c++filt", "-p"],
        input="\n".join(names),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    pairs = zip(readable(program, names), map(without_types, theirs), strict=True)
    different = [pair for pair in pairs if pair[0] != pair[1]]

    assert len(names) > 1000
    # Conversions have their type there.
    assert all(ours.endswith("::operator") for ours, _ in different)


def without_types(name):
    """Cut out template arguments and tags."""
    name = re.sub(r"operator(<=>|<<=?|>>=?|<=?|>=?|->\*?)", _marked, name)
    name = re.sub(r"\[abi:\w+\]", "", name)
    kept, depth = "", 0
    for letter in name:
        depth += (letter == "<") - (letter == ">")
        kept += letter if depth == 0 and letter != ">" else ""
    return kept.replace("\1", "<").replace("\2", ">").rstrip()


def _marked(found):
    return found[0].replace("<", "\1").replace(">", "\2")
