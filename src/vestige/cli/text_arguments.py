"""The options of Babeltrace 2 that say what lines of text look like."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from .._typing import TYPE_CHECKING
from ..components.sinks.text_colors import bright_is_bold, use_color
from ..components.sinks.text_pretty import FIELD_NAMES, NAME_SCOPES, TextOptions
from ..errors import CommandError

if TYPE_CHECKING:
    from ..components.sinks.text_short import ShortTextOptions

__all__ = [
    "add_text_arguments",
    "known_words",
    "short_text_options",
    "text_options",
]


LEAST_FOR_STEPS = 72
"""Columns of the narrowest terminal on which lines tell the time since the last one."""
LEAST_LABEL = 12
"""Characters that labels of traces keep on the narrowest terminal."""


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_argument_group("text")
    group.add_argument(
        "--clock-cycles", action="store_true", help="show times in clock cycles"
    )
    group.add_argument(
        "--clock-date", action="store_true", help="show the date before each time"
    )
    group.add_argument(
        "--clock-gmt", action="store_true", help="use UTC instead of local time"
    )
    group.add_argument(
        "--clock-seconds", action="store_true", help="show times as SECONDS.NANOSECONDS"
    )
    group.add_argument(
        "--no-delta",
        action="store_true",
        help="do not show the time since the previous event",
    )
    group.add_argument(
        "-f",
        "--fields",
        metavar="FIELD[,FIELD]...",
        help=f"show these header fields: all, {', '.join(FIELD_NAMES)}",
    )
    group.add_argument(
        "-n",
        "--names",
        metavar="NAME[,NAME]...",
        help=f"show these names: all, none, {', '.join(NAME_SCOPES)}",
    )
    group.add_argument(
        "--color",
        choices=("never", "auto", "always"),
        default="auto",
        help="use terminal colours (default: auto)",
    )


def text_options(
    options: argparse.Namespace,
    *,
    to_standard_output: bool = True,
    like_babeltrace: bool = False,
    safe: bool = False,
) -> TextOptions:
    """Return what the lines look like.

    Args:
        options: The parsed command line.
        to_standard_output: Whether the text goes there.
        like_babeltrace: Whether colours follow Babeltrace's rule, not the option alone.
        safe: Whether what could steer a terminal is written as escapes.

    Raises:
        CommandError: An unknown field or name.
    """
    text = TextOptions(
        clock_cycles=options.clock_cycles,
        clock_date=options.clock_date,
        clock_gmt=options.clock_gmt,
        clock_seconds=options.clock_seconds,
        delta=not options.no_delta,
        color=use_color(
            options.color,
            to_standard_output=to_standard_output,
            like_babeltrace=like_babeltrace,
        ),
        bright_is_bold=bright_is_bold(),
        safe=safe,
    )
    if options.fields is not None:
        known = {"all", *FIELD_NAMES}
        text = text.with_fields(known_words("--fields", options.fields, known))
    if options.names is not None:
        words = known_words("--names", options.names, {"all", "none", *NAME_SCOPES})
        if {"all", "none"} <= set(words):
            raise CommandError(
                "--names: 'all' and 'none' exclude each other", exit_code=2
            )
        text = text.with_names(words)
    return text


def short_text_options(
    options: argparse.Namespace, labels: Mapping[int, str]
) -> ShortTextOptions:
    """Return what short lines look like.

    Args:
        options: The parsed command line.
        labels: What the lines of each trace begin with; empty when there is one trace.
    """
    # Few verbs have short lines.
    from ..components.sinks.text_short import ShortTextOptions
    from .terminal import is_ascii_only, line_width

    width = line_width(wide=options.wide)
    return ShortTextOptions(
        clock_cycles=options.clock_cycles,
        clock_date=options.clock_date,
        clock_gmt=options.clock_gmt,
        clock_seconds=options.clock_seconds,
        delta=not options.no_delta and (width is None or width >= LEAST_FOR_STEPS),
        color=use_color(options.color, to_standard_output=True, like_babeltrace=False),
        ascii=is_ascii_only(),
        width=width,
        labels=tuple((trace, _cut(label, width)) for trace, label in labels.items()),
        indent=getattr(options, "indent", False),
        symbols=not getattr(options, "no_debug_info", False),
    )


def _cut(label: str, width: int | None) -> str:
    """Cut a label to a quarter of the terminal; its end tells traces apart."""
    from .terminal import is_ascii_only

    sign = "..." if is_ascii_only() else "…"
    room = len(label) if width is None else max(width // 4, LEAST_LABEL)
    return (
        label if len(label) <= room else sign + label[len(label) - room + len(sign) :]
    )


def known_words(option: str, value: str, known: set[str]) -> list[str]:
    """Split a list with commas of words that an option knows.

    Args:
        option: The option.
        value: Its value.
        known: The words.

    Raises:
        CommandError: Another word.
    """
    words = [word.strip() for word in value.split(",")]
    for word in words:
        if word not in known:
            choices = ", ".join(sorted(known))
            raise CommandError(
                f"{option}: unknown word '{word}'; expected {choices}", exit_code=2
            )
    return words
