"""Programs that damage the memory of their recording: the trace says so, too."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

import vestige
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None, reason="not installed: bash"
)


def test_memory_that_a_program_takes_away_is_damage_of_the_trace(tmp_path):
    """What was written before is there, and readers do not call the trace sound."""
    trace = tmp_path / "trace"
    # When a child has ended, what it has recorded gets into a file.
    script = (
        f'true & wait; until ls "{trace}"/[0-9]* >/dev/null 2>&1; do :; done; '
        f': > "$(cut -f1 "{trace}/.arena")"'
    )
    done = run_recorded(trace, ["bash", "-c", script])
    checked = subprocess.run(
        [sys.executable, "-m", "vestige", "check", trace],
        capture_output=True,
        text=True,
        check=False,
    )
    with pytest.warns(vestige.TraceDamageWarning, match="damaged the memory of the"):
        found = vestige.open(trace, debug_info=False)

    assert "a program took memory of the arena away" in done.stderr
    assert len(list(found)) > 0
    assert [one.kind for one in found.damage] == ["recording-damaged"]
    assert checked.returncode == 1
    assert "program damaged the memory of the recording" in checked.stderr


def test_a_recording_whose_memory_nobody_damages_is_sound(tmp_path):
    """The room for that word is blank."""
    run_recorded(tmp_path / "trace", ["true"])

    assert vestige.open(tmp_path / "trace").damage == []
