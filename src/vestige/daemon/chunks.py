"""Chunks of a trace: what they are called, and moving them to the archives.

The present chunk is always in the directory of the session; one that has ended is in
``archives/BEGIN-END-NUMBER`` there, with local times and their distance from UTC.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..record._agreement import ARENAS_FILE
from ..record.backends.in_process.chunks import ARCHIVES, archive_name
from ..record.backends.lttng_ust.trace_files import INDEX_FOLDER
from ..record.trace_directory import KERNEL

__all__ = [
    "ARCHIVES",
    "DATA",
    "ArchiveExistsError",
    "archive_chunk",
    "archive_name",
    "begin_left_chunks",
    "complete_archive",
    "kernel_folders",
    "remove_unreadable",
    "remove_unused",
    "take_back",
]

DATA = "ust"
"""What a chunk has in its directory."""
NEXT = ".ust"
"""The next one of that, until it takes its place."""
MODE = 0o770
_OF_KERNEL = re.compile(rf"{KERNEL}(?:-[0-9]+)?")


class ArchiveExistsError(FileExistsError):
    """There is an archive of that name."""


def archive_chunk(output: str, name: str, *, goes_on: bool = True) -> str:
    """Move the present chunk to the archives.

    No link is followed below the directory of the session. If it cannot be done,
    nothing has changed.

    Whoever writes the next chunk makes directories that are missing: so it does not
    matter if somebody has put another one in the place of an empty one meanwhile.

    Args:
        output: The directory of the session.
        name: What the chunk is called from now on.
        goes_on: Whether there is another one.

    Returns:
        Its path.

    Raises:
        ArchiveExistsError: There is one of that name.
        OSError: It cannot be moved.
    """
    # What is there in place of a directory says so when it is opened.
    with suppress(FileExistsError):
        Path(output).mkdir(mode=MODE, parents=True, exist_ok=True)
    with _opened(output) as here:
        with suppress(FileExistsError):
            os.mkdir(ARCHIVES, MODE, dir_fd=here)
        with _opened(ARCHIVES, here) as archives:
            if goes_on:
                _make_empty(Path(output, NEXT))
            try:
                os.mkdir(name, MODE, dir_fd=archives)
            except FileExistsError as error:
                raise ArchiveExistsError(*error.args) from error
            try:
                with _opened(name, archives) as place:
                    has_programs = _move(here, place)
            except OSError:
                os.rmdir(name, dir_fd=archives)
                raise
        if goes_on:
            with suppress(OSError):
                if has_programs:
                    os.rename(NEXT, DATA, src_dir_fd=here, dst_dir_fd=here)
                else:
                    os.rmdir(NEXT, dir_fd=here)
    return f"{output.rstrip('/')}/{ARCHIVES}/{name}"


def _make_empty(path: Path) -> None:
    """Make a directory in place of what may be left there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.mkdir(MODE)


def _move(here: int, place: int) -> bool:
    """Move all traces; return whether there are programs, not the kernel alone."""
    of_kernel = _kernel_folders(os.listdir(here))
    has_programs = True
    try:
        os.rename(DATA, DATA, src_dir_fd=here, dst_dir_fd=place)
    except FileNotFoundError:
        if of_kernel:
            has_programs = False
        else:
            # Somebody has removed it: there is nothing in the chunk.
            os.mkdir(DATA, MODE, dir_fd=place)
    moved: list[str] = []
    try:
        for name in of_kernel:
            os.rename(name, name, src_dir_fd=here, dst_dir_fd=place)
            moved.append(name)
    except OSError:
        for name in (*moved, DATA):
            with suppress(OSError):
                os.rename(name, name, src_dir_fd=place, dst_dir_fd=here)
        raise
    return has_programs


def kernel_folders(path: str) -> list[str]:
    """Return the names of the traces of the kernel in a directory.

    After a daemon that was killed, there is a second one.

    Args:
        path: The directory, of a chunk or an archive.
    """
    try:
        return _kernel_folders(one.name for one in Path(path).iterdir())
    except OSError:
        return []


def _kernel_folders(names: Iterable[str]) -> list[str]:
    return sorted(one for one in names if _OF_KERNEL.fullmatch(one))


@contextmanager
def _opened(name: str, inside: int | None = None) -> Iterator[int]:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    if inside is not None:
        flags |= os.O_NOFOLLOW
    file = os.open(name, flags, dir_fd=inside)
    try:
        yield file
    finally:
        os.close(file)


def remove_unused(output: str, used: Iterable[str]) -> None:
    """Remove the traces of the present chunk that nobody writes to.

    Args:
        output: The directory of the session.
        used: The directories of the others.

    Raises:
        OSError: They cannot be removed.
    """
    kept = {Path(one) for one in used}
    above = {parent for one in kept for parent in one.parents}

    def remove(folder: Path) -> None:
        for one in [*folder.iterdir()]:
            if one.is_symlink() or not one.is_dir():
                one.unlink()
            elif one in above:
                remove(one)
            elif one not in kept:
                shutil.rmtree(one)

    root = Path(output, DATA)
    if root.is_dir() and not root.is_symlink():
        remove(root)


