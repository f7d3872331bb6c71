"""When the chunks of a recording end, and what is said if they cannot."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from vestige.record.backends.in_process import chunks
from vestige.record.backends.in_process.chunks import Chunks


class Clocks:
    """Both clocks, which a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall, self.steady = 1_795_694_400.0, 100.0
        monkeypatch.setattr(time, "time", lambda: self.wall)
        monkeypatch.setattr(time, "monotonic", lambda: self.steady)

    def go_on(self, seconds: float) -> None:
        """Let time go on."""
        self.wall += seconds
        self.steady += seconds


def tick(rotated: Chunks) -> None:
    """Let it look once."""
    [(_, look)] = itertools.islice(rotated.ticks(), 1)
    look(0)


@pytest.mark.parametrize("step", [-3600.0, 3600.0])
def test_a_clock_that_is_set_ends_no_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: float
):
    """Nor keeps one from its end."""
    clocks = Clocks(monkeypatch)
    done: list[str] = []
    rotated = Chunks(str(tmp_path), done.append, lambda: 0, 10.0, 0, 0)
    clocks.go_on(5.0)
    clocks.wall += step
    tick(rotated)
    assert not done
    clocks.go_on(5.0)
    tick(rotated)
    assert len(done) == 1


def test_what_cannot_be_archived_is_said_once_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Not with each look: a disk may be full for a night."""
    clocks = Clocks(monkeypatch)
    tries: list[str] = []

    def fail(place: str) -> None:
        tries.append(place)
        raise OSError(28, "No space left on device", f"{place}/metadata")

    rotated = Chunks(str(tmp_path), fail, lambda: 1, 0.0, 1, 0)
    for _ in range(30):
        tick(rotated)
        clocks.go_on(1.0)
    assert len(tries) == 30 / chunks.RETRY
    [problem] = rotated.problems
    assert problem.endswith(f"No space left on device: '{tmp_path}/archives/metadata'")
    assert not [*(tmp_path / "archives").iterdir()]
