"""The object that the kernel maps into each process has names too."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.symbol_comparison import SymbolNames
from support.symbolizers import disassemble
from vestige.debuginfo import Place, SymbolTable

pytestmark = pytest.mark.oracle


@pytest.fixture
def vdso(tmp_path: Path) -> Path:
    """The vDSO of this process, as a file."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith("[vdso]"):
            start, end = (int(word, 16) for word in line.split()[0].split("-"))
            with Path("/proc/self/mem").open("rb", buffering=0) as memory:
                memory.seek(start)
                copy = tmp_path / "vdso.so"
                copy.write_bytes(memory.read(end - start))
                return copy
    pytest.skip("this kernel maps no vDSO")


def test_functions_of_the_vdso_have_names(vdso: Path) -> None:
    """Each instruction that a symbol covers has the name of one, and its offset."""
    symbols = SymbolNames.read([vdso])
    addresses = [at for at in disassemble(vdso).addresses if symbols.covering(at)]
    assert addresses
    for address, place in zip(
        addresses, SymbolTable.open(vdso).lookup(addresses), strict=True
    ):
        assert isinstance(place, Place)
        assert place.function in symbols.covering(address)
        assert symbols.starts_at(place.function, address - place.offset)
