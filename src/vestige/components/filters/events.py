"""Only events of some names, or with some fields: ``filter.vestige.events``.

As with :mod:`.trimmer`, nothing passes through: what is not wanted is not decoded. But
expressions on what a filter before it adds to events are run when it has done so.
"""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...graph.growing import Feed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ... import core
    from ...graph import Stream
    from ...graph.component_class import MakeFilter
    from ...graph.message_component import Flow, Pulled
    from ...graph.plan import ComponentSpec
    from ...graph.selection import Selection

__all__ = ["AddedFieldFilter", "choose_events", "select_flow", "split_events"]


def choose_events(
    spec: ComponentSpec, selections: dict[Stream | Feed, Selection]
) -> dict[Stream | Feed, Selection]:
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
    origins = (spec.params.get(name, ()) for name in ("threads", "processes"))
    threads, processes = origins
    if threads or processes:
        from .origins import choose_origins  # noqa: PLC0415 - few ask for it

        narrowed = choose_origins(narrowed, threads, processes)
    from ...graph.record_filter import check_filter  # noqa: PLC0415 - few ask for it

    for expression in spec.params.get("expressions", ()):
        check_filter(
            expression,
            (
                (stream, one.wanted_classes(stream))
                for stream, one in narrowed.items()
                if not isinstance(stream, Feed)
            ),
        )
        narrowed = {
            stream: wanted._replace(filters=(*wanted.filters, expression))
            for stream, wanted in narrowed.items()
        }
    return narrowed


def split_events(
    spec: ComponentSpec,
    added: frozenset[str],
    incoming: Mapping[Stream | Feed, Selection],
) -> tuple[ComponentSpec, MakeFilter | None]:
    """Take apart what is known while records are read, and what filters add.

    Args:
        spec: The component.
        added: Names of the fields that filters before it add.
        incoming: What is wanted of each data stream without it.

    Returns:
        The component without expressions on such fields, and what makes a filter of
        these, if there are any.

    Raises:
        SelectionError: An expression is none, or is true of no event record of these.
    """
    from ...graph.record_filter import check_filter, contexts_of  # noqa: PLC0415

    names = tuple(sorted(added))
    expressions = spec.params.get("expressions", ())
    late = tuple(one for one in expressions if added & contexts_of(one))
    if not late:
        return spec, None
    for expression in late:
        classes = (
            (stream, one.wanted_classes(stream))
            for stream, one in incoming.items()
            if not isinstance(stream, Feed)
        )
        check_filter(expression, classes, names)
    early = {
        **spec.params,
        "expressions": [one for one in expressions if one not in late],
    }
    return spec._replace(params=early), lambda *_: AddedFieldFilter(late, names)


def select_flow(spec: ComponentSpec, flow: Flow) -> Flow:
    """Choose from merges whose data streams nobody knows before.

    Args:
        spec: The component.
        flow: The merges that come in.

    Returns:
        What gives those that go out.

    Raises:
        SelectionError: An expression is none.
    """
    from ...graph.record_filter import record_filter  # noqa: PLC0415 - as above
    from ...graph.selection import Selection  # noqa: PLC0415 - as above

    params = spec.params
    wanted = Selection(recorder_events=bool(params.get("recorder-events", True)))
    wanted = wanted.narrowed(tuple(params.get("names", ())), None, None)
    expressions = tuple(params.get("expressions", ()))
    compiled = record_filter(expressions, ()) if expressions else None

    def selected(incoming: Iterator[Pulled]) -> Iterator[Pulled]:
        for merge in incoming:
            if merge is None:
                yield None
                continue
            merge.select_classes([wanted.wanted_classes(one) for one in merge.owners])
            if compiled is not None:
                merge.select(compiled)
            yield merge.shown()

    return lambda: selected(flow())


class AddedFieldFilter:
    """Hides event records of which expressions on added fields are not true.

    Args:
        expressions: The expressions.
        names: Names of the fields that filters before it add.
    """

    needed_events: frozenset[str] = frozenset()
    """It needs no events but those that are wanted."""

    def __init__(self, expressions: tuple[str, ...], names: tuple[str, ...]) -> None:
        from ...graph.record_filter import record_filter  # noqa: PLC0415 - as above

        self._filter = record_filter(expressions, names)

    def process(self, merge: core.Merge) -> None:
        """Hide them."""
        merge.select(self._filter)
