"""Plans for the entries of functions, which the tracer applies.

Those of sites that the compiler left (``-fpatchable-function-entry``) are made for each
program that has any; those of all functions when they are asked for.
"""

from __future__ import annotations

import os

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING, NamedTuple
from ....inspect.dynamic_linker import dynamic_linker, needed_libraries
from ....inspect.programs import find_program, interpreter_of_script
from ....inspect.section_names import section_names
from ..._agreement import (
    PLANS_DIRECTORY,
    UNPATCHED_BYTES,
    UNPATCHED_MEMORY,
    UNPATCHED_PLAN,
    UNPATCHED_POLICY,
    UNPATCHED_SHADOW,
    UNPATCHED_THREADS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ....core import FunctionPlan
    from ...rules.options import RecordingOptions

__all__ = ["Plans", "planned_objects", "remove_plans", "unpatched_lines", "write_plans"]

SITES = frozenset({b"__patchable_function_entries", b"__mcount_loc"})
"""Sections with the places that a compiler has left at the entries of functions."""
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
        program: The name or path of the program.

    Returns:
        What was planned; ``None`` where there is nothing to plan.

    Raises:
        OSError: The plans cannot be written.
    """
    chosen = options.selection()
    if chosen.entries == chosen.exits == "off":
        return None
    path = _executable(program)
    if path is None:
        return None
    if options.patch is None and not SITES & section_names(path):
        return None
    objects: Iterable[str] = [path]
    if options.patch is not None:
        objects = planned_objects(path, options.patch_in)
    functions = left = 0
    problems = []
    for name in objects:
        found = _plan(name, options)
        if isinstance(found, str):
            problems.append(found)
            continue
        plan, addresses, others = found
        functions += len(addresses)
        left += others
        if addresses:
            is_all = options.patch == () or options.patch is None
            _write(directory, plan, None if is_all else addresses)
    return Plans(functions, left, tuple(problems))


def _executable(program: str) -> str | None:
    """Return the path of the ELF file that runs."""
    path = find_program(program, os.environ.get("PATH"))
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            start = file.read(256)
    except OSError:
        return None
    return interpreter_of_script(start) or path


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


def _plan(
    path: str, options: RecordingOptions
) -> tuple[FunctionPlan, list[int], int] | str:
    """Plan an object; say which functions are recorded, and how many cannot be.

    Otherwise a text says why the object is left alone.
    """
    # Few recordings have any plans, and the core takes long to load.
    from ....core import FunctionPlan, ObjectFile  # noqa: PLC0415 - see above
    from ....errors import DebugInfoError  # noqa: PLC0415
    from ....plain_text import plain  # noqa: PLC0415

    try:
        file = ObjectFile.open(path)
        plan = FunctionPlan.make(file, [], only_sites=options.patch is None)
    except DebugInfoError as error:
        return f"no calls of {plain(os.path.basename(path))}: {plain(str(error))}"
    if plan.refusal is not None:
        return f"no calls of {plain(os.path.basename(path))}: it {plan.refusal}"
    rows = plan.functions()
    wanted = [row for row in rows if _is_wanted(row[2], options.patch or ())]
    addresses = [row[0] for row in wanted if row[3] is not None]
    return plan, addresses, sum(row[5] for row in wanted)


def _is_wanted(name: str, patterns: Iterable[str]) -> bool:
    """Tell whether a function is one of those that patterns choose; all without any."""
    if not patterns:
        return True
    # As above.
    from fnmatch import fnmatchcase  # noqa: PLC0415 - see above

    from ....core import demangle  # noqa: PLC0415

    names = [name]
    if name.startswith(("_Z", "_R")):
        names.append((demangle(name) or name).partition("(")[0])
    return any(fnmatchcase(one, pattern) for one in names for pattern in patterns)


def _write(directory: str, plan: FunctionPlan, chosen: Sequence[int] | None) -> None:
    folder = os.path.join(directory, PLANS_DIRECTORY)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o755)
    path = os.path.join(folder, plan.build_id.hex())
    # The program may run as another user; nobody else may write what it believes.
    with open(path, "wb") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(plan.to_bytes(chosen))


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
