"""Probes as the tracer reads them, and plans with their functions."""

from __future__ import annotations

import struct

from ...._typing import TYPE_CHECKING, NamedTuple
from ..._agreement import (
    PLAN_FIXUP_SIZE,
    PLAN_FUNCTION_OFFSETS,
    PLAN_FUNCTION_SIZE,
    PLAN_HEADER_SIZE,
    PLAN_PROBED,
    PROBE_HAS_CALLS,
    PROBE_HAS_ENTRY,
    PROBE_HAS_RESULT,
    PROBE_HEAD_FORMAT,
    PROBES_HEADER_FORMAT,
    PROBES_MAGIC,
)
from .object_plan import plan_from, wanted_addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from .probed_functions import FoundProbe

__all__ = ["ProbePlans", "ProbedPlan", "probe_plans"]

_HEAD = struct.Struct("=" + PROBE_HEAD_FORMAT)
_HEADER = struct.Struct("=" + PROBES_HEADER_FORMAT)


class ProbedPlan(NamedTuple):
    """The plan of an object with functions of probes."""

    build_id: str
    plan: bytes
    recorded: int
    """How many functions are recorded besides."""

    left: int
    """How many of those that were wanted cannot be."""


class ProbePlans(NamedTuple):
    """All probes of a recording."""

    file: bytes
    """As the tracer reads them."""

    plans: dict[str, ProbedPlan]
    """By the path of the object."""


def probe_plans(
    found: Sequence[FoundProbe],
    patterns: Sequence[str],
    patched: AbstractSet[str],
    sites: Callable[[str], AbstractSet[int]],
) -> ProbePlans:
    """Plan the functions of probes, with those that are recorded anyway.

    Args:
        found: The probes.
        patterns: Which of the other functions are recorded; empty: all.
        patched: Those of which functions without hooks are recorded.
        sites: Returns where the compiler left room, in an object whose calls are
            recorded.

    Returns:
        The probes and the plans.
    """
    plans: dict[str, ProbedPlan] = {}
    blocks = []
    for path in dict.fromkeys(one.object.path for one in found):
        own = [one for one in found if one.object.path == path]
        made = own[0].object.plan
        if made is None:
            continue
        whole = plan_from(made)
        left = 0
        if path in patched:
            recorded, left = wanted_addresses(whole, patterns)
        else:
            recorded = set(sites(path))
        probed = {one.address for one in own}
        plan = made.choose(whole.plan, recorded | probed)
        plans[path] = ProbedPlan(
            whole.build_id, _marked(plan, probed), len(recorded), left
        )
        blocks += [_block(one, made.build_id, recorded) for one in own]
    body = b"".join(blocks)
    size = _HEADER.size + len(body)
    head = _HEADER.pack(PROBES_MAGIC.encode(), size, len(blocks), 0)
    return ProbePlans(head + body, plans)


def _block(one: FoundProbe, build_id: bytes, recorded: AbstractSet[int]) -> bytes:
    """Return a probe as the tracer reads it."""
    flags = PROBE_HAS_ENTRY
    values = [*one.values]
    if one.result is not None:
        flags |= PROBE_HAS_RESULT
        values.append(one.result)
    if one.address in recorded:
        flags |= PROBE_HAS_CALLS
    head = _HEAD.pack(
        one.address,
        len(build_id),
        len(values),
        flags,
        0,
        build_id,
        one.probe.event.encode(),
    )
    return head + b"".join(value.to_bytes() for value in values)


def _marked(plan: bytes, probed: AbstractSet[int]) -> bytes:
    """Mark functions of a plan, which is one of ours, as those of probes."""
    marked = bytearray(plan)
    at = PLAN_HEADER_SIZE
    offsets = PLAN_FUNCTION_OFFSETS
    while at < len(marked):
        if int.from_bytes(marked[at : at + 8], "little") in probed:
            marked[at + offsets["flags"]] |= PLAN_PROBED
        code = -(-marked[at + offsets["code_size"]] // 8) * 8
        fixups = marked[at + offsets["fixups"]]
        at += PLAN_FUNCTION_SIZE + code + fixups * PLAN_FIXUP_SIZE
    return bytes(marked)
