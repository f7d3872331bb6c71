"""Whether text has colours: what is asked for, and what the terminal can do."""

from __future__ import annotations

import os
import sys

__all__ = ["bright_is_bold", "terminal_supports_color", "use_color"]


def use_color(choice: str, *, to_standard_output: bool, like_babeltrace: bool) -> bool:
    """Return whether text is coloured, as a person chose or as the terminal allows.

    Args:
        choice: ``never``, ``auto`` or ``always``.
        to_standard_output: Whether the text goes there.
        like_babeltrace: Whether ``always`` still means only where colours are
            supported, as with Babeltrace 2.0.4; ``BABELTRACE_TERM_COLOR`` forces them.
    """
    if choice == "always":
        return terminal_supports_color() if like_babeltrace else True
    return choice == "auto" and to_standard_output and terminal_supports_color()


def terminal_supports_color() -> bool:
    """Return whether standard output is a terminal that shows colours.

    ``BABELTRACE_TERM_COLOR`` (``always``, ``never``) and ``NO_COLOR`` decide first.
    """
    wish = os.environ.get("BABELTRACE_TERM_COLOR", "").lower()
    if wish in {"always", "never"}:
        return wish == "always"
    if "NO_COLOR" in os.environ or os.environ.get("TERM") in {None, "", "dumb"}:
        return False
    return sys.stdout.isatty() and sys.stderr.isatty()


def bright_is_bold() -> bool:
    """Return whether bright colours are shown as bold ones."""
    if os.environ.get("TERM") == "xterm-kitty":
        return False
    return os.environ.get("BABELTRACE_TERM_COLOR_BRIGHT_MEANS_BOLD", "1") != "0"
