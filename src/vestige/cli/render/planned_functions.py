"""How each function of a program can be recorded, or why it cannot."""

from __future__ import annotations

from collections.abc import Iterator

from ..._typing import TYPE_CHECKING, NamedTuple
from ...core import FunctionPlan, ObjectFile, demangle
from ...errors import DebugInfoError
from ...record.backends.in_process.debug_names import DebugNames

if TYPE_CHECKING:
    from typing import Any

__all__ = ["PlannedObject", "plan_of", "planned_facts", "planned_lines"]


class PlannedObject(NamedTuple):
    """An object and its functions."""

    path: str
    refusal: str | None
    """Why it is left alone."""

    functions: tuple[tuple[int, int, str, str | None, str | None, bool], ...]
    """Address, size, name, method and reason of each, and whether it is missed."""


def plan_of(path: str) -> PlannedObject:
    """Plan an object.

    Args:
        path: Its file.

    Returns:
        What becomes of its functions; nothing is written.
    """
    try:
        plan = FunctionPlan.make(ObjectFile.open(path), [], only_sites=False)
    except DebugInfoError as error:
        return PlannedObject(path, f"cannot be read: {error}", ())
    functions = tuple(plan.functions())
    if plan.refusal is None and any(not row[2] for row in functions):
        # As patterns of --patch know them.
        named = DebugNames.find(path, only_sites=False)
        if named is not None and named.plan.build_id == plan.build_id:
            functions = tuple(named.plan.functions())
    return PlannedObject(path, plan.refusal, functions)


def planned_lines(planned: PlannedObject) -> Iterator[str]:
    """Write the functions of an object for people.

    Args:
        planned: The object.

    Yields:
        Lines.
    """
    if planned.refusal is not None:
        yield f"{planned.path}: none of its functions: it {planned.refusal}"
        return
    count = sum(row[3] is not None for row in planned.functions)
    missed = sum(row[5] for row in planned.functions)
    yield (
        f"{planned.path}: {count:,} of {count + missed:,} functions can be recorded "
        "with --patch"
    )
    for address, size, name, method, reason, _ in planned.functions:
        yield f"  {address:#x} {size} {_name(name)}: {method or f'no: {reason}'}"


def _name(name: str) -> str:
    if name.startswith(("_Z", "_R")):
        return demangle(name) or name
    return name or "(no name)"


def planned_facts(planned: PlannedObject) -> dict[str, Any]:
    """Return the same for programs.

    Args:
        planned: The object.

    Returns:
        What becomes JSON.
    """
    members = ("address", "size", "name", "method", "reason", "is_missed")
    return {
        "path": planned.path,
        "refusal": planned.refusal,
        "functions": [
            dict(zip(members, row, strict=True)) for row in planned.functions
        ],
    }
