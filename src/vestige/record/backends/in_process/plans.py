"""Plans for the entries of functions, which the tracer applies.

Those of sites that the compiler left (``-fpatchable-function-entry``) are made for each
program that has any; those of all functions when they are asked for. Then programs ask
for those of objects that were not foreseen, too.
"""

from __future__ import annotations

import os

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING
from ....inspect.build_id import read_build_id
from ....inspect.dynamic_linker import dynamic_linker, needed_libraries
from ....inspect.sites import executable_of
from ..._agreement import (
    PLANS_DIRECTORY,
    PROBES_FILE,
    UNPATCHED_BYTES,
    UNPATCHED_COPIES,
    UNPATCHED_LATE,
    UNPATCHED_MEMORY,
    UNPATCHED_PLAN,
    UNPATCHED_POLICY,
    UNPATCHED_SHADOW,
    UNPATCHED_THREADS,
)
from .object_plan import ObjectPlan, chosen, lacks_names, plan_from, wanted_addresses
from .own_files import open_directory, put_file, remove_directory
from .plan_cache import PlanCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from ...rules.options import RecordingOptions
    from .collector import PlanRequest
    from .plan_requests import AskedObject
    from .waiting_probes import WaitingProbes

__all__ = ["Plans", "planned_objects", "remove_plans", "unpatched_lines", "write_plans"]

SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
"""Directories whose libraries are left alone unless they are named."""
OURS = "libvestige-"
"""How the names of the tracer's libraries begin."""
REASONS = {
    UNPATCHED_PLAN: "its plan could not be read",
    UNPATCHED_BYTES: "it is not what was planned, as when it has just been changed",
    UNPATCHED_MEMORY: "there is no memory near it",
    UNPATCHED_POLICY: "a policy forbids to write to its code",
    UNPATCHED_THREADS: "other threads ran before the tracer began",
    UNPATCHED_LATE: "its plan was not ready in time (--patch-wait)",
}
ENTRIES_ONLY = {
    UNPATCHED_SHADOW: "the processor keeps return addresses (CET), which cannot be "
    "replaced",
    UNPATCHED_COPIES: "it has greenlets, which copy return addresses",
}
MOST_PROBLEMS = 100
"""Objects that are told of; of more, nothing is said."""


