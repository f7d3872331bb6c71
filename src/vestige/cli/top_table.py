"""The table of ``vestige top``, and its keys on a terminal."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from ..control.watching import Look, Watch
from ..errors import CommandError
from .exit_statuses import READ
from .render.watched import SORTS, Row, Table, look_tables, summary, text_lines
from .top_screen import Screen

__all__ = ["chosen", "show", "table_lines"]

BOLD, RED, RESET = "\x1b[1m", "\x1b[31m", "\x1b[0m"
QUIT, NEXT_ORDER, NEXT_SESSION, ALL_SESSIONS = "q", "s", "\t", "a"
ORDERS = [*SORTS]
KEYS = "q quit  s order  Tab session  a all  space now"


def chosen(look: Look, session: str | None) -> Look:
    """Return what was asked for of a look.

    Args:
        look: What was seen.
        session: The name of the only session or recording; ``None`` for all.

    Raises:
        CommandError: There is no such session.
    """
    if session is None:
        return look
    found = look.only(session)
    if not found.names:
        raise CommandError(f"no session '{session}'")
    return found


def table_lines(look: Look, sort: str) -> Iterator[tuple[str, Row | Table | None]]:
    """Yield the lines of all tables.

    Args:
        look: What was seen.
        sort: The order of sessions.

    Yields:
        Each with its row, its table for the line of a head, or ``None``.
    """
    yield summary(look), None
    for table in look_tables(look, sort):
        yield "", None
        for line, row in text_lines(table):
            yield line, table if row is None else row


class _Shown:
    """What a person wants to see."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.session: str | None = options.session
        self.sort: str = options.sort

    def press(self, key: str, names: list[str]) -> bool:
        """Do what a key says; tell whether that is to end."""
        if key in {"q", "Q", "\x04"}:
            return True
        if key == NEXT_ORDER:
            self.sort = ORDERS[(ORDERS.index(self.sort) + 1) % len(ORDERS)]
        elif key == ALL_SESSIONS:
            self.session = None
        elif key == NEXT_SESSION and names:
            after = names.index(self.session) + 1 if self.session in names else 0
            self.session = names[after] if after < len(names) else None
        return False


def show(watch: Watch, options: argparse.Namespace) -> int:
    """Refresh a terminal until a key or Ctrl-C ends that.

    Args:
        watch: What is looked at.
        options: ``delay``, ``session`` and ``sort``.

    Returns:
        The exit status.

    Raises:
        CommandError: There is no such session at first.
        VestigeError: The daemon has ended.
    """
    look = watch.look()
    chosen(look, options.session)
    screen, shown = Screen(), _Shown(options)
    try:
        with screen.shown():
            while True:
                screen.draw(_lines(look, shown, screen.size()))
                key = screen.key(options.delay)
                if any(shown.press(one, look.names) for one in key or ""):
                    return READ
                if key is None or " " in key:
                    look = watch.look()
    except (KeyboardInterrupt, EOFError):
        return READ


def _lines(look: Look, shown: _Shown, size: tuple[int, int]) -> list[str]:
    columns, most = size
    is_plain = "NO_COLOR" in os.environ
    part = look if shown.session is None else look.only(shown.session)
    found = [*table_lines(part, shown.sort)]
    if shown.session is not None and not part.names:
        found.insert(1, ("that session is gone", None))
    if len(found) > most - 1:
        left = len(found) - (most - 2)
        found = [*found[: most - 2], (f"and {left:,} more lines", None)]
    lines = [_coloured(line[:columns], row, is_plain=is_plain) for line, row in found]
    lines += [""] * (most - 1 - len(lines))
    which = "all sessions" if shown.session is None else "one session"
    lines.append(f"{KEYS}  (order: {shown.sort}; {which})"[:columns])
    return lines


def _coloured(line: str, row: Row | Table | None, *, is_plain: bool) -> str:
    if is_plain:
        return line
    if isinstance(row, Table):
        return f"{BOLD}{line}{RESET}"
    if row is not None and row.is_warning:
        return f"{RED}{line}{RESET}"
    return line
