"""``vestige record``: run a program and record it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from ...errors import CommandError, RecordError, SelectionError
from ...record import CONTEXTS, RecordingOptions, record

__all__ = ["RecordCommand"]

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class RecordCommand:
    """Runs a program with the tracer in it."""

    name = "record"
    summary = "run a program and record its function calls"
    description = (
        "Run PROGRAM and record it: entry and exit of each function that was compiled "
        "with -finstrument-functions, and which objects are loaded where. No daemon, "
        "no privileges. The program keeps its terminal and signals, and its exit "
        "status is that of this command."
    )
    examples = """\
examples:
  vestige record -- ./app --its-option
  vestige record -o trace --functions=verbose -- ./app
  vestige view trace
"""
    exit_statuses = """\
exit status:
  that of PROGRAM, or 128 and the number of the signal that ended it
  1    the program or the tracer cannot be started
  2    wrong usage
"""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "-o",
            "--output",
            metavar="DIR",
            type=Path,
            help="the trace (default: vestige-traces/NAME-DATE-TIME below "
            "$VESTIGE_HOME or $HOME)",
        )
        parser.add_argument(
            "-e",
            "--event",
            metavar="PATTERN",
            action="append",
            default=[],
            help="record events whose name matches, with *, ? and [...]; the state "
            "dump and loaded objects are always recorded (repeatable; default: "
            "function calls)",
        )
        parser.add_argument(
            "--functions",
            nargs="?",
            choices=("fast", "verbose", "off"),
            const="fast",
            help="what the events of functions hold: the address at the entry (fast, "
            "the default), or address and call site at both (verbose)",
        )
        parser.add_argument(
            "--include",
            metavar="PATTERN",
            action="append",
            default=[],
            help="record calls of these functions only: [OBJECT:]NAME with *, ? and "
            "[...], or [OBJECT:]0xSTART-0xEND (repeatable)",
        )
        parser.add_argument(
            "--exclude",
            metavar="PATTERN",
            action="append",
            default=[],
            help="record no calls of these functions (repeatable)",
        )
        parser.add_argument(
            "-c",
            "--context",
            metavar="NAME[,NAME]...",
            default="ip,vpid",
            help=f"fields of each record: some of {', '.join(CONTEXTS)}, or none "
            "(default: ip,vpid, which source lines need)",
        )
        parser.add_argument(
            "--follow-fork",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="record child processes, too (the default)",
        )
        parser.add_argument(
            "--buffer-size",
            metavar="SIZE",
            default="256k",
            help="memory of each thread, with k, M or G (default: 256k)",
        )
        parser.add_argument(
            "-q", "--quiet", action="store_true", help="no closing lines"
        )
        parser.add_argument("program", metavar="PROGRAM", help="what to run")
        parser.add_argument(
            "arguments",
            metavar="ARGS",
            nargs=argparse.REMAINDER,
            help="its arguments",
        )

    def run(self, options: argparse.Namespace) -> int:
        """Record the program; return its exit status."""
        try:
            wanted = RecordingOptions(
                functions=options.functions,
                contexts=_contexts(options.context),
                packet_size=_size(options.buffer_size),
                events=tuple(options.event),
                include=tuple(options.include),
                exclude=tuple(options.exclude),
                follow_fork=options.follow_fork,
            )
        except SelectionError as error:
            raise CommandError(str(error), exit_code=2) from error
        output = options.output or _default_output(options.program)
        try:
            recording = record([options.program, *options.arguments], output, wanted)
        except RecordError as error:
            raise CommandError(str(error), exit_code=1) from error
        if not options.quiet:
            # Reading what was recorded needs the Rust core; starting the program does
            # not wait for it.
            from ..render.recording import recording_lines  # noqa: PLC0415 - see above

            print("\n".join(recording_lines(recording)), file=sys.stderr)
        return recording.status


def _contexts(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",")]
    return tuple(name for name in names if name and name != "none")


def _size(text: str) -> int:
    plain = text.rstrip("bB")
    number, unit = plain.rstrip("kKmMgG"), plain.lstrip("0123456789")
    try:
        return int(number) * _UNITS[unit.lower()]
    except (ValueError, KeyError):
        raise SelectionError(
            f"--buffer-size={text}: expected a number with k, M or G"
        ) from None


def _default_output(program: str) -> Path:
    home = os.environ.get("VESTIGE_HOME") or os.environ.get("HOME") or "."
    name = f"{Path(program).name}-{time.strftime('%Y%m%d-%H%M%S')}"
    return Path(home) / "vestige-traces" / name
