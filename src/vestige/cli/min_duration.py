"""The option ``--min-duration``: only calls that last so long."""

from __future__ import annotations

import argparse
import re

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..components.filters.call_duration import CallDurationFilter
    from ..components.sources.ctf_fs import CtfFsSource
    from ..graph import Selection

__all__ = ["add_min_duration_argument", "call_duration_filter", "nanoseconds"]

FORMAT = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(ns|us|µs|μs|ms|s|min|h)", re.ASCII)
UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    # The letter mu next to the sign micro: they look the same.
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
}
LONGEST = 2**63 - 1


def add_min_duration_argument(group: argparse._ActionsContainer, text: str) -> None:
    """Add the option to a parser or a group.

    Args:
        group: Where to.
        text: Its help: what happens to shorter calls.
    """
    group.add_argument("--min-duration", metavar="TIME", type=nanoseconds, help=text)


def nanoseconds(text: str) -> int:
    """Read a duration.

    Args:
        text: A number with a unit, such as ``10us``.

    Returns:
        Nanoseconds.

    Raises:
        ArgumentTypeError: It is none.
    """
    from decimal import Decimal

    match = FORMAT.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no duration: expected a number with ns, us, ms, s, min or h"
        )
    value = int(Decimal(match[1]) * UNITS[match[2]])
    if value > LONGEST:
        raise argparse.ArgumentTypeError(f"'{text}' is longer than any trace")
    return value


def call_duration_filter(
    least: int, sources: Sequence[CtfFsSource], selection: Selection
) -> CallDurationFilter:
    """Return the filter, which reads the traces for the first time.

    Args:
        least: How long calls last that are shown, nanoseconds.
        sources: The traces.
        selection: What is shown of them.
    """
    from ..components.filters.call_duration import (
        CallDurationFilter,
    )
    from .render.progress import ProgressBar

    with ProgressBar("measuring calls") as bar:
        progress = (lambda done: bar.update(None, done)) if bar.enabled else None
        return CallDurationFilter(least, sources, selection, progress=progress)
