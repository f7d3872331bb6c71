"""``vestige repair``: a valid trace of what is left of a damaged one."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ...analysis.repair import RepairReport, repair
from ...components.sources.ctf_fs import CtfFsSource
from ...errors import CommandError, SelectionError
from ..damage_output import print_damage
from ..render.progress import ProgressBar

__all__ = ["RepairCommand"]


class RepairCommand:
    """Copies traces without their damage."""

    name = "repair"
    summary = "write a valid trace of what is left of a damaged one"
    description = (
        "Write what can be read of the traces at or below IN to OUT, as traces that "
        "any reader of CTF accepts: intact packets are copied as they are, damaged "
        "ones are cut behind their last good event. IN is never changed."
    )
    examples = """\
examples:
  vestige repair broken-trace repaired-trace
  vestige check broken-trace            what is wrong, without writing anything
"""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("input", metavar="IN", help="a trace directory")
        parser.add_argument(
            "output", metavar="OUT", help="a directory that is new or empty"
        )

    def run(self, options: argparse.Namespace) -> int:
        """Repair the traces."""
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
        print(_sentence(report))
        kept = report.intact + report.cut
        return 1 if report.dropped + report.dropped_files and not kept else 0


def _sentence(report: RepairReport) -> str:
    parts = [f"{_counted(report.intact, 'packet')} kept as they were"]
    if report.cut:
        parts.append(f"{report.cut:,} cut behind their last good event")
    if report.dropped:
        parts.append(f"{report.dropped:,} left out")
    if report.dropped_files:
        parts.append(f"{_counted(report.dropped_files, 'file')} with nothing to keep")
    return ", ".join(parts)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
