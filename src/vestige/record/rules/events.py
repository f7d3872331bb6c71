"""Which events a recording has, from the rules that a user gives.

The state dump and the events of loaded objects are in each recording: no address would
have a name without them.
"""

from __future__ import annotations

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import SelectionError
from .._agreement import EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .choices import FunctionTracing
    from .event_rules import CompiledRule

__all__ = [
    "ALWAYS_RECORDED",
    "BASE_ADDRESSES",
    "EVENT_NAMES",
    "Selection",
    "function_rules",
    "level_of",
    "select",
]

FAST = "lttng_ust_cyg_profile_fast"
VERBOSE = "lttng_ust_cyg_profile"
_LEVELS = {name: level for name, level, _, _ in EVENTS}
BASE_ADDRESSES = tuple(name for name in _LEVELS if name.startswith("ust_baddr:"))
"""Recorded only when they are asked for."""
ALWAYS_RECORDED = tuple(
    name
    for name in _LEVELS
    if name.startswith(("lttng_ust_statedump:", "lttng_ust_lib:"))
)
"""Recorded whatever is asked for."""
EVENT_NAMES = (
    *(name for name in _LEVELS if name.startswith((f"{FAST}:", f"{VERBOSE}:"))),
    *ALWAYS_RECORDED,
    *BASE_ADDRESSES,
)
"""What the tracer writes by itself; other names are those of tracepoints."""
NOT_FILTERED = (*ALWAYS_RECORDED, *BASE_ADDRESSES)
"""What addresses need to have names."""
_PROVIDERS: dict[FunctionTracing, str] = {"fast": FAST, "verbose": VERBOSE}


class Selection(NamedTuple):
    """What the tracer writes besides the state dump and the events of objects."""

    entries: FunctionTracing
    """At the entry of functions."""

    exits: FunctionTracing
    """At their exit."""

    base_addresses: bool
    """Whether it writes ``ust_baddr:*``."""


def select(
    rules: Sequence[CompiledRule], functions: FunctionTracing | None
) -> Selection:
    """Work out which events the tracer writes by itself.

    Args:
        rules: What chooses events; all the usual events when there is none.
        functions: What the events of functions hold; ``None`` leaves it to the
            rules.

    Returns:
        The events.

    Raises:
        SelectionError: A filter is asked for where there is nothing to look at.
    """
    if not rules:
        chosen = functions or "fast"
        return Selection(chosen, chosen, base_addresses=False)
    all_rules = (*rules, *function_rules(rules, functions))
    for rule in all_rules:
        if rule.code and rule.text in NOT_FILTERED:
            raise SelectionError(
                f"'{rule.text}': expected no filter: what says where objects are has "
                "none"
            )
    return Selection(
        _tracing(all_rules, "func_entry", functions),
        _tracing(all_rules, "func_exit", functions),
        any(
            rule.takes_name(name, level_of(name))
            for rule in rules
            if not rule.code
            for name in BASE_ADDRESSES
        ),
    )


def function_rules(
    rules: Sequence[CompiledRule], functions: FunctionTracing | None
) -> tuple[CompiledRule, ...]:
    """Write rules for functions whose events have a form that was asked for.

    Args:
        rules: What chooses events.
        functions: What the events of functions hold; ``None`` leaves it to the
            rules.

    Returns:
        Further rules: those that name the other form name this one; and where none has
        a word about functions, all are recorded.
    """
    if functions is None or functions not in _PROVIDERS:
        return ()
    # Few recordings have rules.
    from .event_rules import compile_rules  # noqa: PLC0415 - see above

    found: list[CompiledRule] = []
    is_chosen = False
    for event in ("func_entry", "func_exit"):
        names = [f"{provider}:{event}" for provider in _PROVIDERS.values()]
        own = f"{_PROVIDERS[functions]}:{event}"
        for rule in rules:
            taken = [one for one in names if rule.chooses(one, _fields_of(own))]
            is_chosen = is_chosen or bool(taken)
            if taken and own not in taken:
                found.append(rule._replace(glob=own, exclude=()))
    if not is_chosen:
        found += compile_rules([f"{_PROVIDERS[functions]}:*"])
    return tuple(found)


def level_of(name: str) -> int:
    """Return the log level of an event that the tracer writes by itself.

    Args:
        name: Its name.

    Returns:
        The level.
    """
    return _LEVELS[name]


def _tracing(
    rules: Sequence[CompiledRule], event: str, functions: FunctionTracing | None
) -> FunctionTracing:
    """Return what one kind of events holds: the shorter form where both are named."""
    wanted = _PROVIDERS if functions is None else (functions,)
    forms = {_form(rule, event, wanted) for rule in rules}
    return "fast" if "fast" in forms else "verbose" if "verbose" in forms else "off"


def _form(
    rule: CompiledRule, event: str, wanted: Iterable[FunctionTracing]
) -> FunctionTracing:
    """Return the form that a rule asks for, unless it can take no such event."""
    for form in wanted:
        name = f"{_PROVIDERS.get(form)}:{event}"
        if name in _LEVELS and rule.takes_name(name, level_of(name)):
            return form if rule.may_hold(_fields_of(name)) else "off"
    return "off"


def _fields_of(name: str) -> frozenset[str]:
    """Return the fields of an event that the tracer writes by itself."""
    # As above.
    from .known_events import KNOWN_EVENTS  # noqa: PLC0415 - see above

    return next(event.fields for event in KNOWN_EVENTS if event.name == name)
