"""Where the files of an object may be, as paths; no file is opened here.

The places and their order are those of the GDB manual's chapter on debugging
information in separate files. Paths and names come from traces and from files, so each
is checked before it is joined to anything: a path must be absolute and free of ``..``,
a debug link must be a bare file name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from ..attempt import Outcome, Refusal

__all__ = [
    "build_id_places",
    "check_build_id",
    "check_link_name",
    "check_target_path",
    "debug_link_places",
    "kernel_places",
    "package_places",
    "split_places",
    "supplement_places",
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


def check_build_id(found: bytes | None, expected: bytes) -> Refusal | None:
    """Check that a file carries a build ID.

    Args:
        found: The build ID of the file.
        expected: The one that it must have.

    Returns:
        Why it is not used, or ``None`` when they agree.
    """
    if found == expected:
        return None
    text = "none" if found is None else found.hex()
    return Refusal(Outcome.OTHER_BUILD_ID, f"{text} instead of {expected.hex()}")


def kernel_places(directories: Sequence[Path], release: str) -> Iterator[Path]:
    """List the places of the file of a kernel, by its release.

    Args:
        directories: The global debug directories.
        release: The release, as uname(1) tells it.

    Yields:
        The paths: of packages of debug files, of kernels with theirs, and of trees in
        which one was built.
    """
    if check_link_name(release) is not None:
        return
    names = (f"boot/vmlinux-{release}", f"lib/modules/{release}/vmlinux")
    for directory in directories:
        for name in (*names, f"vmlinux-{release}", "vmlinux"):
            yield directory / name
    for name in (*names, f"lib/modules/{release}/build/vmlinux"):
        yield Path("/") / name


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


def supplement_places(
    directories: Sequence[Path], debug_file: Path, name: str, build_id: bytes
) -> Iterator[Path]:
    """List the places of the supplementary file that ``dwz`` has made.

    Args:
        directories: The global debug directories, in order.
        debug_file: The file that refers to it.
        name: The name in that file; absolute, or relative to its directory.
        build_id: The build ID in that file.

    Yields:
        The name as it is, the same below each global directory, then the build ID in
        each.
    """
    real = Path(os.path.realpath(debug_file))
    yield from dict.fromkeys((real.parent / name, debug_file.parent / name))
    # Packages keep these files in .dwz of the directory where they are installed.
    _, mark, tail = name.rpartition(".dwz/")
    below = mark + tail if mark else name.lstrip("/")
    if ".." not in below.split("/"):
        for directory in directories:
            yield directory / below
    yield from build_id_places(directories, build_id)


def package_places(
    directories: Sequence[Path],
    files: Sequence[Path],
    target_path: str,
    build_id: bytes | None,
) -> Iterator[Path]:
    """List the places of a DWARF package.

    Args:
        directories: The global debug directories, in order.
        files: The object and its debug file, as far as they are here.
        target_path: The path of the object on the traced machine, as the trace has it.
        build_id: The build ID of the object.

    Yields:
        Each file's name with ``.dwp`` after it, also where symbolic links lead; the
        object's below each global directory; the build ID in each.
    """
    for file in files:
        for path in dict.fromkeys((file, Path(os.path.realpath(file)))):
            yield path.with_name(f"{path.name}.dwp")
            if path.suffix == ".debug":
                yield path.with_suffix(".dwp")
    for directory in directories:
        # The trace names it, and nobody has looked at it where the object is not here.
        if target_path.strip("/") and check_target_path(target_path) is None:
            yield directory / f"{target_path.lstrip('/')}.dwp"
    for path in build_id_places(directories, build_id or b""):
        yield path.with_suffix(".dwp")
        yield path.with_name(f"{path.name}.dwp")


def split_places(
    directories: Sequence[Path], files: Sequence[Path], compiled: Sequence[str]
) -> Iterator[Path]:
    """List the places of a file of split DWARF.

    Args:
        directories: The global debug directories, in order.
        files: The object and its debug file, as far as they are here.
        compiled: Where the compiler has written it, as paths on this machine; then its
            name as the object states it.

    Yields:
        Where the compiler has written it; the same name, then its last component, next
        to each file; its path and its name below each global directory.
    """
    *written, name = compiled
    for path in written:
        yield Path(path)
    names = (name, PurePosixPath(name).name)
    relative = [one for one in dict.fromkeys(names) if not one.startswith("/")]
    for parent in dict.fromkeys(file.parent for file in files):
        for one in relative:
            yield parent / one
    for directory in directories:
        for path in (*written, *relative):
            yield directory / path.lstrip("/")
