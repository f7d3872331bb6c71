"""Reading the line of a process."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from vestige.record.process_stat import stat_words


def test_a_name_may_have_blanks_and_parentheses(tmp_path: Path):
    """The state and the parent come after the last one."""
    sleeper = shutil.which("sleep")
    assert sleeper is not None
    program = Path(shutil.copy(sleeper, tmp_path / "a) R 1 (b"))
    with subprocess.Popen([program, "1000"]) as process:
        words = stat_words(process.pid)
        process.kill()
    assert len(words[0]) == 1
    assert int(words[1]) == os.getpid()


def test_a_process_that_is_not_there_has_no_words():
    """IDs are never as high."""
    assert stat_words(1 << 30) == []
