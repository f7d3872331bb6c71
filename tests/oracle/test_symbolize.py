"""`vestige symbolize` prints the lines of addr2line, and packed traces open elsewhere."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.peers import babeltrace, run_peer
from support.recordings import DATA, DEMO
from support.symbolizers import disassemble

SOURCES = Path(__file__).resolve().parent.parent / "programs" / "symbols"
DISCRIMINATOR = re.compile(r" \(discriminator \d+\)")
FILE_WITHOUT_LINE = re.compile(r"[^ ]*:\?$")
"""addr2line takes a file from the symbol table where no line is known."""


COMPILED = {
    "c": ("gcc", "program.c", "other.c", "assembly.S"),
    "cpp": ("g++", "program.cpp"),
}
"""A program in C and one in C++: the compiler and the sources."""


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def level(request) -> str:
    """A level of optimisation."""
    return request.param


@pytest.fixture(scope="module", params=COMPILED)
def program(request, level, tmp_path_factory) -> Path:
    """A program, at a level of optimisation."""
    compiler, *names = COMPILED[request.param]
    output = tmp_path_factory.mktemp("symbolize") / request.param
    sources = [SOURCES / name for name in names]
    run_tool([compiler, "-g", level, f"-I{SOURCES}", *sources, "-o", output])
    return output


def lines_of(command, program, addresses):
    """Run a symbolizer on addresses from its standard input; return its lines."""
    text = "".join(f"{address:x}\n" for address in addresses).encode()
    done = run_peer([*command, "-e", program], text=text)
    assert done.status == 0
    return [
        FILE_WITHOUT_LINE.sub("??:?", DISCRIMINATOR.sub("", line))
        for line in done.stdout.decode().splitlines()
    ]


def agree(found, expected):
    """Tell whether two lines agree; the peer takes some headers for the unit's file."""
    (name, _, line), (file, _, peers_line) = (
        found.rpartition(":"),
        expected.rpartition(":"),
    )
    in_header = file.endswith((".c", ".cpp")) and name.endswith(".h")
    # An entry of a procedure linkage table has a name here: malloc@plt.
    known = expected == "??:0" and found == "??:?"
    return found == expected or known or (in_header and line == peers_line)


@pytest.mark.oracle
@pytest.mark.usefixtures("addr2line_peer")
@pytest.mark.parametrize(
    "flags", ["-f", "-i", "-a", "-s", "-fi", "-fiC", "-afisC", "pretty"]
)
def test_every_instruction_has_the_lines_of_addr2line(program, flags):
    """In form all of them; in content all but those that the corpus test explains."""
    addresses = [*disassemble(program).addresses, 0, 0xFFFF_FFFF_0000]
    own_flags, peer_flags = [flags], [flags]
    if flags == "pretty":
        own_flags, peer_flags = ["-fia", "--pretty"], ["-fiap"]
    expected = lines_of(["addr2line", *peer_flags], program, addresses)
    own = [sys.executable, "-m", "vestige", "symbolize", *own_flags]
    found = lines_of(own, program, addresses)

    assert len(addresses) > 300
    assert len(found) == len(expected)
    different = [pair for pair in zip(found, expected, strict=True) if not agree(*pair)]
    # Names of clones, aliases and local functions, in C++ of templates too.
    share = len(different) / len(expected)
    most = 0.001 if "f" not in flags and flags != "pretty" else 0.12
    assert share <= most, different[:5]


@pytest.mark.oracle
@pytest.mark.usefixtures("babeltrace_peer")
@pytest.mark.parametrize("name", ["demo", "hello", "reload"])
def test_a_trace_with_packed_symbols_is_the_same_trace_for_babeltrace(name, tmp_path):
    """Wherever in its directories they lie, and without a warning."""
    original = DEMO / "trace" if name == "demo" else DATA / name
    trace = shutil.copytree(original, tmp_path / name)
    expected = babeltrace(trace)
    directories = (trace, next(trace.rglob("metadata")).parent)
    for directory in directories:
        command = [sys.executable, "-m", "vestige", "debuginfo", directory]
        words = [f"--debug-info-dir={DEMO / 'debug'}:{DATA / 'reload-debug'}", "--full"]
        done = run_peer([*command, *words, "--pack"])
        assert done.status == 0
        assert (directory / "debug-info.vestige").is_dir()

    assert babeltrace(trace) == expected
    assert babeltrace(directories[1]).stderr == b""
    checked = run_peer([sys.executable, "-m", "vestige", "check", trace])
    assert (checked.status, checked.stderr) == (0, b"")
