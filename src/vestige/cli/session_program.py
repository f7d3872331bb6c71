"""``vestige record --session``: a program that is recorded into a session."""

from __future__ import annotations

import os
import time

from .._typing import TYPE_CHECKING
from ..control import Losses, Session
from ..errors import CommandError, ProgramError, VestigeError
from ..record.backends.in_process.launch import run as launch
from .exit_statuses import CANNOT_START, FAILED, NOT_FOUND
from .newest_recording import remember
from .recording_end import say
from .unfit_options import NOT_HERE, check_options

if TYPE_CHECKING:
    import argparse

__all__ = ["run"]

_OF_THE_SESSION = {
    "buffer_size": "--buffer-size",
    "context": "--context",
    "duration": "--duration",
    "event": "--event",
    "mode": "--mode",
    "output": "--output",
}
"""Options that the session decides, by what they set."""
WHY = "the session has its own rules, channels and output"
LARGER = "'vestige lttng enable-channel --subbuf-size=SIZE' of another session"


def run(options: argparse.Namespace) -> int:
    """Run a program while a session records.

    Args:
        options: The command line, with ``session``.

    Returns:
        The exit status of the program.

    Raises:
        CommandError: There is no such session, or no such program.
    """
    check_options(options, "--session", {**NOT_HERE, **_OF_THE_SESSION}, WHY)
    if options.program is None:
        options.refuse("the following arguments are required: PROGRAM")
    try:
        session = Session.find(options.session)
        # It is left as it was found.
        is_started_here = not session.is_active
        before = None
        if is_started_here:
            if not options.quiet and session.has_recorded:
                from .render.session_recording import Recorded

                before = Recorded.of(session)
            session.start()
    except VestigeError as error:
        raise CommandError(str(error), exit_code=FAILED) from error
    started = time.monotonic()
    losses: Losses | None = None
    with session:
        try:
            status = _run([options.program, *options.arguments])
        finally:
            if is_started_here:
                losses = session.stop()
        seconds = time.monotonic() - started
        if session.output is not None:
            remember(session.output)
        if losses is None:
            line = (
                f"recorded for {seconds:.3f} s into session '{session.name}', which "
                f"goes on: 'vestige lttng stop {session.name}' completes its trace"
            )
            say(options, [line])
        elif not options.quiet:
            # It reads the trace, and nobody waited for that before the program began.
            from .render.session_recording import session_lines

            say(options, session_lines(session, losses, seconds, LARGER, before))
    return status


def _run(command: list[str]) -> int:
    try:
        return launch(command, dict(os.environ))
    except OSError as os_error:
        error = ProgramError(command[0], os_error)
        status = CANNOT_START if error.is_found else NOT_FOUND
        raise CommandError(str(error), exit_code=status) from os_error
