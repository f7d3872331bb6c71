"""The options that limit what is shown to a range of time."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .._typing import TYPE_CHECKING
from ..errors import CommandError, SelectionError

if TYPE_CHECKING:
    from typing import Any

    from ..components.filters.trimmer import TimeBound

__all__ = ["TIME_FORMATS", "add_time_range_arguments", "time_bounds"]

TIME_FORMATS = """\
times (BEGIN, END), both ends included:
  YYYY-MM-DD [HH:MM[:SS[.NNNNNNNNN]]]
  HH:MM[:SS[.NNNNNNNNN]]   on the day of the first packet
  [-]SECONDS[.NNNNNNNNN]   since the epoch
  local time, or UTC with --clock-gmt
"""
"""For the help."""


def add_time_range_arguments(
    group: argparse._ActionsContainer, *, short_end: bool = True
) -> None:
    """Add the options to a parser or a group.

    Args:
        group: Where to.
        short_end: Whether ``-e`` stands for ``--end``.
    """
    group.add_argument(
        "-b", "--begin", metavar="BEGIN", action=Once, help="start at BEGIN"
    )
    names = ("-e", "--end") if short_end else ("--end",)
    group.add_argument(*names, metavar="END", action=Once, help="stop after END")
    group.add_argument(
        "-t",
        "--timerange",
        metavar="BEGIN,END",
        action=Once,
        help="the same as --begin and --end; also [BEGIN,END]",
    )
    group.add_argument(
        "--stream-intersection",
        action="store_true",
        help="only the time when all data streams of a trace are active",
    )


class Once(argparse.Action):
    """An option that may be given only once."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Keep its value."""
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} is given twice")
        setattr(namespace, self.dest, values)


def time_bounds(
    options: argparse.Namespace,
) -> tuple[TimeBound | None, TimeBound | None]:
    """Return the range of time that a command line asks for.

    Args:
        options: The parsed command line.

    Raises:
        CommandError: The options contradict each other, or hold no times.
    """
    begin, end = options.begin, options.end
    if options.timerange is not None:
        if begin is not None or end is not None:
            raise CommandError(
                "--timerange stands for --begin and --end: give one or the other",
                exit_code=2,
            )
        begin, end = split_range(options.timerange)
    if begin is None and end is None:
        return None, None
    gmt = options.clock_gmt or getattr(options, "trimmer_gmt", False)
    return _bound("begin", begin, gmt=gmt), _bound("end", end, gmt=gmt)


def split_range(text: str) -> tuple[str, str]:
    """Split ``BEGIN,END`` or ``[BEGIN,END]``.

    Args:
        text: The argument of ``--timerange``.

    Raises:
        CommandError: It has another form.
    """
    begin, comma, end = text.removeprefix("[").partition(",")
    if text.startswith("[") == text.endswith("]"):
        end = end.removesuffix("]")
        if begin and comma and end:
            return begin, end
    raise CommandError(
        f"--timerange: expected BEGIN,END or [BEGIN,END], not '{text}'", exit_code=2
    )


def _bound(name: str, text: str | None, *, gmt: bool) -> TimeBound | None:
    from ..components.filters.trimmer import TimeBound

    if text is None:
        return None
    try:
        return TimeBound.parse(text, gmt=gmt)
    except SelectionError as error:
        raise CommandError(f"--{name}: {error}", exit_code=2) from error
