"""Each instruction of many objects has the function, line and calls that it should have.

`llvm-symbolizer` and `addr2line` are asked too. Where they agree, Vestige agrees with
them; where they do not, with one of them. What differs from both is in a list of
explanations, and a difference that none of them covers fails.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.explained_symbols import read_explanations
from support.symbol_comparison import Case, SymbolNames, Tally, cases
from support.symbol_corpus import (
    VARIANTS,
    Built,
    Corpus,
    add_system_objects,
    build_corpus,
)
from support.symbolizers import (
    ask_addr2line,
    ask_llvm,
    ask_vestige,
    disassemble,
)
from vestige.debuginfo import SymbolTable

EXPLANATIONS = read_explanations(Path(__file__).with_name("explained.txt"))
DEBUG_FILES = Path("/usr/lib/debug")
LLVM = "llvm-symbolizer"
MOST_INSTRUCTIONS = 6000
MOST_SHOWN = 10
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(shutil.which(LLVM) is None, reason=f"{LLVM} is not installed"),
    pytest.mark.usefixtures("addr2line_peer"),
    # Compilers of some machines make all of it first, on a machine that is busy.
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The objects that the compilers of this machine can make."""
    made = build_corpus(tmp_path_factory.mktemp("corpus"), VARIANTS)
    add_system_objects(made, DEBUG_FILES)
    return made


@pytest.fixture(scope="module")
def tally(corpus: Corpus) -> Tally:
    """What the symbolizers and Vestige say of the instructions of all objects."""
    return judge(corpus.built)


def judge(objects: Iterable[Built]) -> Tally:
    """Compare the answers for the instructions of objects."""
    tally = Tally()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(answers, objects):
            tally.objects += 1
            for case in found:
                tally.add(case, EXPLANATIONS)
    return tally


def answers(built: Built) -> list[Case]:
    """Ask about the instructions of one object, or a sample where there are many."""
    tools, peer_object = built.variant.machine, built.peer_object
    code = disassemble(peer_object, f"{tools}objdump")
    addresses = code.addresses[:: 1 + len(code.addresses) // MOST_INSTRUCTIONS]
    table = SymbolTable.open(built.object)
    said = (
        ask_vestige(table, addresses),
        ask_llvm(peer_object, addresses, LLVM),
        ask_addr2line(peer_object, addresses, f"{tools}addr2line"),
    )
    files = [peer_object, *([built.debug_file] if built.debug_file else [])]
    symbols = SymbolNames.read(files, f"{tools}nm")
    symbols.plt_code = code.plt_code
    symbols.add_plt_entries(code.plt_entries)
    return list(cases(built.variant.name, addresses, said, symbols))


def test_each_difference_is_explained(
    tally: Tally, corpus: Corpus, capsys: pytest.CaptureFixture[str]
) -> None:
    """No answer differs from both symbolizers without an explanation."""
    lines = [str(tally)]
    for tool, variants in corpus.missing.items():
        lines.append(f"{tool} is not installed: {len(variants)} objects are missing")
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")
    shown = "\n".join(str(case) for case in tally.unexplained[:MOST_SHOWN])
    assert not tally.unexplained, f"{tally}\n{shown}"


def test_each_explanation_is_needed(tally: Tally, corpus: Corpus) -> None:
    """The list holds no explanation of what no longer differs."""
    if corpus.missing:
        pytest.skip(f"not installed: {', '.join(sorted(corpus.missing))}")
    assert set(tally.explained) == {one.name for one in EXPLANATIONS}


def test_offsets_count_from_the_entry(tally: Tally) -> None:
    """The functions start where LLVM or the symbol table says, parts split off included."""
    shown = "\n".join(
        f"{case}\n   entry: {case.entry or 0:#x}, LLVM's {case.llvm_entry or 0:#x}"
        for case in tally.wrong_entries[:MOST_SHOWN]
    )
    assert not tally.wrong_entries, f"{len(tally.wrong_entries)} wrong:\n{shown}"


def test_all_objects_could_be_built(corpus: Corpus) -> None:
    """Compilers that are installed can build what they are asked for."""
    assert not corpus.failed
