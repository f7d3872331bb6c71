"""``vestige lttng-crash``: the ring buffers of a session that ended by a crash."""

from __future__ import annotations

import argparse
import os
import sys

from ...errors import CommandError, RecordError
from ...plain_text import plain
from ..exit_statuses import DAMAGED, PLAIN, READ

__all__ = ["LttngCrashCommand"]


class LttngCrashCommand:
    """Reads what programs had committed, of our sessions and of LTTng's."""

    name = "lttng-crash"
    description = (
        "Recover the trace of a session whose daemon, or whose machine, crashed: what "
        "programs had committed to the ring buffers below SHMDIR, the directory that "
        "'create --shm-path' was given. SHMDIR is never changed."
    )
    examples = """\
examples:
  vestige lttng-crash /mnt/rings                     show the events
  vestige lttng-crash --extract=recovered /mnt/rings
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("source", metavar="SHMDIR", help="a directory of rings")
        parser.add_argument(
            "-x", "--extract", metavar="DIR", help="write the traces to DIR"
        )
        parser.add_argument(
            "-e",
            "--viewer",
            metavar="READER",
            help="show them with READER, a program and its arguments (default: "
            "'vestige view')",
        )
        parser.add_argument(
            "-v", "--verbose", action="count", help="say which traces are written"
        )

    def run(self, options: argparse.Namespace) -> int:
        """Recover and show."""
        if options.extract is not None:
            return _extract(options.source, options.extract, bool(options.verbose))
        # Not for the help, as those below.
        import tempfile

        with tempfile.TemporaryDirectory(prefix="lttng-crash-") as folder:
            status = _extract(options.source, folder, bool(options.verbose))
            if options.viewer is None:
                from ..main import main

                return main(["view", folder]) or status
            return _view(options.viewer, folder) or status


def _view(viewer: str, folder: str) -> int:
    import shlex
    import subprocess

    try:
        words = shlex.split(viewer)
    except ValueError as error:
        raise CommandError(f"{viewer}: {error}") from None
    if not words:
        raise CommandError("--viewer: expected a program")
    sys.stdout.flush()
    try:
        return subprocess.run([*words, folder], check=False).returncode
    except OSError as error:
        text = os.strerror(error.errno or 0)
        raise CommandError(f"{words[0]}: cannot be started: {text}") from error


def _extract(source: str, target: str, is_verbose: bool) -> int:  # noqa: FBT001 - of options
    """Write the traces; say what is damaged, and return the status for that."""
    from ...record.backends.lttng_ust.crash import extract

    try:
        found = extract(source, target)
    except (RecordError, OSError) as error:
        raise CommandError(str(error)) from error
    if not found.traces:
        raise CommandError(f"{source}: expected ring buffers with their metadata")
    if is_verbose:
        for one in found.traces:
            print(one, file=sys.stderr)
    for damage in found.damage:
        print(f"vestige: warning: {plain(damage)}", file=sys.stderr)
    return DAMAGED if found.damage else READ
