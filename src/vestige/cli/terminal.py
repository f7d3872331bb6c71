"""What a terminal can show: columns and characters."""

from __future__ import annotations

import codecs
import os
import sys

from .._typing import TYPE_CHECKING
from ..plain_text import plain

if TYPE_CHECKING:
    import argparse
    from typing import TextIO

__all__ = [
    "add_wide_argument",
    "is_ascii_only",
    "line_width",
    "make_all_text_printable",
]

_USUAL_COLUMNS = 80
_SUBSTITUTES = {
    "µ": "u",
    "…": "...",
    "│": "|",
    "├": "|",
    "└": "`",
    "─": "-",
    "█": "#",
    **dict.fromkeys("▉▊▋▌", "#"),
    **dict.fromkeys("▍▎▏", "."),
}
"""What stands for our own characters where there is only ASCII."""


def add_wide_argument(parser: argparse._ActionsContainer) -> None:
    """Add ``--wide`` to a parser.

    Args:
        parser: Where to.
    """
    parser.add_argument(
        "--wide",
        action="store_true",
        help="do not cut lines to the width of the terminal (they are never cut when "
        "the output is not a terminal)",
    )


def line_width(*, wide: bool = False) -> int | None:
    """Return how many columns a line of standard output may have.

    Args:
        wide: Whether a person wants whole lines on any terminal.

    Returns:
        ``None`` when nothing is to be cut, as in files and pipes.
    """
    if wide or not sys.stdout.isatty():
        return None
    try:
        columns = int(os.environ.get("COLUMNS", "0"))
    except ValueError:
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(sys.stdout.fileno()).columns
        except (OSError, ValueError):
            columns = 0
    return columns if columns > 0 else _USUAL_COLUMNS


def is_ascii_only(stream: TextIO | None = None) -> bool:
    """Return whether a stream takes no other characters than those of ASCII.

    Args:
        stream: Standard output by default.
    """
    encoding = getattr(stream or sys.stdout, "encoding", None) or "ascii"
    try:
        "µ…".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return True
    return False


def make_all_text_printable() -> None:
    """Write characters that the locale does not have in another way.

    Without this, a line with one of them is an error under ``LC_ALL=POSIX``. Bytes of
    file names that are no UTF-8 are written to standard output as they are.
    """
    codecs.register_error("vestige", _substitute)
    codecs.register_error("vestige-bytes", _keep_bytes)
    handlers = ((sys.stdout, "vestige-bytes"), (sys.stderr, "vestige"))
    for stream, errors in handlers:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=errors)


def _substitute(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace one character that cannot be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    text = _SUBSTITUTES.get(character) or plain(character)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.start + 1


def _keep_bytes(error: UnicodeError) -> tuple[str | bytes, int]:
    """Do the same, but write bytes of file names as they are."""
    if isinstance(error, UnicodeEncodeError):
        code = ord(error.object[error.start])
        if 0xDC80 <= code < 0xDD00:  # noqa: PLR2004 - see PEP 383
            return bytes([code - 0xDC00]), error.start + 1
    return _substitute(error)
