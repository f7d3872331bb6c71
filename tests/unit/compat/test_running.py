"""A script gets a module in place of another, and nobody else does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["bt2", "babeltrace"])
def test_a_script_has_its_own_arguments_and_neighbours(
    tmp_path: Path, name: str
) -> None:
    """As if the interpreter ran it."""
    (tmp_path / "neighbour.py").write_text("TOLD = 'beside'", encoding="utf-8")
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys, neighbour, {name} as module\n"
        "print(module.__name__, __name__, sys.argv[1:], neighbour.TOLD)\n"
        "sys.exit(7)",
        encoding="utf-8",
    )
    words = [sys.executable, "-m", f"vestige.compat.{name}", script, "-x", "y"]

    run = subprocess.run(words, capture_output=True, text=True, check=False)

    told = f"vestige.compat.{name} __main__ ['-x', 'y'] beside\n"
    assert (run.stdout, run.returncode) == (told, 7), run.stderr


def test_nobody_else_has_the_module() -> None:
    """To import it here does not put it into the place of the other."""
    code = "import sys, vestige.compat.bt2; print('bt2' in sys.modules)"

    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert run.stdout == "False\n"


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    """In one line, with the status of wrong usage."""
    words = [sys.executable, "-m", "vestige.compat.bt2", tmp_path / "away.py"]

    run = subprocess.run(words, capture_output=True, text=True, check=False)

    told = f"vestige.compat.bt2: {tmp_path}/away.py: no such file\n"
    assert (run.stderr, run.returncode) == (told, 2)
