"""Recording a program to a relay daemon, from the command line."""

from __future__ import annotations

import sys

from .._typing import TYPE_CHECKING
from ..errors import CommandError, ProgramError, RecordError
from ..live.output_url import OutputUrlError, parse_output_url
from ..plain_text import plain
from ..record.sent import Sent, record_and_send
from .doubts import Doubts, quiet_lines
from .exit_statuses import CANNOT_START, FAILED, NOT_FOUND, WRONG_USAGE
from .recorded_status import recorded_status

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ..record.recorder import Recording
    from ..record.rules.options import RecordingOptions
    from .plain_recording import PlainOptions

__all__ = ["run_sent"]

APART = {
    "--output": "output",
    "--max-size": "max_size",
    "--rotate": "rotate",
    "--snapshot-on-crash": "snapshot_on_crash",
}
"""Options that are for files here, and where they are."""


def run_sent(
    options: argparse.Namespace | PlainOptions,
    wanted: RecordingOptions,
    command: tuple[str, ...],
) -> int:
    """Record a program to a relay daemon.

    Args:
        options: The command line.
        wanted: What is recorded.
        command: The program and its arguments; empty: the machine alone is recorded.

    Returns:
        The exit status.

    Raises:
        CommandError: It cannot be recorded as asked, or not all of it was sent.
    """
    relay = _relay(options)
    # It never waits for what a network may do.
    wanted = wanted._replace(mode="discard")
    doubts = Doubts()
    try:
        sent = record_and_send(
            command, relay, wanted, lambda: _meanwhile(options), doubted=doubts.say
        )
    except ProgramError as error:
        status = CANNOT_START if error.is_found else NOT_FOUND
        raise CommandError(str(error), exit_code=status) from error
    except RecordError as error:
        raise CommandError(str(error), exit_code=FAILED) from error
    collected = sent.recording.collected
    lines = (
        quiet_lines(collected, doubts)
        if options.quiet
        else _lines(sent, options.to, doubts)
    )
    for line in lines:
        print(plain(line), file=sys.stderr)
    if sent.place is None:
        raise CommandError(
            f"not all was sent: {sent.failure}; {sent.lost_packets:,} packets "
            f"({sent.lost_bytes:,} bytes) are lost",
            exit_code=FAILED,
        )
    return recorded_status(sent.recording)


def _meanwhile(options: argparse.Namespace | PlainOptions) -> None:
    """Say how a recording ends for which no program does that."""
    if options.program is None:
        from .machine_recording import say_how_it_ends

        say_how_it_ends(options)


def _relay(options: argparse.Namespace | PlainOptions) -> list[str]:
    """Return the URIs of the relay daemon."""
    for word, name in APART.items():
        if getattr(options, name):
            raise CommandError(f"--to: not with {word}", exit_code=WRONG_USAGE)
    if options.mode == "overwrite":
        raise CommandError("--to: not with --mode=overwrite", exit_code=WRONG_USAGE)
    try:
        found = parse_output_url(options.to)
    except OutputUrlError as error:
        raise CommandError(f"--to: {error}", exit_code=WRONG_USAGE) from error
    if len(found) == 1:
        raise CommandError(
            f"--to: {options.to}: expected net://HOST", exit_code=WRONG_USAGE
        )
    return [*map(str, found)]


def _program_lines(recording: Recording) -> Iterator[str]:
    """Say what was sent of a program, and of the kernel beside it."""
    # The program has ended.
    from .render.recording import kernel_lines

    collected = recording.collected
    lost = f"{collected.lost:,} events lost" if collected.lost else "no events lost"
    yield (
        f"vestige: sent {collected.written:,} bytes in {collected.packets:,} packets "
        f"of {collected.streams:,} data streams in {recording.seconds:.3f} s; {lost}"
    )
    yield from (f"vestige: {one}" for one in kernel_lines(collected))


def _lines(sent: Sent, url: str, doubts: Doubts) -> Iterator[str]:
    """Say what was sent, and what was lost."""
    collected = sent.recording.collected
    if sent.recording.command:
        yield from _program_lines(sent.recording)
    else:
        from .render.machine_recording import machine_line

        yield machine_line(sent.recording)
    yield from doubts.new_warnings(collected)
    if sent.place is not None:
        yield f"vestige: trace in {sent.place} at {url}"
