"""What notebooks show: tables in HTML of events, selections and traces.

All text comes from traces, so all of it is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any, Protocol

__all__ = [
    "Picture",
    "event_html",
    "facts_html",
    "frame_html",
    "rows_html",
    "time_text",
    "with_picture",
]

LONGEST_VALUE = 200
"""Most characters of a value."""
Picture = Callable[[], str]
"""Draws in HTML the page of the trace that something is of."""
SCOPES = ("payload", "specific_context", "context", "packet_context")


class _Event(Protocol):
    """What is shown of an event."""

    @property
    def name(self) -> str | None:
        """Its name."""

    @property
    def timestamp(self) -> int | None:
        """Its time, nanoseconds."""

    @property
    def debug_info(self) -> object:
        """Its place."""


def event_html(event: _Event) -> str:
    """Show an event as a table: time, place, and the fields of each scope.

    Args:
        event: The event.
    """
    rows: list[tuple[str, object]] = [("timestamp", event.timestamp)]
    if event.debug_info is not None:
        rows.append(("debug_info", event.debug_info))
    for scope in SCOPES:
        fields: Mapping[str, Any] = getattr(event, scope)
        rows += [(f"{scope}.{name}", value) for name, value in fields.items()]
    return facts_html(event.name or "event without a name", rows)


def facts_html(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Show some facts as a table of two columns.

    Args:
        title: What they are about.
        rows: Names and values.
    """
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(_text(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def _text(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def rows_html(
    title: str, head: Iterable[str], rows: Iterable[Iterable[object]], most: int = 50
) -> str:
    """Show rows as a table.

    Args:
        title: What they are about.
        head: Names of the columns.
        rows: The rows.
        most: How many are shown; a last row says how many are missing.
    """
    names = [*head]
    every = [*rows]
    cells = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_text(one))}</td>" for one in row) + "</tr>"
        for row in every[:most]
    )
    if len(every) > most:
        missing = f"{len(every) - most} more"
        body += f"<tr><td colspan='{len(names)}'>{missing}</td></tr>"
    return f"<table><caption>{escape(title)}</caption><tr>{cells}</tr>{body}</table>"


_TIME_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))
_DIGITS = 4


def time_text(nanoseconds: float | None) -> str:
    """Return a duration as people write it: ``4.612 ms``.

    Args:
        nanoseconds: The duration; ``None`` if it is not known, which is no text.
    """
    if nanoseconds is None:
        return ""
    for size, unit in _TIME_UNITS:
        if nanoseconds >= size:
            whole = len(str(int(nanoseconds // size)))
            return f"{nanoseconds / size:.{max(_DIGITS - whole, 0)}f} {unit}"
    return f"{nanoseconds:.0f} ns"


def with_picture(table: str, picture: Picture | None) -> str:
    """Add the page of the trace to what is shown of something.

    Args:
        table: What is shown.
        picture: Draws the page; ``None`` where it is of a part of a trace, of which
            the page would show more.
    """
    return table if picture is None else table + picture()


def frame_html(page: str, title: str, height: int = 620) -> str:
    """Show a page within a notebook, by itself: it can do nothing to the notebook.

    Args:
        page: The whole page.
        title: What it shows.
        height: How high, pixels.
    """
    # Pages have far fewer single quotes than double ones.
    inside = page.replace("&", "&amp;").replace("'", "&#39;")
    return (
        f"<iframe title='{escape(title)}' sandbox='allow-scripts' "
        f"style='width:100%;height:{height}px;border:0' srcdoc='{inside}'></iframe>"
    )
