"""What is made of tracer/agreement: current, and looked at by `make lint`."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HEADER = ROOT / "tracer/agreement/agreement.h"


@pytest.fixture(scope="module")
def tool():
    """The names of tools/make_agreement.py."""
    before = list(sys.path)
    yield runpy.run_path(str(ROOT / "tools/make_agreement.py"))
    sys.path[:] = before


def test_what_is_made_of_the_description_is_current(tool):
    """`make agreement` makes it anew, after each change."""
    stale = [
        str(path)
        for path, text in tool["made"]().items()
        if (ROOT / path).read_text(encoding="utf-8") != text
    ]

    assert stale == [], "run 'make agreement'"


def test_stale_files_are_named(tool, monkeypatch, tmp_path, capsys):
    """By `make lint`, which then fails."""
    names = tool["main"].__globals__
    for path in tool["made"]():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    monkeypatch.setitem(names, "ROOT", tmp_path)
    assert tool["main"](["--check"]) == 0

    (tmp_path / HEADER.relative_to(ROOT)).write_text("")
    assert tool["main"](["--check"]) == 1
    assert "tracer/agreement/agreement.h is not what" in capsys.readouterr().out
    assert tool["main"]([]) == 0
    assert tool["main"](["--check"]) == 0


def test_lint_compares_them():
    """So that nobody changes one side alone."""
    lint = (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0]

    assert "tools/make_agreement.py --check" in lint
