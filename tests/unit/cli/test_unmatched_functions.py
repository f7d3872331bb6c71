"""Patterns of functions that match nothing: people are told, and what is like them."""

from __future__ import annotations

import shutil
import sys

import pytest

from support.compilers import run_tool
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None, reason="not installed: g++"
)
SOURCE = """
namespace shop { struct Cart { int add(int price); }; }
int shop::Cart::add(int price) { return price + 1; }
int helper(int number) { return shop::Cart().add(number) * 2; }
int main() { return helper(3) != 8; }
"""
SCRIPT = """
class Cart:
    def add(self, price):
        return price
Cart().add(3)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program in C++ whose functions are instrumented."""
    directory = tmp_path_factory.mktemp("unmatched")
    source = directory / "shop.cpp"
    source.write_text(SOURCE)
    words = ["-g", "-finstrument-functions", source, "-o", directory / "shop"]
    run_tool(["g++", *words])
    return directory / "shop"


def told(trace, command, *options):
    """Record a program; return what is said of patterns."""
    done = run_recorded(trace, command, *options)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    return [
        line.removeprefix("vestige: no function of ")
        for line in lines
        if line.startswith("vestige: no function of ")
    ]


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            ["--include-function=helpr"],
            ["shop matches --include-function='helpr'; did you mean 'helper'?"],
        ),
        (
            ["--include-function=main", "--include-function=Cart::ad"],
            [
                "shop matches --include-function='Cart::ad'; did you mean 'shop::Cart::add'?"
            ],
        ),
        (
            ["--exclude-function=helpers*"],
            ["shop matches --exclude-function='helpers*'; did you mean 'helper'?"],
        ),
        (
            ["--include-function=libx.so:helper"],
            [
                "shop matches --include-function='libx.so:helper'; did you mean 'helper'?"
            ],
        ),
        (["--include-function=zzz"], ["shop matches --include-function='zzz'"]),
        (["--include-function=shop::Cart::add", "--exclude-function=help*"], []),
        (["--include-function=shop:helper", "--exclude-function=0x10-0x20"], []),
    ],
)
def test_names_of_compiled_functions(tmp_path, program, options, lines):
    """Those of the symbols, whether calls of others were recorded or not."""
    assert told(tmp_path / "trace", [program], *options) == lines


def test_a_program_without_symbols_has_no_names(tmp_path, program):
    """Nobody knows what its functions are called."""
    stripped = tmp_path / "shop"
    run_tool(["strip", "-o", stripped, program])

    assert told(tmp_path / "trace", [stripped], "--include-function=helpr") == []


def test_names_of_python_functions_are_those_of_the_script(tmp_path):
    """Known only if all patterns together took nothing: the trace has no other names."""
    script = tmp_path / "app.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script]
    words = ["--python-functions", "--include-function=Card.add"]
    lines = ["app.py matches --include-function='Card.add'; did you mean 'Cart.add'?"]

    assert told(tmp_path / "trace", command, *words) == lines
    words += ["--include-function=Cart.*", "--exclude-function=zzz"]
    assert told(tmp_path / "other", command, *words) == []
