"""How recordings end that go on until somebody says enough, and what is said of it."""

from __future__ import annotations

import os
import signal
import sys

from .._suppress import suppress
from .._typing import TYPE_CHECKING
from ..plain_text import plain

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from .plain_recording import PlainOptions

__all__ = ["how_to_end", "say", "until_when"]


def how_to_end() -> str:
    """Return what people can do to end a recording that waits for them."""
    # Scripts start it in the background so that Ctrl-C ends others.
    is_ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    return f"'kill {os.getpid()}'" if is_ignored else "Ctrl-C"


def until_when(options: argparse.Namespace | PlainOptions) -> str:
    """Return what ``--duration`` adds to that.

    Args:
        options: The command line.
    """
    return "" if options.duration is None else f" or {options.duration / 1e9:g} s"


def say(options: argparse.Namespace | PlainOptions, lines: Iterable[str]) -> None:
    """Print lines on standard error, unless that is not wanted.

    Args:
        options: The command line.
        lines: The lines.
    """
    if not options.quiet:
        with suppress(OSError):
            for line in lines:
                print(f"vestige: {plain(line)}", file=sys.stderr, flush=True)
