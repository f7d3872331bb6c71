"""Names of functions in another file than their code: patterns choose by them."""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING, NamedTuple, cast
from ....core import FunctionPlan
from ....debuginfo import (
    AttemptKind,
    DebugFileFinder,
    DebugInfoOptions,
    Mapping,
    Outcome,
)
from ....errors import DebugInfoError
from ....units import Address
from .object_plan import ObjectPlan, plan_from

if TYPE_CHECKING:
    from ....core import ObjectFile

__all__ = ["DebugNames", "plan_with_names"]

_HIGHEST = 1 << 47
_FILES = frozenset({AttemptKind.BUILD_ID, AttemptKind.DEBUG_LINK})


class DebugNames(NamedTuple):
    """A plan with the names of a debug file."""

    plan: FunctionPlan
    path: str
    """The debug file; the object's where that has the names itself, compressed."""

    @classmethod
    def find(cls, path: str, *, only_sites: bool) -> DebugNames | None:
        """Plan an object with its debug file.

        Args:
            path: The object's file.
            only_sites: Whether to leave out functions at whose entries the compiler
                left no room.

        Returns:
            The plan; ``None`` where no debug file is found, or none can be read.
        """
        finder = DebugFileFinder(DebugInfoOptions().directories())
        found = finder.find(Mapping(Address(0), _HIGHEST, os.path.abspath(path)))
        # The finder opens files by the core.
        main = cast("ObjectFile | None", found.object)
        debug = cast("ObjectFile | None", found.debug)
        if main is None or debug is None or debug is main:
            return None
        try:
            plan = FunctionPlan.make(main, [debug], only_sites=only_sites)
        except DebugInfoError:
            return None
        used = [
            one.path
            for one in found.attempts
            if one.outcome is Outcome.USED and one.kind in _FILES
        ]
        return cls(plan, used[-1] if used else path)


def plan_with_names(
    path: str, whole: ObjectPlan, *, only_sites: bool
) -> tuple[ObjectPlan, str]:
    """Plan an object with the names of its debug file.

    Args:
        path: The object's file.
        whole: Its plan without them.
        only_sites: As for that.

    Returns:
        The plan with them, and the path of the debug file; the one without and an empty
        path where no debug file is found, or none can be read.
    """
    found = DebugNames.find(path, only_sites=only_sites)
    if found is None:
        return whole, ""
    named = plan_from(found.plan)
    return (named, found.path) if named.build_id == whole.build_id else (whole, "")
