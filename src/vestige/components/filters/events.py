"""Only events of some names: ``filter.vestige.events``.

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
    """
    names = tuple(spec.params["names"])
    return {
        stream: wanted.narrowed(names, None, None)
        for stream, wanted in selections.items()
    }