class Plans:
    """What was planned, of a program and of what it starts and loads.

    Args:
        directory: The trace.
        options: What is recorded.
    """

    def __init__(self, directory: str, options: RecordingOptions) -> None:
        self._directory = directory
        self._patterns = options.patch or ()
        self._named = options.patch_in
        self._only_sites = options.patch is None
        self._cache = PlanCache.from_environment()
        self._problems: dict[str, None] = {}
        self._waiting: WaitingProbes | None = None
        self.functions = 0
        """How many functions are recorded."""
        self.left = 0
        """How many cannot be."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Why objects are left alone and probes not recorded, for people."""
        waiting = self._waiting.problems if self._waiting is not None else ()
        return (*self._problems, *waiting)

    @property
    def is_asked(self) -> bool:
        """Whether programs ask for plans of what was not foreseen."""
        return not self._only_sites or bool(self._waiting)

    def write_program(self, path: str, planned: AbstractSet[str] = frozenset()) -> None:
        """Plan a program and its libraries, and write the plans into the trace.

        Args:
            path: The program.
            planned: Objects that have been planned.

        Raises:
            OSError: The plans cannot be written.
        """
        for name in self._objects_of(path):
            if name in planned:
                continue
            found = self._plan(name, os.path.basename(name), self._cache)
            if found is not None:
                plan, build_id = found
                _write(self._directory, build_id, plan)

    def _objects_of(self, program: str) -> Iterable[str]:
        if self._only_sites:
            return [program]
        return planned_objects(program, self._named)

    def write_probes(self, program: str, options: RecordingOptions) -> set[str]:
        """Write the probes, and plans of the objects that have them.

        Args:
            program: The program.
            options: What is recorded.

        Returns:
            These objects.

        Raises:
            RecordError: A probe cannot be recorded.
            OSError: The plans cannot be written.
        """
        # Few recordings have any.
        from .probed_functions import find_probes  # noqa: PLC0415 - see above
        from .probes import probe_plans  # noqa: PLC0415
        from .waiting_probes import WaitingProbes  # noqa: PLC0415

        objects = [program, *all_libraries(program)]
        probes = options.compiled_probes()
        if options.patch_wait:
            self._waiting = WaitingProbes(probes, objects)
            probes = tuple(one for one in probes if one not in self._waiting)
        selected = options.selection()
        is_off = selected.entries == selected.exits == "off"
        recorded = set() if is_off else {*self._objects_of(program)}

        def sites(path: str) -> set[int]:
            if path not in recorded:
                return set()
            found = plan_of(path, self._cache, only_sites=True)
            return set() if isinstance(found, str) else wanted_addresses(found, ())[0]

        made = probe_plans(
            find_probes(probes, objects),
            self._patterns,
            set() if self._only_sites else recorded,
            sites,
        )
        for one in made.plans.values():
            _write(self._directory, one.build_id, one.plan)
            self._count(one.recorded, one.left)
        _write(self._directory, PROBES_FILE, made.file)
        return set(made.plans)

    def answer(self, request: PlanRequest) -> None:
        """Answer a program that waits for a plan.

        Args:
            request: What it asks.
        """
        # Few recordings have any.
        from .plan_requests import AskedObject  # noqa: PLC0415 - see above

        if request.is_refusal:
            reason, _, name = request.path.partition(" ")
            self._add(*unpatched_lines([(reason, name)]))
            return
        asked = AskedObject(request)
        is_own = request.user == os.geteuid()
        if not request.build_id:
            request.decline()
        elif not self._is_wanted(request, asked.path):
            if is_own:
                # Nobody need ask again; others could say this of anything.
                with suppress(OSError):
                    _write(self._directory, request.build_id, b"")
            request.decline()
        elif not self._give_known(request):
            self._give_new(request, asked)

    def _is_wanted(self, request: PlanRequest, path: str) -> bool:
        build_id = request.build_id
        if self._waiting is not None and self._waiting.meant(path, build_id):
            return True
        if self._only_sites:
            return False
        return request.is_of_program or is_wanted(path, self._named)

    def _give_known(self, request: PlanRequest) -> bool:
        """Give a plan that there is; tell whether there is one."""
        path = _path(self._directory, request.build_id)
        try:
            size = os.stat(path).st_size
        except OSError:
            return False
        if size:
            request.give(path)
        else:
            request.decline()
        return True

    def _give_new(self, request: PlanRequest, asked: AskedObject) -> None:
        try:
            with asked.opened() as file:
                cache = self._cache if file.is_shared else PlanCache(None)
                name = os.path.basename(asked.path)
                found = self._plan_probes(file.path, asked.path, request.build_id)
                if found is None and not self._only_sites:
                    found = self._plan(file.path, name, cache)
            plan, build_id = found or (b"", request.build_id)
            if build_id != request.build_id:
                self._add(*unpatched_lines([(UNPATCHED_BYTES, asked.path)]))
                request.decline()
                return
            name = build_id if file.is_shared else f"private-{build_id}"
            path = _write(self._directory, name, plan)
            if not plan:
                request.decline()
            elif not request.give(path):
                self._add(*unpatched_lines([(UNPATCHED_LATE, asked.path)]))
            if not file.is_shared:
                os.unlink(path)
        except OSError as error:
            self._add(_left_alone(asked.path, error.strerror or str(error)))
            request.decline()

    def _plan_probes(
        self, path: str, asked: str, build_id: str
    ) -> tuple[bytes, str] | None:
        """Return the plan of an object with its probes; ``None`` if it has none."""
        if self._waiting is None:
            return None
        is_recorded = not self._only_sites and is_wanted(asked, self._named)
        made = self._waiting.planned(
            path, asked, build_id, self._patterns if is_recorded else None
        )
        if made is None:
            return None
        self._count(made.recorded, made.left)
        return made.plan, made.build_id

    def _count(self, functions: int, left: int) -> None:
        self.functions += functions
        self.left += left

    def _plan(self, path: str, name: str, cache: PlanCache) -> tuple[bytes, str] | None:
        """Return the plan of an object, and its build ID; ``None`` without."""
        found = plan_of(path, cache, only_sites=self._only_sites)
        if isinstance(found, str):
            self._add(_left_alone(name, found))
            return None
        if self._patterns and lacks_names(found):
            # Only stripped objects of which functions are chosen have these names.
            from .named_plans import named_plan  # noqa: PLC0415 - see above

            kept, facts = _identity(path, only_sites=self._only_sites)
            found = named_plan(
                path, found, cache, kept, facts, only_sites=self._only_sites
            )
        plan = chosen(found, self._patterns)
        self._count(plan.functions, plan.left)
        return (plan.plan if plan.functions else b""), found.build_id

    def _add(self, *problems: str) -> None:
        for one in problems:
            if len(self._problems) < MOST_PROBLEMS:
                self._problems[one] = None


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
        RecordError: A probe cannot be recorded.
        OSError: The plans cannot be written.
    """
    selected = options.selection()
    is_off = selected.entries == selected.exits == "off"
    if is_off and not options.probes:
        return None
    path = executable_of(program)
    if path is None and options.patch is None:
        return None
    plans = Plans(directory, options)
    if path is not None:
        probed = plans.write_probes(path, options) if options.probes else set()
        if not is_off:
            plans.write_program(path, probed)
    return plans


def planned_objects(program: str, named: Sequence[str] = ()) -> Iterator[str]:
    """Yield a program and those of its libraries whose functions are planned with it.

    Args:
        program: Its path.
        named: File names of libraries in the system's directories that are wanted, too.

    Yields:
        The paths.
    """
    yield program
    for path in all_libraries(program):
        if is_wanted(path, named):
            yield path


def all_libraries(program: str) -> Iterator[str]:
    """Yield the libraries of a program, also those of the system.

    Args:
        program: Its path.

    Yields:
        The paths.
    """
    with open(program, "rb") as file:
        linker = dynamic_linker(file.read(4096))
    yield from needed_libraries(program, linker)


def is_wanted(library: str, named: Sequence[str]) -> bool:
    """Tell whether the functions of a library are planned.

    Args:
        library: Its path.
        named: File names of those in the system's directories that are.
    """
    folder, name = os.path.split(os.path.realpath(library))
    if name.startswith(OURS):
        return False
    is_system = any(
        folder == system or folder.startswith(f"{system}/") for system in SYSTEM
    )
    return not is_system or bool({name, os.path.basename(library)} & set(named))


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
            return str(error)
        if name:
            cache.keep(name, facts, found)
    return f"it {found.refusal}" if found.refusal else found


def _left_alone(name: str, reason: str) -> str:
    # Few objects are.
    from ....plain_text import plain  # noqa: PLC0415 - see above

    return f"no calls of {plain(os.path.basename(name))}: {plain(reason)}"


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


def _path(directory: str, name: str) -> str:
    return os.path.join(directory, PLANS_DIRECTORY, name)


def _write(directory: str, name: str, plan: bytes) -> str:
    """Write a file that is there as a whole; return its path."""
    trace = open_directory(directory)
    try:
        with suppress(FileExistsError):
            os.mkdir(PLANS_DIRECTORY, 0o755, dir_fd=trace)
        folder = open_directory(PLANS_DIRECTORY, trace)
    finally:
        os.close(trace)
    try:
        # The program may run as another user; nobody else may write what it believes.
        put_file(folder, f"{name}.new", plan, 0o644)
        os.rename(f"{name}.new", name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)
    return _path(directory, name)


def remove_plans(directory: str) -> None:
    """Remove the plans, which nobody will read any more.

    Args:
        directory: The trace.
    """
    with suppress(OSError):
        remove_directory(directory, PLANS_DIRECTORY)


def unpatched_lines(unpatched: Iterable[tuple[str, str]]) -> list[str]:
    """Say of which objects no calls are recorded, against the plan.

    Args:
        unpatched: Words of the tracer that say why, and names of objects.

    Returns:
        Lines for people.
    """
    # As above.
    from ....plain_text import plain  # noqa: PLC0415 - see above

    lines = []
    for reason, name in unpatched:
        file = plain(os.path.basename(name))
        if reason in ENTRIES_ONLY:
            lines.append(f"no ends of calls of {file}: {ENTRIES_ONLY[reason]}")
        else:
            why = REASONS.get(reason) or f"an unknown reason ({plain(reason)})"
            lines.append(f"no calls of {file}: {why}")
    return lines
