"""The kernel's tracefs, and which CPUs there are."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from support.kernel_tracer import why_not
from vestige.record.backends.kernel import tracefs
from vestige.record.backends.kernel.tracefs import (
    Instance,
    NoKernelTracerError,
    Tracefs,
    cpu_numbers,
)
from vestige.record.backends.kernel.watcher import has_buffer

REASON = why_not()
needs_tracer = pytest.mark.skipif(REASON is not None, reason=str(REASON))
AS_ANOTHER_USER = """
import os
from vestige.record._kernel import open_tracefs
from vestige.record.backends.kernel.tracefs import NoKernelTracerError, Tracefs

if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
try:
    open_tracefs()
except OSError as error:
    print(error.errno, error.strerror)
try:
    Tracefs()
except NoKernelTracerError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("0\n", {0}), ("0-3\n", {0, 1, 2, 3}), ("0-1,8,10-11\n", {0, 1, 8, 10, 11})],
)
def test_lists_of_cpus_are_numbers_and_ranges(text: str, numbers: set[int]) -> None:
    """As the kernel writes them."""
    assert cpu_numbers(text) == numbers


@needs_tracer
@pytest.mark.parametrize("text", ["0\n", "", "none\n"])
def test_cpus_that_are_not_there_are_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    """Machines can have files for hundreds; where nobody tells, all are taken."""
    present = tmp_path / "present"
    monkeypatch.setattr(tracefs, "_PRESENT", str(present))
    kernel = Tracefs()
    try:
        instance = Instance(kernel, "test")
        try:
            every = instance.cpus()
            present.write_text(text)
            assert instance.cpus() == ([0] if text == "0\n" else every)
        finally:
            instance.remove()
    finally:
        kernel.close()
    assert every


def test_a_kernel_that_tells_of_no_events_cannot_be_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As one that is locked down, whose directories can be seen."""
    (tmp_path / "instances").mkdir()
    monkeypatch.setattr(tracefs, "PLACES", (str(tmp_path),))
    with pytest.raises(NoKernelTracerError, match=r"^tracefs tells of no events: "):
        Tracefs()
    (tmp_path / "available_events").touch()
    Tracefs().close()


def test_pages_with_an_error_are_not_waited_for() -> None:
    """They are those of a CPU that is switched off."""
    reads, writes = os.pipe()
    assert has_buffer(reads)
    os.close(reads)
    assert not has_buffer(writes)
    os.close(writes)


def test_who_is_not_root_is_told_so() -> None:
    """In words, and by the number of the error, by which Python knows what it is."""
    done = subprocess.run(
        [sys.executable, "-c", AS_ANOTHER_USER],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "1 Operation not permitted\nonly root may use tracefs\n"


class Removing(Tracefs):
    """A tracefs in which somebody removes what has just been made, some times."""

    removals = 3

    def make(self, path: str) -> None:
        """Make a directory that is gone soon."""
        super().make(path)
        if self.removals:
            self.removals -= 1
            self.remove(path)


@needs_tracer
def test_an_instance_that_others_remove_at_once_is_made_anew() -> None:
    """To recorders in other PID namespaces its maker is dead."""
    with closing(Removing()) as files:
        instance = Instance(files, "removed")
        assert files.removals == 0
        assert instance.name in files.names("instances")
        instance.remove()
        files.removals = 1_000
        with pytest.raises(OSError, match="others remove instances"):
            Instance(files, "removed")
        assert instance.name not in files.names("instances")
