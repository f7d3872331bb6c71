"""Event records as short lines for people."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING, NamedTuple
from .text_pretty import TextOptions, TextPrettySink, zone_offset

if TYPE_CHECKING:
    from typing import TextIO

    from ...graph.plan import ComponentSpec

__all__ = ["ShortTextOptions", "TextShortSink", "make_text_short"]


class ShortTextOptions(NamedTuple):
    """What the lines look like."""

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
    color: bool = False
    """Use terminal colours."""
    ascii: bool = False
    """Use ASCII only for what is no data."""
    width: int | None = None
    """Columns that a line may have; ``None``: as many as it needs."""
    labels: tuple[tuple[int, str], ...] = ()
    """What the column of traces has for the index of each; none: no such column."""
    indent: bool = False
    """Indent events by the calls around them, and put these between braces."""
    symbols: bool = True
    """Put names in place of addresses of the kernel, where the trace tells them."""


class TextShortSink(TextPrettySink):
    """Writes event records as short lines, and losses as warnings.

    Time, time since the event before, trace, process and thread, name, fields, and
    ``function at file:line``.

    Args:
        options: What the lines look like.
        descriptor: Where lines go: an open file descriptor.
        warnings: Where warnings go.
    """

    def __init__(
        self,
        options: ShortTextOptions | None = None,
        *,
        descriptor: int | None = None,
        warnings: TextIO | None = None,
    ) -> None:
        super().__init__(
            TextOptions(safe=True), descriptor=descriptor, warnings=warnings
        )
        chosen = options or ShortTextOptions()
        # As in the base class.
        from ... import core  # noqa: PLC0415 - see above

        self._renderer = core.TextRenderer.short(chosen._asdict(), zone_offset)


def make_text_short(
    spec: ComponentSpec, _resources: object, _streams: object
) -> TextShortSink:
    """Make a sink.

    Args:
        spec: The component.
    """
    switches = {
        name.replace("-", "_"): value
        for name, value in spec.params.items()
        if name != "no-delta"
    }
    delta = not spec.params.get("no-delta", False)
    return TextShortSink(ShortTextOptions(delta=delta, **switches))
