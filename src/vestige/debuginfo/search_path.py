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
    "host_path",
    "without_prefix",
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


def host_path(path: str, prefix: Path | None) -> str:
    """Say where a file of the traced machine is on this one.

    Args:
        path: Its absolute path on the traced machine.
        prefix: The directory that holds the traced machine's file system.

    Returns:
        Its path here, as text for people too.
    """
    if prefix is None:
        return path
    return f"{str(prefix).rstrip('/')}/{path.lstrip('/')}"


def without_prefix(directory: Path, prefix: Path | None) -> str:
    """Say where a directory of this machine is on the traced one.

    Args:
        directory: A directory on this machine.
        prefix: The directory that holds the traced machine's file system.

    Returns:
        Its path there; a directory outside of the prefix is unchanged.
    """
    if prefix is None or not directory.is_relative_to(prefix):
        return str(directory)
    return str(PurePosixPath("/") / directory.relative_to(prefix))


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
    directories: Sequence[Path], object_directory: str, name: str, prefix: Path | None
) -> Iterator[Path]:
    """List the places of a debug file that a debug link names.

    Args:
        directories: The global debug directories, in order.
        object_directory: The directory of the object on the traced machine.
        name: The file name in the debug link.
        prefix: The directory that holds the traced machine's file system.

    Yields:
        The object's directory, its ``.debug``, and the same directory below each global
        one; with a prefix, at last below each global one with the prefix kept.
    """
    here = host_path(object_directory, prefix)
    yield Path(here) / name
    yield Path(here) / ".debug" / name
    for mirrored in dict.fromkeys((object_directory, here)):
        for directory in directories:
            yield directory / PurePosixPath(mirrored.lstrip("/")) / name
