"""Closing a trace touches nothing but the trace."""

from __future__ import annotations

from support.recorded import run_recorded
from vestige.record.collect import collect

NAMES = ("notes", "core.123", "results.open", "lost+found", "12-monkeys", ".profile")


def test_files_of_the_program_in_the_directory_stay(tmp_path):
    """A program may write where its trace is, as when both are the present directory."""
    trace = tmp_path / "trace"
    script = f"cd {trace} && for name in {' '.join(NAMES)}; do echo text > $name; done"
    done = run_recorded(trace, ["sh", "-c", script])

    assert (done.returncode, "warning" in done.stderr) == (0, False)
    assert [(trace / name).read_text() for name in NAMES] == ["text\n"] * len(NAMES)


def test_what_a_process_was_making_goes(tmp_path):
    """Hidden files of the tracer, when no process is left."""
    names = [".1-2.open", ".1-2@3", ".ring-7", "9-9.2.open", "9-9"]
    for name in names:
        (tmp_path / name).write_bytes(b"")

    assert collect(tmp_path).problems == []
    assert list(tmp_path.iterdir()) == []
