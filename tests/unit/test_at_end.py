"""What is done at the end of a process."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import os
from vestige._at_end import at_end, run_all
at_end(lambda: print("done", flush=True))
{end}
"""


@pytest.mark.parametrize("end", ["", "run_all(); os._exit(0)"])
def test_it_is_done_however_the_process_ends(end: str) -> None:
    """By Python's own ending, and by who does without that."""
    words = [sys.executable, "-c", CODE.format(end=end)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"
