"""Where the files of an object may be, as paths; nothing here looks at the disk.

The places and their order are those of the GDB manual's chapter on debugging
information in separate files. Paths and names come from traces and from files, so each
is checked before it is joined to anything: a path must be absolute and free of ``..``,
a debug link must be a bare file name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from vestige.debuginfo.attempt import Outcome, Refusal

__all__ = [
    "build_id_places",
    "check_link_name",
    "check_target_path",
    "debug_link_places",
]


def check_target_path(path: str) -> Refusal | None:
    """Check a path that a trace has recorded.

    Args:
        path: The path of an object on the traced machine.

    Returns:
        Why it is not used, or ``None`` when it is fit for use.
    """
    if "\0" in path:
        return Refusal(Outcome.REFUSED_PATH, "it holds a zero byte")
    if not path.startswith("/"):
        return Refusal(Outcome.REFUSED_PATH, "it is not absolute")
    if ".." in path.split("/"):
        return Refusal(Outcome.REFUSED_PATH, "it holds '..'")
    return None


def check_link_name(name: str) -> Refusal | None:
    """Check the file name of a debug link.

    Args:
        name: The name that a trace or an object file states.

    Returns:
        Why it is not used, or ``None`` when it is fit for use.
    """
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        return Refusal(Outcome.REFUSED_PATH, "a debug link must be a bare file name")
    return None


def build_id_places(directories: Sequence[Path], build_id: bytes) -> Iterator[Path]:
    """List the places of a debug file that is named by its build ID.

    Args:
        directories: The global debug directories, in order.
        build_id: The build ID; one of a single byte names no file.

    Yields:
        One path in each directory.
    """
    digits = build_id.hex()
    if len(build_id) < 2:  # noqa: PLR2004 - a directory and a file name
        return
    for directory in directories:
        yield directory / ".build-id" / digits[:2] / f"{digits[2:]}.debug"


def debug_link_places(
    directories: Sequence[Path],
    object_directory: str,
    name: str,
    host_directories: Sequence[str] = (),
) -> Iterator[Path]:
    """List the places of a debug file that a debug link names.

    Args:
        directories: The global debug directories, in order.
        object_directory: The directory of the object on the traced machine.
        name: The file name in the debug link.
        host_directories: Where that directory is on this machine, unless at the same
            path.

    Yields:
        The object's directory, its ``.debug``, and the same directory below each global
        one; at last below each global one the directory's path on this machine.
    """
    here = list(host_directories) or [object_directory]
    for directory in here:
        yield Path(directory) / name
        yield Path(directory) / ".debug" / name
    for mirrored in dict.fromkeys((object_directory, *here)):
        for debug_directory in directories:
            yield debug_directory / PurePosixPath(mirrored.lstrip("/")) / name
