"""Which event records of data streams are wanted."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from .. import core
from .._typing import NamedTuple
from .recorder_events import is_recorder_event
from .stream import Stream

__all__ = ["Selection"]


class Selection(NamedTuple):
    """Which event records are wanted; the rest is not decoded."""

    begin: int | None = None
    """Earliest time, nanoseconds from the clock's origin."""
    end: int | None = None
    """Latest time, nanoseconds from the clock's origin; included."""
    patterns: tuple[str | tuple[str, ...], ...] = ()
    """Shell patterns that the names of events match: each of them, of a tuple any."""
    intersection: bool = False
    """Only the time in which all data streams of a trace are active."""
    filters: tuple[str, ...] = ()
    """Expressions that are true of the event records, each of them."""
    recorder_events: bool = True
    """Whether events are wanted that the recorder itself needs, if no pattern says so:
    state dumps and loaded objects."""
    late_filters: tuple[str, ...] = ()
    """The same about fields that filters add: a filter behind these applies them."""

    def wanted_classes(self, stream: Stream) -> list[bool] | None:
        """Tell for each event record class if it is wanted; ``None`` for all."""
        chosen = self._chosen_classes(stream)
        if not self.filters:
            return chosen
        from .record_filter import record_filter  # noqa: PLC0415 - few ask for it

        possible = record_filter(self.filters).possible(stream.handle)
        if possible is None or chosen is None:
            return chosen if possible is None else possible
        return [both == (True, True) for both in zip(chosen, possible, strict=True)]

    @property
    def record_filter(self) -> core.RecordFilter | None:
        """The expressions, as the core takes them; ``None`` without any."""
        if not self.filters:
            return None
        from .record_filter import record_filter  # noqa: PLC0415 - few ask for it

        return record_filter(self.filters)

    def kept_classes(
        self, stream: Stream, needed: Collection[str] = ()
    ) -> list[bool] | None:
        """Tell which classes are read, wanted or not: those of filters and of counts.

        Args:
            stream: The data stream.
            needed: Names of events that filters need.
        """
        if self == Selection():
            return None
        kept = None
        if needed:
            kept = [name in needed for name in stream.event_names]
        if needed or self.begin is None:
            # Otherwise packets before the beginning would be read for their number.
            left_out = self.left_out_classes(stream)
            if left_out is not None:
                pairs = zip(left_out, kept or left_out, strict=True)
                kept = [one or other for one, other in pairs]
        return kept

    def takes(self, name: str) -> bool:
        """Tell if events of a name are wanted.

        Args:
            name: The name.
        """
        return all(
            any(fnmatchcase(name, one) for one in _alternatives(patterns))
            for patterns in self.patterns
        )

    def _chosen_classes(self, stream: Stream) -> list[bool] | None:
        if not self.patterns:
            left_out = self.left_out_classes(stream)
            return None if left_out is None else [not one for one in left_out]
        return [name is not None and self.takes(name) for name in stream.event_names]

    def left_out_classes(self, stream: Stream) -> list[bool] | None:
        """Tell for each event record class if the recorder alone needs it.

        Args:
            stream: The data stream.

        Returns:
            ``None`` when there are no such classes, or nothing is left out.
        """
        if self.recorder_events or self.patterns:
            return None
        environment = stream.trace.parsed.environment
        is_ours = environment.get("tracer_name") == "vestige"
        left_out = [
            is_recorder_event(name, is_ours=is_ours) for name in stream.event_names
        ]
        return left_out if any(left_out) else None

    def narrowed(
        self, patterns: tuple[str, ...], begin: int | None, end: int | None
    ) -> Selection:
        """Return what is in this selection and in another one.

        Args:
            patterns: Shell patterns of event names, of which any is to match; all
                events without one.
            begin: Earliest time, nanoseconds.
            end: Latest time, nanoseconds; included.
        """
        begins = [time for time in (self.begin, begin) if time is not None]
        ends = [time for time in (self.end, end) if time is not None]
        return self._replace(
            patterns=(*self.patterns, patterns) if patterns else self.patterns,
            begin=max(begins, default=None),
            end=min(ends, default=None),
        )

    def filtered(
        self, expression: str, streams: Iterable[Stream], added: tuple[str, ...] = ()
    ) -> Selection:
        """Return what is in this selection and has an expression true of it.

        Args:
            expression: The expression.
            streams: The data streams that are selected from.
            added: Names of the fields that filters add.

        Raises:
            SelectionError: It is none, or is true of no event record of these classes.
        """
        from .record_filter import check_filter, contexts_of  # noqa: PLC0415 - as above

        selected = ((one, self.wanted_classes(one)) for one in streams)
        if added and contexts_of(expression) & {*added}:
            check_filter(expression, selected, added)
            return self._replace(late_filters=(*self.late_filters, expression))
        check_filter(expression, selected)
        return self._replace(filters=(*self.filters, expression))


def _alternatives(patterns: str | tuple[str, ...]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else patterns
