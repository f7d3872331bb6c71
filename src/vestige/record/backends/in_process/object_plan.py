"""The plan of one object: what it holds, and choosing some of its functions."""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....core import FunctionPlan

__all__ = [
    "ChosenPlan",
    "ObjectPlan",
    "chosen",
    "lacks_names",
    "plan_from",
    "wanted_addresses",
]

PLANNED = b"+"


class ObjectPlan(NamedTuple):
    """How all functions of an object can be recorded."""

    build_id: str
    """In hexadecimal digits; empty for an object that is left alone."""

    refusal: str
    """Why it is left alone; empty where it is not."""

    functions: int
    """How many functions are planned."""

    left: int
    """How many cannot be, of those that people would miss."""

    plan: bytes
    """All planned functions, as the tracer reads them."""

    rows: bytes
    """For each function that is planned or missed, with zeros between: ``+`` or ``-``,
    its address in hexadecimal digits, a space, its name."""


class ChosenPlan(NamedTuple):
    """Functions of an object that are recorded."""

    functions: int
    left: int
    """How many of those that were wanted cannot be."""

    plan: bytes
    """As the tracer reads it."""


def plan_from(made: FunctionPlan) -> ObjectPlan:
    """Take what the planner found.

    Args:
        made: Its plan.

    Returns:
        The same, as it is kept.
    """
    if made.refusal is not None:
        return ObjectPlan("", made.refusal, 0, 0, b"", b"")
    functions, left = made.counts()
    build_id = made.build_id.hex()
    return ObjectPlan(build_id, "", functions, left, made.to_bytes(), made.rows())


def lacks_names(whole: ObjectPlan) -> bool:
    """Tell whether there are functions that only unwind tables have."""
    return any(row.endswith(b" ") for row in whole.rows.split(b"\0"))


def chosen(whole: ObjectPlan, patterns: Sequence[str]) -> ChosenPlan:
    """Choose functions by their names.

    Args:
        whole: All functions.
        patterns: Names with ``*``, ``?`` and ``[...]``; empty: all.

    Returns:
        What is left of the plan.
    """
    if not patterns:
        return ChosenPlan(whole.functions, whole.left, whole.plan)
    wanted, left = wanted_addresses(whole, patterns)
    # It takes long to load.
    from ....core import FunctionPlan as Plans  # noqa: PLC0415 - see above

    return ChosenPlan(len(wanted), left, Plans.choose(whole.plan, wanted))


def wanted_addresses(
    whole: ObjectPlan, patterns: Sequence[str]
) -> tuple[set[int], int]:
    """Find functions by their names.

    Args:
        whole: All functions.
        patterns: Names with ``*``, ``?`` and ``[...]``; empty: all.

    Returns:
        Where those begin that are wanted and planned, and how many cannot be.
    """
    wanted: set[int] = set()
    left = 0
    for row in whole.rows.split(b"\0") if whole.rows else ():
        address, _, name = row[1:].partition(b" ")
        if patterns and not _is_wanted(name.decode(errors="surrogateescape"), patterns):
            continue
        if row[:1] == PLANNED:
            wanted.add(int(address, 16))
        else:
            left += 1
    return wanted, left


def _is_wanted(name: str, patterns: Sequence[str]) -> bool:
    # Few recordings choose any.
    from fnmatch import fnmatchcase  # noqa: PLC0415 - see above

    names = [name]
    if name.startswith(("_Z", "_R")):
        from ....core import demangle  # noqa: PLC0415 - takes long to load

        names.append((demangle(name) or name).partition("(")[0])
    return any(fnmatchcase(one, pattern) for one in names for pattern in patterns)
