"""``vestige repair``: a valid trace of what is left of a damaged one."""

from __future__ import annotations

import argparse
import os

from ..._typing import TYPE_CHECKING
from ...errors import CommandError, SelectionError
from ...plain_text import plain
from ..damage_output import print_damage
from ..exit_statuses import (
    DAMAGED,
    INTERRUPTED,
    READ,
    UNREADABLE,
    WRONG_USAGE,
    ExitStatuses,
)

if TYPE_CHECKING:
    from ...analysis.repair import RepairReport

__all__ = ["RepairCommand"]


REPAIRING = ExitStatuses(
    {
        READ: "nothing was damaged; OUT is a copy",
        DAMAGED: "the trace was damaged; what is intact is in OUT",
        WRONG_USAGE: "wrong usage",
        UNREADABLE: "nothing could be read, or OUT cannot be written",
        INTERRUPTED: "interrupted (Ctrl-C)",
    }
)


class RepairCommand:
    """Copies traces without their damage."""

    name = "repair"
    description = (
        "Write everything readable in the traces in or below IN to OUT, as traces that "
        "any CTF reader accepts: intact packets are copied unchanged, damaged ones are "
        "cut after their last good event. IN is never changed."
    )
    examples = """\
examples:
  vestige repair broken-trace -o repaired-trace
  vestige check broken-trace            what is wrong, without writing anything
"""
    exit_statuses = REPAIRING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("input", metavar="IN", help="a trace directory")
        parser.add_argument(
            "-o",
            "--output",
            metavar="OUT",
            help="write to the directory OUT, which must be new or empty (repair IN "
            "OUT works as well)",
        )
        # As in versions before.
        parser.add_argument("second", nargs="?", help=argparse.SUPPRESS)
        parser.set_defaults(usage_error=parser.error)

    def run(self, options: argparse.Namespace) -> int:
        """Repair the traces."""
        from pathlib import Path

        from ...analysis.repair import repair
        from ...components.sources.ctf_fs import CtfFsSource
        from ..render.progress import ProgressBar

        if (options.output is None) == (options.second is None):
            options.usage_error("expected IN -o OUT")
        options.output = options.output or options.second
        root = Path(os.path.normpath(Path.cwd() / options.input))
        output = Path(os.path.normpath(Path.cwd() / options.output))
        source = CtfFsSource([root])
        size = sum(stream.handle.size for stream in source.streams)
        try:
            with ProgressBar("repairing") as bar:
                done = 0

                def advance(count: int) -> None:
                    nonlocal done
                    done += count
                    # All is read once to judge it, and once to copy it.
                    bar.update(done / max(2 * size, 1))

                report = repair(source, source.directories, root, output, advance)
        except SelectionError as error:
            raise CommandError(str(error), exit_code=2) from error
        print_damage(source.damage)
        print(plain(_sentence(report)))
        wrong = report.mended + report.cut + report.dropped + report.dropped_files
        if not (source.damage or wrong or report.dropped_bytes):
            return READ
        kept = report.intact + report.mended + report.cut
        return DAMAGED if kept else UNREADABLE


def _sentence(report: RepairReport) -> str:
    they = "it was" if report.intact == 1 else "they were"
    parts = [f"{_counted(report.intact, 'packet')} kept as {they}"]
    if report.mended:
        parts.append(f"{report.mended:,} with a header put right")
    if report.cut:
        its = "its" if report.cut == 1 else "their"
        parts.append(f"{report.cut:,} cut after {its} last good event")
    if report.dropped:
        parts.append(f"{report.dropped:,} left out")
    if report.dropped_files:
        parts.append(f"{_counted(report.dropped_files, 'file')} with nothing to keep")
    if len(parts) == 1 and report.dropped_bytes:
        parts.append(f"{_counted(report.dropped_bytes, 'byte')} between them left out")
    return ", ".join(parts)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
