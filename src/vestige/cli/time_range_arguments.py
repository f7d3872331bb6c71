"""The options that limit what is shown to a range of time."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .._typing import TYPE_CHECKING
from ..errors import CommandError, SelectionError

if TYPE_CHECKING:
    from typing import Any

    from ..components.filters.trimmer import TimeBound

__all__ = ["TIME_FORMATS", "add_time_range_arguments", "range_words", "time_bounds"]

AROUND = "5ms"
"""How much is shown before and after a time, if nobody says otherwise."""

TIME_FORMATS = """\
times (BEGIN, END), both ends included:
  YYYY-MM-DD [HH:MM[:SS[.NNNNNNNNN]]]
  HH:MM[:SS[.NNNNNNNNN]]   on the day of the first packet
  [-]SECONDS[.NNNNNNNNN]   since the epoch
  +DURATION                from the first event on: +10.2s, +500ms, +1min
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
    if not short_end:
        group.add_argument(
            "--around",
            metavar="TIME[,WIDTH]",
            action=Once,
            help=f"from WIDTH before TIME to WIDTH after it (default: {AROUND})",
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
    begin, end = range_words(options)
    if begin is None and end is None:
        return None, None
    gmt = options.clock_gmt or getattr(options, "trimmer_gmt", False)
    is_around = getattr(options, "around", None) is not None
    names = ("around", "around") if is_around else ("begin", "end")
    bounds = (_bound(*one, gmt=gmt) for one in zip(names, (begin, end), strict=True))
    return next(bounds), next(bounds)


def range_words(options: argparse.Namespace) -> tuple[str | None, str | None]:
    """Return the beginning and the end of the range, as they are written.

    Args:
        options: The parsed command line.

    Raises:
        CommandError: The options contradict each other, or are no range.
    """
    begin, end = options.begin, options.end
    others = (("timerange", split_range), ("around", split_around))
    for name, split in others:
        text = getattr(options, name, None)
        if text is None:
            continue
        if begin is not None or end is not None:
            raise CommandError(
                f"--{name} stands for --begin and --end: give one or the other",
                exit_code=2,
            )
        begin, end = split(text)
    return begin, end


def split_around(text: str) -> tuple[str, str]:
    """Return the range that ``TIME[,WIDTH]`` means.

    Args:
        text: The argument of ``--around``.

    Raises:
        CommandError: It has another form.
    """
    time, _, width = text.partition(",")
    width = width.strip() or AROUND
    if time and width[0].isdigit():
        return f"{time}-{width}", f"{time}+{width}"
    raise CommandError(
        f"--around: expected TIME or TIME,WIDTH, such as +10.2s,1ms, not '{text}'",
        exit_code=2,
    )


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
