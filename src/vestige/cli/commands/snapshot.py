"""``vestige snapshot``: keep what a recording that goes on holds now."""

from __future__ import annotations

import argparse
import os

from ...errors import CommandError, RecordError
from ...plain_text import plain
from ..exit_statuses import INTERRUPTED, WRONG_USAGE, ExitStatuses

__all__ = ["SnapshotCommand"]

TAKEN, FAILED = 0, 1
STATUSES = ExitStatuses(
    {
        TAKEN: "the snapshot was taken",
        FAILED: "nobody records there, or the snapshot cannot be written",
        WRONG_USAGE: "wrong usage",
        INTERRUPTED: "interrupted (Ctrl-C)",
    }
)


class SnapshotCommand:
    """Copies the trace of a recording in overwrite mode, which goes on."""

    name = "snapshot"
    description = (
        "Copy what the recording in DIR holds now, with what is still in memory, to a "
        "trace of its own. 'vestige record --mode=overwrite' writes DIR, and goes on. "
        "Sessions of 'vestige lttng' have 'vestige lttng snapshot record'."
    )
    examples = """\
examples:
  vestige record --mode=overwrite -o last -- ./server &
  vestige snapshot last                 writes last-snapshot-DATE-TIME-0
  vestige snapshot last -o slow-request
"""
    exit_statuses = STATUSES

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "directory", metavar="DIR", help="the directory of the recording"
        )
        parser.add_argument(
            "-o",
            "--output",
            metavar="OUT",
            help="write to the directory OUT, which must be new or empty (default: "
            "DIR-snapshot-DATE-TIME-N)",
        )

    def run(self, options: argparse.Namespace) -> int:
        """Take the snapshot, and print its directory."""
        from ...record.backends.in_process.snapshots import ask_for_snapshot

        output = options.output and os.path.abspath(options.output)  # noqa: PTH100 - as it is
        try:
            path = ask_for_snapshot(options.directory, output)
        except RecordError as error:
            raise CommandError(str(error), exit_code=FAILED) from error
        print(plain(path))
        return TAKEN
