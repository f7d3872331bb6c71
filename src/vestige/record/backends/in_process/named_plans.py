"""Plans of stripped objects with the names of debug files, which are kept as well."""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING
from ....debuginfo import DEBUG_PATH_VARIABLE

if TYPE_CHECKING:
    from .object_plan import ObjectPlan
    from .plan_cache import PlanCache

__all__ = ["named_plan"]

BETWEEN = "\0"
"""Neither a path nor a variable has any."""


def named_plan(  # noqa: PLR0913 - all that tells one plan from another
    path: str,
    whole: ObjectPlan,
    cache: PlanCache,
    name: str,
    facts: str,
    *,
    only_sites: bool,
) -> ObjectPlan:
    """Plan an object with the names of its debug file.

    Args:
        path: The object's file.
        whole: Its plan without them.
        cache: Where plans are kept.
        name: Under which name the one without them is kept; empty: neither is.
        facts: What that was made of.
        only_sites: Whether to leave out functions at whose entries the compiler left no
            room.

    Returns:
        The plan with them; the one without where no debug file is found.
    """
    entry = f"{name}-names"
    known = [facts, os.environ.get(DEBUG_PATH_VARIABLE, "")]

    def is_current(made_of: str) -> bool:
        *others, file, state = made_of.split(BETWEEN)
        return others == known and _state(file) == state

    found = cache.find(entry, is_current) if name else None
    if found is not None:
        return found
    # Few recordings have such plans, and the core takes long to load.
    from .debug_names import plan_with_names  # noqa: PLC0415 - see above

    named, file = plan_with_names(path, whole, only_sites=only_sites)
    state = _state(file)
    made_of = BETWEEN.join([*known, os.path.abspath(file), state])
    if name and file and state and "\n" not in made_of:
        cache.keep(entry, made_of, named)
    return named


def _state(file: str) -> str:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"
