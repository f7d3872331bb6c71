"""Expressions that choose event records: for the core, or what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import compress

from .. import core
from .._typing import TYPE_CHECKING
from ..errors import SelectionError

if TYPE_CHECKING:
    from ..expressions.code import Instruction
    from ..model import FieldClass, StructureFieldClass
    from .stream import Stream

__all__ = ["check_filter", "contexts_of", "record_filter"]

MOST_SUGGESTIONS = 10
"""Names that an error lists where none is like the one that was meant."""

OF_PROCESS = ("vpid", "procname")
"""Contexts that the trace environment may have; the core knows them, too."""

PLACE = ("bin", "func", "src")
"""What fields have that debug-info filters add."""

Selected = tuple["Stream", "list[bool] | None"]
"""A data stream, and which of its event record classes are selected."""


@lru_cache(maxsize=32)
def record_filter(
    expressions: tuple[str, ...], added: tuple[str, ...] | None = None
) -> core.RecordFilter:
    """Compile expressions, all of which must be true.

    Args:
        expressions: What users write.
        added: Names of the fields that filters added to the records, when it is about
            records of merges.

    Raises:
        SelectionError: One is none; the message names the column.
    """
    # Most readings have none.
    from ..expressions import compile_filter  # noqa: PLC0415 - see above

    return core.RecordFilter([compile_filter(one) for one in expressions], added)


def contexts_of(expression: str) -> frozenset[str]:
    """Return the names of the contexts that an expression is about.

    Args:
        expression: The expression.

    Raises:
        SelectionError: It is none; the message names the column.
    """
    from ..expressions import compile_filter  # noqa: PLC0415 - as above
    from ..expressions.code import Operation  # noqa: PLC0415 - as above

    compiled = compile_filter(expression)
    wanted = (one for one in compiled if one.operation is Operation.CONTEXT)
    return frozenset(_first(one) for one in wanted)


def check_filter(
    expression: str,
    selected: Iterable[Selected],
    added: tuple[str, ...] | None = None,
) -> None:
    """Refuse an expression that is true of no event record, whatever its fields hold.

    Args:
        expression: The expression.
        selected: The data streams, and which of their event record classes are
            selected; ``None`` for all.
        added: Names of the fields that filters added, as :func:`record_filter` takes
            them.

    Raises:
        SelectionError: It is no expression; or every class lacks something that it
            names, or has it with a type that its operators do not take. The message
            tells what, and names that are like it.
    """
    compiled = record_filter((expression,), added)
    known = []
    for stream, wanted in selected:
        possible = compiled.possible(stream.handle)
        chosen = [True] * len(possible) if wanted is None else wanted
        if any(compress(possible, chosen)):
            return
        if any(chosen):
            known.append((stream, chosen))
    if known:
        raise SelectionError(
            f"filter '{expression}': {_reason(expression, known, added or ())}"
        )


def _reason(
    expression: str,
    selected: list[tuple[Stream, list[bool]]],
    added: tuple[str, ...],
) -> str:
    """Tell why no class will do."""
    from ..expressions import compile_filter  # noqa: PLC0415 - as above
    from ..expressions.code import Operation  # noqa: PLC0415 - as above

    fields = dict(_fields(selected))
    contexts = dict(_contexts(selected))
    types = []
    named = set()
    for one in compile_filter(expression):
        if one.operation in {Operation.FIELD, Operation.ELEMENT}:
            name = _first(one)
            if name not in fields:
                return _missing_field(name, fields, contexts)
            named.add(name)
            types.append(f"'{name}' is {_type_name(fields[name])}")
        elif one.operation is Operation.CONTEXT:
            name = _first(one)
            if any(
                name in OF_PROCESS and name in stream.trace.parsed.environment
                for stream, _ in selected
            ):
                continue
            if name in added:
                types.append(f"'$ctx.{name}' has the strings {', '.join(PLACE)}")
                continue
            if name not in contexts:
                close = _close(name, contexts, "$ctx.")
                return f"no selected event has the context '{name}'{close}"
            types.append(f"'$ctx.{name}' is {_type_name(contexts[name])}")
    payloads = (
        {name for name, _ in _members(event.payload)}
        for stream, wanted in selected
        for event in compress(stream.stream_class.event_classes, wanted)
    )
    if not any(named <= payload for payload in payloads):
        return f"no selected event has all of the fields {', '.join(sorted(named))}"
    told = f" ({', '.join(dict.fromkeys(types))})" if types else ""
    return (
        "no selected event has all that it names, with types that its operators "
        f"take{told}"
    )


def _first(instruction: Instruction) -> str:
    """Return the first name of a path."""
    name = instruction.value
    text = name.decode() if isinstance(name, bytes) else ""
    head, separator, rest = text.partition(".")
    if head == "$app":
        head += separator + rest.partition(".")[0]
    # As tracers write names of contexts.
    return re.sub(r"\W", "_", head.partition("[")[0])


def _missing_field(
    name: str, fields: dict[str, FieldClass], contexts: dict[str, FieldClass]
) -> str:
    if name in contexts:
        return f"no selected event has a field '{name}'; the context is '$ctx.{name}'"
    return f"no selected event has a field '{name}'{_close(name, fields)}"


def _close(name: str, known: Iterable[str], prefix: str = "") -> str:
    import difflib  # noqa: PLC0415 - only a mistake needs it

    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3) or names[:MOST_SUGGESTIONS]
    return f"; there are {', '.join(prefix + one for one in close)}" if close else ""


def _fields(
    selected: list[tuple[Stream, list[bool]]],
) -> Iterator[tuple[str, FieldClass]]:
    for stream, wanted in selected:
        for event in compress(stream.stream_class.event_classes, wanted):
            yield from _members(event.payload)


def _contexts(
    selected: list[tuple[Stream, list[bool]]],
) -> Iterator[tuple[str, FieldClass]]:
    for stream, wanted in selected:
        yield from _members(stream.stream_class.packet_context)
        yield from _members(stream.stream_class.event_context)
        for event in compress(stream.stream_class.event_classes, wanted):
            yield from _members(event.context)


def _members(scope: StructureFieldClass | None) -> Iterator[tuple[str, FieldClass]]:
    for member in () if scope is None else scope.members:
        yield member.name, member.field_class


def _type_name(field: FieldClass) -> str:
    from .. import model  # noqa: PLC0415 - as above

    names: tuple[tuple[type[FieldClass], str], ...] = (
        (model.EnumerationFieldClass, "an enumeration: a number, not a label"),
        (model.IntegerFieldClass, "an integer"),
        (model.FloatFieldClass, "a real number"),
        (model.StringFieldClass, "a string"),
        (model.ArrayFieldClass, "an array"),
        (model.StructureFieldClass, "a structure"),
    )
    if isinstance(field, model.ArrayFieldClass) and field.text:
        return "a string"
    return next((name for kind, name in names if isinstance(field, kind)), "no number")
