"""The extension of `vestige.instrument`, and what there is without it."""

from __future__ import annotations

import subprocess
import sys
from os import environ

import pytest

from support.python_programs import SOURCES
from vestige.instrument import span

PROGRAM = """
import sys, types
sys.modules["vestige.instrument._native"] = old = types.ModuleType("_native")
old.is_recorded = True
{change}
from vestige.instrument import is_recorded, tracepoint
from vestige.instrument._extension import inactive_because
tracepoint("app:said", text=str)(text="hello")
print(is_recorded(), inactive_because())
"""
WHY = (
    "the extension of vestige.instrument is from other sources: build it again with "
    "'make' or 'pip install .' in the source tree"
)


def printed(change):
    """Run a program with an extension that has nothing in it."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(change=change)],
        env={**environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_an_extension_of_other_sources_is_not_used():
    """Its functions may take other arguments; the program works as without it."""
    assert printed("") == f"False {WHY}\n"
    assert printed("old.interface = 0") == f"False {WHY}\n"


def test_a_span_is_refused_by_the_name_that_somebody_wrote():
    """Not by that of its first event."""
    with pytest.raises(ValueError, match="'step' names no event"):
        span("step")
