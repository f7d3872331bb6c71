"""Where a session verb begins and ends, without all that other verbs need."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

from ..._signals import signals
from ..._suppress import suppress
from ..._typing import TYPE_CHECKING
from .main import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["entry_point", "run_and_exit"]


def entry_point() -> NoReturn:
    """Run the command line of this process, which is named ``lttng``, and exit."""
    run_and_exit(sys.argv[1:])


def run_and_exit(words: Sequence[str]) -> NoReturn:
    """Run a session verb and end the process.

    Args:
        words: What follows ``lttng``.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output went away: that is no error.
        status = 128 + signals.SIGPIPE
    except KeyboardInterrupt:
        status = 128 + signals.SIGINT
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(status)
