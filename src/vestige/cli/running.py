"""Running a plan of a command line."""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from ..components.registry import Registry
from ..errors import CommandError, ComponentError, GraphError
from ..graph.plan_check import check_plan
from .damage_output import print_damage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..graph.plan import ComponentSpec, Plan

__all__ = ["run_plan"]

INTERRUPTED_GRAPH = 2
"""What Babeltrace 2 says of a graph that was interrupted."""


def run_plan(  # noqa: PLR0913 - options of a command line, by keyword
    plan: Plan,
    *,
    registry: Registry | None = None,
    strict: bool = False,
    overlooked: Sequence[str] = (),
    literal: bool = False,
    events: Sequence[str] = (),
) -> int:
    """Run a plan, and report the damage it met.

    Args:
        plan: The plan.
        registry: The component classes that there are; those that are built in by
            default.
        strict: Whether to stop at the first damage.
        overlooked: Kinds of damage that are as good as none.
        literal: Whether to take damage as Babeltrace 2 does.
        events: Patterns of events that somebody has written, to be told which of them
            no event can match.

    Returns:
        The exit status.

    Raises:
        CommandError: The plan cannot run.
        GraphError: The times of its data streams cannot be compared.
        TraceFormatError: There is damage, and it is to be strict.
    """
    registry = registry or Registry()
    try:
        check_plan(plan, registry)
    except GraphError as error:
        raise CommandError(str(error), exit_code=2) from None
    from .._suppress import ExitStack
    from ..graph import check_correlation, run_graphs
    from ..graph.lowering import lower
    from .selection_arguments import report_unmatched

    if any(_takes_messages(one, registry) for one in plan.components):
        return _run_messages(
            plan, registry, strict=strict, overlooked=overlooked, literal=literal
        )
    with ExitStack() as resources:
        graphs = lower(
            plan,
            registry,
            resources,
            strict=strict,
            overlooked=overlooked,
            literal=literal,
        )
        for graph in graphs:
            check_correlation(graph.streams)
        if not any(graph.feeds for graph in graphs):
            # Else events of other names may come.
            report_unmatched(events, [one for graph in graphs for one in graph.streams])
        damage = run_graphs(graphs)
    print_damage(damage)
    return 1 if damage else 0


def _takes_messages(spec: ComponentSpec, registry: Registry) -> bool:
    known = registry.find(spec.class_name)
    return known is not None and known.lane == "messages"


def _run_messages(
    plan: Plan,
    registry: Registry,
    *,
    strict: bool,
    overlooked: Sequence[str],
    literal: bool,
) -> int:
    """Run a plan with components in Python."""
    from contextlib import ExitStack

    from ..graph import run_graphs
    from ..graph.interruption import GraphInterruption, Interruption
    from ..graph.lowering import lower
    from .plugins import told

    try:
        # What fails when components are given back is told as well.
        with Interruption() as interruption, ExitStack() as resources:
            graphs = lower(
                plan,
                registry,
                resources,
                strict=strict,
                overlooked=overlooked,
                literal=literal,
                interruption=interruption,
            )
            damage = run_graphs(graphs)
    except GraphInterruption:
        return INTERRUPTED_GRAPH
    except ComponentError as error:
        raise told(error) from None
    print_damage(damage)
    return 1 if damage else 0
