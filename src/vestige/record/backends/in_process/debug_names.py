"""Names of functions in another file than their code: patterns choose by them."""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING, cast
from ....core import FunctionPlan
from ....debuginfo.finder import DebugFileFinder
from ....debuginfo.image import Mapping
from ....debuginfo.options import DebugInfoOptions
from ....errors import DebugInfoError
from ....units import Address
from .object_plan import ObjectPlan, plan_from

if TYPE_CHECKING:
    from ....core import ObjectFile

__all__ = ["plan_with_names"]

_HIGHEST = 1 << 47


def plan_with_names(path: str, whole: ObjectPlan, *, only_sites: bool) -> ObjectPlan:
    """Plan an object with the names of its debug file.

    Args:
        path: The object's file.
        whole: Its plan without them.
        only_sites: As for that.

    Returns:
        The plan with them; the one without where no debug file is found, or none can be
        read.
    """
    finder = DebugFileFinder(DebugInfoOptions().directories())
    found = finder.find(Mapping(Address(0), _HIGHEST, os.path.abspath(path)))
    # The finder opens files by the core.
    main = cast("ObjectFile | None", found.object)
    debug = cast("ObjectFile | None", found.debug)
    if main is None or debug is None or debug is main:
        return whole
    try:
        named = plan_from(FunctionPlan.make(main, [debug], only_sites=only_sites))
    except DebugInfoError:
        return whole
    return named if named.build_id == whole.build_id else whole
