"""Plans for the entries of functions, which the tracer applies.

Those of sites that the compiler left (``-fpatchable-function-entry``) are made for each
program that has any; those of all functions when they are asked for.
"""

from __future__ import annotations

import os

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING, NamedTuple
from ....inspect.build_id import read_build_id
from ....inspect.dynamic_linker import dynamic_linker, needed_libraries
from ....inspect.sites import executable_of
from ..._agreement import (
    PLANS_DIRECTORY,
    UNPATCHED_BYTES,
    UNPATCHED_MEMORY,
    UNPATCHED_PLAN,
    UNPATCHED_POLICY,
    UNPATCHED_SHADOW,
    UNPATCHED_THREADS,
)
from .object_plan import ObjectPlan, chosen, plan_from
from .plan_cache import PlanCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...rules.options import RecordingOptions

__all__ = ["Plans", "planned_objects", "remove_plans", "unpatched_lines", "write_plans"]

SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
"""Directories whose libraries are left alone unless they are named."""
REASONS = {
    UNPATCHED_PLAN: "its plan could not be read",
    UNPATCHED_BYTES: "it is not what was planned, as when it has just been changed",
    UNPATCHED_MEMORY: "there is no memory near it",
    UNPATCHED_POLICY: "a policy forbids to write to its code",
    UNPATCHED_THREADS: "other threads ran before the tracer began",
    UNPATCHED_SHADOW: "the processor keeps return addresses (CET), which cannot be "
    "replaced",
}


class Plans(NamedTuple):
    """What was planned of a program and its libraries."""

    functions: int
    """How many functions are recorded."""

    left: int
    """How many cannot be."""

    problems: tuple[str, ...]
    """Why objects are left alone, for people."""


def write_plans(
    directory: str, options: RecordingOptions, program: str
) -> Plans | None:
    """Plan a program and its libraries, and write the plans into a trace.

    Args:
        directory: The trace.
        options: What is recorded.
        program: The name or path of the program: where nothing was asked for, one that
            has sites.

    Returns:
        What was planned; ``None`` where there is nothing to plan.

    Raises:
        OSError: The plans cannot be written.
    """
    selected = options.selection()
    if selected.entries == selected.exits == "off":
        return None
    path = executable_of(program)
    if path is None:
        return None
    objects: Iterable[str] = [path]
    if options.patch is not None:
        objects = planned_objects(path, options.patch_in)
    cache = PlanCache.from_environment()
    functions = left = 0
    problems = []
    for name in objects:
        found = plan_of(name, cache, only_sites=options.patch is None)
        if isinstance(found, str):
            problems.append(found)
            continue
        plan = chosen(found, options.patch or ())
        functions += plan.functions
        left += plan.left
        if plan.functions:
            _write(directory, found.build_id, plan.plan)
    return Plans(functions, left, tuple(problems))


def planned_objects(program: str, named: Sequence[str] = ()) -> Iterator[str]:
    """Yield a program and those of its libraries whose functions are planned with it.

    Args:
        program: Its path.
        named: File names of libraries in the system's directories that are wanted, too.

    Yields:
        The paths.
    """
    yield program
    with open(program, "rb") as file:
        linker = dynamic_linker(file.read(4096))
    for path in needed_libraries(program, linker):
        folder, name = os.path.split(os.path.realpath(path))
        is_system = any(
            folder == system or folder.startswith(f"{system}/") for system in SYSTEM
        )
        if not is_system or {name, os.path.basename(path)} & set(named):
            yield path


def plan_of(path: str, cache: PlanCache, *, only_sites: bool) -> ObjectPlan | str:
    """Plan an object.

    Args:
        path: Its file.
        cache: Where plans are kept.
        only_sites: Whether to leave out functions at whose entries the compiler left no
            room.

    Returns:
        The plan of all its functions; otherwise why the object is left alone.
    """
    name, facts = _identity(path, only_sites=only_sites)
    found = cache.find(name, facts) if name else None
    if found is None:
        # Few recordings have any plans, and the core takes long to load.
        from ....core import FunctionPlan, ObjectFile  # noqa: PLC0415 - see above
        from ....errors import DebugInfoError  # noqa: PLC0415

        try:
            file = ObjectFile.open(path)
            found = plan_from(FunctionPlan.make(file, [], only_sites=only_sites))
        except DebugInfoError as error:
            return _left_alone(path, str(error))
        if name:
            cache.keep(name, facts, found)
    return _left_alone(path, f"it {found.refusal}") if found.refusal else found


def _left_alone(path: str, reason: str) -> str:
    # Few objects are.
    from ....plain_text import plain  # noqa: PLC0415 - see above

    return f"no calls of {plain(os.path.basename(path))}: {plain(reason)}"


def _identity(path: str, *, only_sites: bool) -> tuple[str, str]:
    """Return under which name a plan is kept, and what it is made of.

    The name is empty for an object that cannot be told from others.
    """
    try:
        with open(path, "rb") as file:
            known = read_build_id(file).hex()
            status = os.fstat(file.fileno())
    except OSError:
        return "", ""
    if not known:
        return "", ""
    # Names are in symbols, which can be taken away without a new build ID.
    facts = f"{_core_identity()} {status.st_size} {status.st_mtime_ns}"
    return f"{known}-{'sites' if only_sites else 'all'}", facts


def _core_identity() -> str:
    """Return what is another text if the planner is another one."""
    package = __file__
    for _ in range(4):
        package = os.path.dirname(package)
    with os.scandir(package) as files:
        for one in files:
            if one.name.startswith("_core.") and one.name.endswith(".so"):
                status = one.stat()
                return f"{status.st_size} {status.st_mtime_ns}"
    return ""


def _write(directory: str, build_id: str, plan: bytes) -> None:
    folder = os.path.join(directory, PLANS_DIRECTORY)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o755)
    path = os.path.join(folder, build_id)
    # The program may run as another user; nobody else may write what it believes.
    with open(path, "wb") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(plan)


def remove_plans(directory: str) -> None:
    """Remove the plans, which nobody will read any more.

    Args:
        directory: The trace.
    """
    folder = os.path.join(directory, PLANS_DIRECTORY)
    with suppress(OSError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)


def unpatched_lines(unpatched: Iterable[tuple[str, str]]) -> list[str]:
    """Say of which objects no calls are recorded, against the plan.

    Args:
        unpatched: Words of the tracer that say why, and names of objects.

    Returns:
        Lines for people.
    """
    # As above.
    from ....plain_text import plain  # noqa: PLC0415 - see above

    return [
        f"no calls of {plain(os.path.basename(name))}: "
        f"{REASONS.get(reason) or f'an unknown reason ({plain(reason)})'}"
        for reason, name in unpatched
    ]
