"""Which recording ``vestige record`` made last for this user.

Verbs that read take it when no PATH is given. A text that is kept holds its path.
"""

from __future__ import annotations

import os
import sys

from .._typing import TYPE_CHECKING
from ..errors import CommandError
from .exit_statuses import WRONG_USAGE
from .kept_text import keep_text, kept_text, recordings_directory

if TYPE_CHECKING:
    import argparse

__all__ = ["recordings_directory", "remember", "take_newest"]

_NAME = "newest"


def remember(trace: str | os.PathLike[str]) -> None:
    """Keep which recording is the newest one; what cannot be kept is forgotten.

    Args:
        trace: Its absolute path.
    """
    keep_text(_NAME, os.fsencode(trace))


def take_newest(options: argparse.Namespace) -> None:
    """Give a command line without any PATH that of the newest recording.

    Args:
        options: The parsed command line; its ``paths`` are filled, and a line on
            standard error says with what.

    Raises:
        CommandError: No recording is known, or it is not there any more.
    """
    if options.paths:
        return
    path = _remembered()
    if path is None:
        raise CommandError(
            "no PATH is given and no recording is known; 'vestige record -- PROGRAM' "
            "makes one",
            exit_code=WRONG_USAGE,
        )
    if not os.path.isdir(path):  # noqa: PTH112 - pathlib takes long to import
        raise CommandError(f"{path}: this was the newest recording, and it is gone")
    print(f"vestige: reading {path}, the newest recording", file=sys.stderr)
    options.paths = [path]


def _remembered() -> str | None:
    text = kept_text(_NAME)
    if text is None:
        return None
    path = os.fsdecode(text)
    return path if os.path.isabs(path) and "\0" not in path else None  # noqa: PTH117 - as above
