"""The options of ``vestige record`` that choose contexts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .._typing import TYPE_CHECKING
from .repeated_lists import AddToList

if TYPE_CHECKING:
    from typing import Any

__all__ = ["add_context_arguments"]


class _ListContexts(argparse.Action):
    """Prints the contexts that there are, and ends the program."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        _namespace: argparse.Namespace,
        _values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        # Not needed to record.
        from ..record.rules.contexts import (
            CONTEXT_CLASSES,
            COUNTERS,
            counter_class,
        )

        found = [*CONTEXT_CLASSES, *map(counter_class, COUNTERS)]
        width = max(len(one.name) for one in found)
        lines = [f"{one.name:{width}}  {one.about}\n" for one in found]
        sys.stdout.writelines(lines)
        parser.exit()


def add_context_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options.

    Args:
        parser: Where to.
    """
    parser.add_argument(
        "-c",
        "--context",
        metavar="NAME[,NAME]...",
        action=AddToList,
        default="ip,vpid",
        help="add these context fields to each event: ip, vpid, vtid, procname, "
        "cpu_id, ..., or none (repeatable; default: ip,vpid, which Babeltrace needs "
        "for source lines)",
    )
    parser.add_argument(
        "--list-contexts", action=_ListContexts, nargs=0, help="list all context fields"
    )
