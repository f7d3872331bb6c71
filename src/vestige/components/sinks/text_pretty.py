"""Event records as lines of text: ``sink.text.pretty``."""

from __future__ import annotations

import os
import sys
import time

from ..._typing import TYPE_CHECKING, NamedTuple
from ...plain_text import plain

if TYPE_CHECKING:
    from typing import TextIO

    from ... import core
    from ...graph import LostNotice

__all__ = ["FIELD_NAMES", "NAME_SCOPES", "TextOptions", "TextPrettySink"]

FIELD_NAMES = {
    "trace": "field_trace",
    "trace:hostname": "field_hostname",
    "trace:domain": "field_domain",
    "trace:procname": "field_procname",
    "trace:vpid": "field_vpid",
    "loglevel": "field_loglevel",
    "emf": "field_emf",
    "callsite": None,
}
"""Names of header fields, with their options; ``callsite`` shows nothing."""

NAME_SCOPES = {
    "payload": "name_payload",
    "arg": "name_payload",
    "args": "name_payload",
    "context": "name_context",
    "ctx": "name_context",
    "header": "name_header",
    "scope": "name_scope",
}
"""Words for the scopes whose names can be shown, with their options."""


class TextOptions(NamedTuple):
    """What the lines look like. The defaults are those of Babeltrace 2."""

    clock_cycles: bool = False
    """Show clock cycles instead of times."""
    clock_date: bool = False
    """Show dates."""
    clock_gmt: bool = False
    """Show UTC instead of local time."""
    clock_seconds: bool = False
    """Show seconds since the origin."""
    delta: bool = True
    """Show the time since the last event record."""
    field_trace: bool = False
    """Show the name of the trace."""
    field_hostname: bool = True
    """Show the host name."""
    field_domain: bool = False
    """Show the tracing domain."""
    field_procname: bool = True
    """Show the process name of a per-process trace."""
    field_vpid: bool = True
    """Show the process ID of a per-process trace."""
    field_loglevel: bool = False
    """Show log levels."""
    field_emf: bool = False
    """Show EMF URIs."""
    name_payload: bool = True
    """Show the names of payload fields."""
    name_context: bool = True
    """Show the names of context fields."""
    name_header: bool = False
    """Show the names of header fields."""
    name_scope: bool = False
    """Show the names of scopes."""
    color: bool = False
    """Use terminal colours."""
    bright_is_bold: bool = True
    """Show bright colours as bold ones, as most terminals want it."""
    safe: bool = False
    """Write as escapes what could steer a terminal; Babeltrace 2 does so in part."""

    def with_fields(self, names: list[str]) -> TextOptions:
        """Return options that show exactly some header fields.

        Args:
            names: Keys of :data:`FIELD_NAMES`, or ``all``.
        """
        chosen = _chosen(FIELD_NAMES, names)
        return self._with("field_", chosen)

    def with_names(self, scopes: list[str]) -> TextOptions:
        """Return options that show exactly the names of some scopes.

        Args:
            scopes: Keys of :data:`NAME_SCOPES`, ``all`` or ``none``.
        """
        return self._with("name_", _chosen(NAME_SCOPES, scopes))

    def _with(self, prefix: str, chosen: set[str]) -> TextOptions:
        names = [name for name in self._fields if name.startswith(prefix)]
        return self._replace(**{name: name in chosen for name in names})


def _chosen(
    known: dict[str, str | None] | dict[str, str], words: list[str]
) -> set[str]:
    if "all" in words:
        return {option for option in known.values() if option}
    return {option for word in words if (option := known.get(word))}


class TextPrettySink:
    """Writes event records as text, and losses as warnings.

    Args:
        options: What the lines look like.
        descriptor: Where lines go: an open file descriptor.
        warnings: Where warnings go.
    """

    looks_at_records = True
    """Fields are decoded when their text is written."""

    def __init__(
        self,
        options: TextOptions | None = None,
        *,
        descriptor: int | None = None,
        warnings: TextIO | None = None,
    ) -> None:
        self.options = options or TextOptions()
        self._descriptor = sys.stdout.fileno() if descriptor is None else descriptor
        if os.isatty(self._descriptor):
            self.options = self.options._replace(safe=True)
        self._warnings = warnings if warnings is not None else sys.stderr
        self.bytes_written = 0
        """Size of the text so far, bytes."""
        # The names of options are known without what it takes to write text.
        from ... import core  # noqa: PLC0415 - see above

        self._renderer = core.TextRenderer(self.options._asdict(), zone_offset)

    def consume(self, merge: core.Merge) -> None:
        """Write a merge, with its notices in their places.

        Args:
            merge: The next merge.

        Raises:
            TraceFormatError: A field cannot be decoded; what is before it is written.
            OSError: The text cannot be written.
        """
        from ...graph import LostNotice, notices_of  # noqa: PLC0415 - as above

        start = 0
        for notice in notices_of(merge):
            self._write(merge, start, notice.run)
            start = notice.run
            if isinstance(notice, LostNotice):
                self._warnings.write(self.warning(notice))
        self._write(merge, start, merge.run_count)

    def _write(self, merge: core.Merge, start: int, end: int) -> None:
        if start < end:
            self.bytes_written += self._renderer.write(
                merge, (start, end), self._descriptor
            )

    def finish(self) -> None:
        """Flush the warnings; the text is already written."""
        self._warnings.flush()

    def warning(self, notice: LostNotice) -> str:
        """Return the line that reports a loss, as Babeltrace 2 words it.

        Args:
            notice: The loss.
        """
        what = notice.kind.removesuffix("s")
        if notice.count is None:
            loss = f"Tracer may have discarded {what}s"
        else:
            plural = "" if notice.count == 1 else "s"
            loss = f"Tracer discarded {notice.count} {what}{plural}"
        stream = notice.stream
        uuid = stream.trace.uuid
        is_safe = self.options.safe or self._warnings.isatty()
        shown = plain if is_safe else str
        yellow, bold, reset = _warning_colors(self._warnings)
        return (
            f"{yellow}{bold}WARNING{reset}{yellow}: {loss} {self._range(notice)} "
            f'in trace "{shown(stream.trace.name)}" '
            f"{'(no UUID)' if uuid is None else f'(UUID: {uuid})'} "
            f'within stream "{shown(stream.path)}" '
            f"(stream class ID: {stream.stream_class.id}, stream ID: {stream.id})."
            f"{reset}\n"
        )

    def _range(self, notice: LostNotice) -> str:
        if notice.begin is None or notice.end is None:
            return "(unknown time range)"
        begin, end = (self._renderer.time(time) for time in (notice.begin, notice.end))
        return f"between [{begin}] and [{end}]"


def _warning_colors(stream: TextIO) -> tuple[str, str, str]:
    """Babeltrace 2 colours warnings only when both outputs are terminals."""
    if stream.isatty() and sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        return "\x1b[33m", "\x1b[1m", "\x1b[0m"
    return "", "", ""


def zone_offset(seconds: int) -> int:
    """Return the offset of local time from UTC at a time, seconds.

    Args:
        seconds: Seconds since the Unix epoch.
    """
    return time.localtime(seconds).tm_gmtoff
