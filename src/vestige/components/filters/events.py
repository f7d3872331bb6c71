"""Only events of some names, or with some fields: ``filter.vestige.events``.

As with :mod:`.trimmer`, nothing passes through: what is not wanted is not decoded.
"""

from __future__ import annotations

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...graph import Stream
    from ...graph.plan import ComponentSpec
    from ...graph.selection import Selection

__all__ = ["choose_events"]


def choose_events(
    spec: ComponentSpec, selections: dict[Stream, Selection]
) -> dict[Stream, Selection]:
    """Narrow what is wanted of data streams.

    Args:
        spec: The component.
        selections: What is wanted of each data stream without it.

    Returns:
        What is wanted of each.

    Raises:
        SelectionError: An expression is none, or is true of no event record of these.
    """
    names = tuple(spec.params.get("names", ()))
    narrowed = {
        stream: wanted.narrowed(names, None, None)
        for stream, wanted in selections.items()
    }
    if not spec.params.get("recorder-events", True):
        narrowed = {
            stream: wanted._replace(recorder_events=False)
            for stream, wanted in narrowed.items()
        }
    from ...graph.record_filter import check_filter  # noqa: PLC0415 - few ask for it

    for expression in spec.params.get("expressions", ()):
        check_filter(
            expression,
            ((stream, one.wanted_classes(stream)) for stream, one in narrowed.items()),
        )
        narrowed = {
            stream: wanted._replace(filters=(*wanted.filters, expression))
            for stream, wanted in narrowed.items()
        }
    return narrowed
