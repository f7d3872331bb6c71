"""Which objects a program has, and what there is to record in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..errors import RecordError
from .dynamic_linker import dynamic_linker, needed_libraries
from .elf import open_elf
from .instrumentation import Instrumentation, instrumentation_of
from .lttng_providers import lttng_tracepoints
from .programs import find_program, interpreter_of_script
from .tracepoints import Tracepoint, described_tracepoints

__all__ = [
    "FoundObject",
    "Listing",
    "list_process",
    "list_program",
    "without_places",
]

PROC = Path("/proc")
START = 4096
_ESCAPED = re.compile(r"\\([0-7]{3})")
_DELETED = " (deleted)"
_LTTNG = re.compile(r"liblttng-ust(-tracepoint)?\.so\.1(\..*)?")
"""LTTng's own libraries, which others take the place of."""


class FoundObject(NamedTuple):
    """What was found in one object."""

    path: str
    tracepoints: tuple[Tracepoint, ...]
    instrumented: tuple[Instrumentation, ...]


class Listing(NamedTuple):
    """What was found in a program and its libraries."""

    objects: tuple[FoundObject, ...]
    """All that were looked at, the program first."""
    notes: tuple[str, ...]
    """What could not be looked at, and other things that people should know."""


def list_program(name: str) -> Listing:
    """List what there is to record in a program and the libraries that it needs.

    Nothing of it runs: the dynamic linker names the libraries.

    Args:
        name: Its name or path, as a shell takes it; or the path of a library.

    Returns:
        What was found.

    Raises:
        RecordError: There is no such program, it cannot be read, or is no ELF file.
    """
    found = find_program(name, os.environ.get("PATH"))
    if found is None:
        raise RecordError(f"{name}: no such program in PATH")
    path = Path(found)
    notes = []
    interpreter = interpreter_of_script(_start(path))
    if interpreter is not None:
        notes.append(f"{path} is a script: this is its interpreter, {interpreter}")
        path = Path(interpreter)
    with open_elf(path):
        pass
    start = _start(path)
    linker = dynamic_linker(start) or dynamic_linker(_start(PROC / "self" / "exe"))
    libraries = list(needed_libraries(str(path), linker))
    return _look([str(path), *libraries], Path("/"), notes)


def list_process(process: int) -> Listing:
    """List what there is to record in the objects that a process has mapped.

    Args:
        process: Its ID.

    Returns:
        What was found.

    Raises:
        RecordError: There is no such process, or it may not be looked at.
    """
    directory = PROC / str(process)
    try:
        lines = (directory / "maps").read_text(errors="surrogateescape").splitlines()
    except FileNotFoundError as error:
        raise RecordError(f"no process has the ID {process}") from error
    except OSError as error:
        raise RecordError(
            f"process {process} cannot be looked at: {error.strerror}"
        ) from error
    paths: dict[str, None] = {}
    notes = []
    for line in lines:
        words = line.split(maxsplit=5)
        if len(words) < 6 or "x" not in words[1] or words[5][0] != "/":  # noqa: PLR2004 - proc_pid_maps(5)
            continue
        name = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), words[5])
        if name.endswith(_DELETED):
            note = f"{name.removesuffix(_DELETED)}: its file is gone"
            if note not in notes:
                notes.append(note)
            continue
        paths[name] = None
    if not paths and not notes:
        raise RecordError(
            f"process {process} has no program: it ends, or is a kernel's"
        )
    return _look(paths, directory / "root", notes)


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(START)
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}", path=path) from error


def _look(paths: Iterable[str], root: Path, notes: list[str]) -> Listing:
    """Look into objects, as a process with another root directory has them."""
    objects = []
    for name in paths:
        if _LTTNG.fullmatch(Path(name).name):
            objects.append(FoundObject(name, (), ()))
            continue
        try:
            with open_elf(
                root / name.lstrip("/") if name[0] == "/" else Path(name)
            ) as image:
                try:
                    tracepoints = described_tracepoints(image) + lttng_tracepoints(
                        image
                    )
                    instrumented = instrumentation_of(image)
                except ValueError as error:
                    notes.append(f"{name}: is a damaged ELF file: {error}")
                    continue
        except RecordError as error:
            notes.append(str(error))
            continue
        objects.append(FoundObject(name, tuple(tracepoints), tuple(instrumented)))
    provided = {
        (point.provider, point.name): point.signature
        for found in objects
        for point in found.tracepoints
        if point.has_provider
    }
    return Listing(
        tuple(without_places(found, provided) for found in objects), tuple(notes)
    )


def without_places(
    found: FoundObject, provided: dict[tuple[str, str], str | None]
) -> FoundObject:
    """Leave out tracepoints whose providers are in other objects, which list them.

    Those stay whose providers take other arguments.

    Args:
        found: What is in an object.
        provided: The arguments that providers of any object take, by their names and
            those of events.

    Returns:
        What is left of it.
    """
    points = []
    for point in found.tracepoints:
        names = (point.provider, point.name)
        if point.has_provider or names not in provided:
            points.append(point)
        elif point.signature and point.signature != provided[names]:
            points.append(point._replace(is_recorded=False))
    return found._replace(tracepoints=tuple(points))