def remove_unreadable(output: str) -> None:
    """Remove the traces of the present chunk whose metadata are empty.

    A daemon was killed when it had just made them: nothing refers to memory there, and
    readers refuse all that is in an archive with one of these.

    Args:
        output: The directory of the session.

    Raises:
        OSError: They cannot be removed.
    """
    for metadata in [*Path(output, DATA).rglob("metadata")]:
        is_empty = metadata.is_file() and not metadata.stat().st_size
        if is_empty and not (metadata.parent / ARENAS_FILE).exists():
            shutil.rmtree(metadata.parent)


def begin_left_chunks(output: str, name: str) -> list[tuple[str, str]]:
    """Make directories for the next chunks of traces that are still collected.

    That is so if a daemon was killed between the first and the last of these.

    Args:
        output: The directory of the session.
        name: The archive.

    Returns:
        The directories of those in the archive, each with that of its next chunk.

    Raises:
        OSError: These cannot be made.
    """
    places = _places(output, name) or {}
    begun = {one for one, place in places.items() if _has_begun(one, place)}
    left = []
    for trace, place in places.items():
        if begun and trace not in begun and (trace / ARENAS_FILE).exists():
            shutil.rmtree(place, ignore_errors=True)
            (place / INDEX_FOLDER).mkdir(MODE, parents=True)
            left.append((str(trace), str(place)))
    return left


def complete_archive(output: str, name: str, recorded: Container[str]) -> bool:
    """Deal with an archive in whose making a daemon was killed.

    Until the first trace of the next chunk has begun, nothing has happened: all of it
    is taken back. From then on what was recorded stays there, so that the archives
    follow each other. Where the next chunk of a trace has not begun, this begins it, if
    there is something to write to it. What has a collector, which notes where it
    writes, comes back in any case.

    Args:
        output: The directory of the session.
        name: The archive.
        recorded: The directories of traces that buffers are left of.

    Returns:
        Whether there is such an archive.

    Raises:
        OSError: Something cannot be moved, or written.
    """
    places = _places(output, name)
    if places is None:
        return False
    begun = {one for one, place in places.items() if _has_begun(one, place)}
    for trace, place in places.items():
        has_collector = (trace / ARENAS_FILE).exists()
        if trace in begun:
            # The chunk that is there is the one that is collected.
            (trace / ARENAS_FILE).unlink(missing_ok=True)
            continue
        # There may be some files of a trace that was about to begin.
        shutil.rmtree(place, ignore_errors=True)
        if has_collector or not begun:
            place.parent.mkdir(mode=MODE, parents=True, exist_ok=True)
            trace.rename(place)
        elif str(place) in recorded:
            place.mkdir(mode=MODE, parents=True, exist_ok=True)
            shutil.copy(trace / "metadata", place / "metadata")
    archive = Path(output, ARCHIVES, name)
    if any(archive.rglob("metadata")):
        return True
    shutil.rmtree(archive, ignore_errors=True)
    return False


def _places(output: str, name: str) -> dict[Path, Path] | None:
    """Return where traces of an archive were; ``None`` if there is no such archive."""
    archive = Path(output, ARCHIVES, name)
    if archive.is_symlink() or archive.parent.is_symlink() or not archive.is_dir():
        return None
    moved, present = archive / DATA, Path(output, DATA)
    traces = sorted(one.parent for one in moved.rglob("metadata"))
    return {one: present / one.relative_to(moved) for one in traces}


def _has_begun(trace: Path, place: Path) -> bool:
    """Tell whether the next chunk of a trace can be read.

    Its metadata are written piece by piece: they are those of the chunk before.
    """
    if (place / ARENAS_FILE).exists():
        return True
    if (trace / ARENAS_FILE).exists() or not (place / "metadata").exists():
        return False
    before, now = (trace / "metadata").read_bytes(), (place / "metadata").read_bytes()
    return len(now) >= len(before) or not before.startswith(now)


def take_back(output: str, name: str) -> bool:
    """Take back what was moved to an archive, and has a collector that goes on with it.

    Args:
        output: The directory of the session.
        name: The archive.

    Returns:
        Whether there is such an archive, with what was complete.

    Raises:
        OSError: It cannot be moved.
    """
    archive = Path(output, ARCHIVES, name)
    if archive.is_symlink() or archive.parent.is_symlink() or not archive.is_dir():
        return False
    moved, present = archive / DATA, Path(output, DATA)
    traces = sorted(one.parent for one in moved.rglob(ARENAS_FILE))
    for trace in traces:
        place = present / trace.relative_to(moved)
        if not (place / "metadata").exists():
            place.parent.mkdir(mode=MODE, parents=True, exist_ok=True)
            # Of a trace that was about to begin, there may be some hidden files.
            shutil.rmtree(place, ignore_errors=True)
            trace.rename(place)
    if any(archive.rglob("metadata")):
        return True
    shutil.rmtree(archive, ignore_errors=True)
    return False
