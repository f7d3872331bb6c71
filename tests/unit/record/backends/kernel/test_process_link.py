"""Orders to the process that records the kernel, which may end at any time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.kernel_channels import kernel_wanted
from vestige.record.backends.kernel import process_link
from vestige.record.backends.kernel.process_link import (
    ENDED,
    READER_ENDED,
    CollectorProcess,
    KernelOrderError,
)

PROGRAM = "import sys; sys.stdin.readline(); sys.stdout.write({!r})"


@pytest.mark.parametrize("said", ["", '{"ready": [', '{"refused": "no"'])
def test_one_that_ends_while_it_speaks_has_said_nothing(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """As one that is killed."""
    monkeypatch.setattr(process_link, "_PROGRAM", PROGRAM.format(said))
    process = CollectorProcess(kernel_wanted("/nowhere", []))
    with pytest.raises(KernelOrderError, match=ENDED):
        process.wait_until_ready()
    assert not process.is_there


def test_one_that_was_ended_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its descriptors may be those of other files by now."""
    said = '{"ready": [], "directory": null}\n'
    monkeypatch.setattr(process_link, "_PROGRAM", PROGRAM.format(said))
    process = CollectorProcess(kernel_wanted("/nowhere", []))
    process.wait_until_ready()
    process.end()
    process.end()
    with pytest.raises(KernelOrderError, match=ENDED):
        process.ask("counts")


@pytest.mark.parametrize(
    ("failed", "has_ended"), [(READER_ENDED, True), ("no space", False)]
)
def test_one_without_its_reader_counts_as_ended(
    monkeypatch: pytest.MonkeyPatch, failed: str, has_ended: bool
) -> None:
    """It may be told something before it has noticed."""
    said = f'{{"ready": [], "directory": null}}\n{{"failed": "{failed}"}}\n'
    monkeypatch.setattr(process_link, "_PROGRAM", PROGRAM.format(said))
    process = CollectorProcess(kernel_wanted("/nowhere", []))
    process.wait_until_ready()
    with pytest.raises(KernelOrderError, match=failed):
        process.ask("start")
    assert process.has_ended is has_ended
    process.end()


def test_nobody_waits_at_the_pipe_of_one_that_was_killed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who writes to a pipe that nobody reads waits for ever: it is removed."""
    pipe, other = tmp_path / "pipe", tmp_path / "other"
    os.mkfifo(pipe)
    os.mkfifo(other)
    monkeypatch.setattr(process_link, "_PROGRAM", "import os; os.kill(os.getpid(), 9)")
    wanted = kernel_wanted("/nowhere", [])
    wanted = wanted._replace(logger=os.fspath(pipe))
    process = CollectorProcess(wanted)
    with pytest.raises(KernelOrderError, match=ENDED):
        process.wait_until_ready()
    assert [*tmp_path.iterdir()] == [other]
