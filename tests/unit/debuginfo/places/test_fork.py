"""Symbol tables in processes that were forked, as ``multiprocessing`` does it."""

from __future__ import annotations

import os
import signal
import time

import pytest

from support.compilers import run_tool
from vestige.debuginfo import SymbolTable

DEADLINE = 120


@pytest.mark.parametrize("opened", ["before", "after"])
def test_addresses_are_looked_up_after_a_fork(tmp_path, opened):
    """The child has none of the threads that its parent has looked addresses up with."""
    source, binary = tmp_path / "many.c", tmp_path / "many"
    names = range(200)
    functions = [f"int f{name}(int x) {{ return x * {name}; }}" for name in names]
    source.write_text("\n".join([*functions, "int main(void) { return f3(1); }"]))
    run_tool(["cc", "-g", "-o", binary, source])
    symbols = run_tool(["nm", binary]).decode().split("\n")
    found = [line.split() for line in symbols if " T f" in line]
    addresses = [int(address, 16) for address, *_ in found]
    table = SymbolTable.open(binary)
    table.lookup(addresses)

    child = os.fork()
    if child == 0:
        if opened == "after":
            table = SymbolTable.open(binary)
        places = table.lookup([address + 1 for address in addresses])
        right = [place.function for place in places] == [line[2] for line in found]
        os._exit(0 if right else 1)

    end = time.monotonic() + DEADLINE
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
