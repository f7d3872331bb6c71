"""Names read as `c++filt` or `llvm-cxxfilt` writes them."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.peers import run_peer
from support.symbol_corpus import VARIANTS, build_corpus
from vestige import core

LIBRARIES = (
    Path("/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
    Path("/usr/bin/python3.11"),
)
BUILT = ("cpp-gcc-O0-g", "cpp-clang-O2-g", "rust-O-g", "cpp-gcc-O1-g-static")
FUNCTIONS = "tTwWi"
PEERS = ("c++filt", "llvm-cxxfilt")
RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
STREAMS = {
    f"basic_{name}<char, std::char_traits<char> >": name
    for name in ("ostream", "istream", "iostream")
}
"""Names that the ABI abbreviates, as written in full."""
MOST_SHOWN = 20
ALLOWED = 0.01
"""The part of the names that may read otherwise; see `docs/reference/symbols.md`."""
MISSING = [tool for tool in ("nm", "g++", *PEERS) if shutil.which(tool) is None]
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}"),
]


@pytest.fixture(scope="module")
def mangled_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The mangled names of functions in libraries and in objects of the corpus."""
    variants = [variant for variant in VARIANTS if variant.name in BUILT]
    corpus = build_corpus(tmp_path_factory.mktemp("names"), variants)
    files = [one.object for one in corpus.built]
    files += [path for path in LIBRARIES if path.exists()]
    names = {name for path in files for name in function_names(path)}
    return sorted(name for name in names if name.startswith(("_Z", "_R")))


def function_names(path: Path) -> Iterable[str]:
    """Return the names of the functions in both symbol tables of an object."""
    for option in ("-a", "-D"):
        for line in run_tool(["nm", option, "--defined-only", path]).splitlines():
            kind, name = line.decode().split()[-2:]
            if kind in FUNCTIONS:
                yield name.partition("@")[0]


def demangled_by(tool: str, names: list[str]) -> list[str]:
    """Return the names as a tool writes them."""
    return run_peer([tool], text="\n".join(names).encode()).stdout.decode().splitlines()


def comparable(name: str) -> str:
    """Return a name without what is a matter of taste: spaces, and the hash of Rust."""
    plain = RUST_HASH.sub("", name).replace("decltype(nullptr)", "std::nullptr_t")
    for whole, short in STREAMS.items():
        plain = plain.replace(whole, short).replace(f"::basic_{short}(", f"::{short}(")
    return re.sub(r"\s", "", plain)


def test_names_read_as_other_demanglers_write_them(
    mangled_names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """All but a few names of functions are those of one of the peers."""
    assert len(mangled_names) > 1000
    written = [demangled_by(tool, mangled_names) for tool in PEERS]
    different = []
    for name, *theirs in zip(mangled_names, *written, strict=True):
        ours = core.demangle(name) or name
        if comparable(ours) not in {comparable(text) for text in theirs}:
            different.append(f"{name}\n    {ours}\n    {theirs[0]}")
    counts = f"{len(mangled_names)} names, {len(different)} read otherwise"
    with capsys.disabled():
        sys.stdout.write(f"\n{counts}\n")
    assert len(different) <= ALLOWED * len(mangled_names), "\n".join(
        [counts, *different[:MOST_SHOWN]]
    )
