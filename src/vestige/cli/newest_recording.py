"""Which recording ``vestige record`` made last for this user.

Verbs that read take it when no PATH is given. A small file holds its path: ``.newest-``
and the user's ID, in the directory where recordings go by default. It is replaced as a
whole, links are not followed, and a file of another user is not believed.
"""

from __future__ import annotations

import os
import stat
import sys

from .._suppress import suppress
from .._typing import TYPE_CHECKING
from ..errors import CommandError
from .exit_statuses import WRONG_USAGE

if TYPE_CHECKING:
    import argparse

__all__ = ["recordings_directory", "remember", "take_newest"]

LONGEST = 1 << 14
"""Bytes of a path that is believed."""


def recordings_directory() -> str | None:
    """Return the directory where recordings go by default; ``None`` without a home."""
    home = os.environ.get("VESTIGE_HOME") or os.environ.get("HOME")
    return os.path.join(home, "vestige-traces") if home else None  # noqa: PTH118 - pathlib takes long to import


def remember(trace: str | os.PathLike[str]) -> None:
    """Keep which recording is the newest one; what cannot be kept is forgotten.

    Args:
        trace: Its absolute path.
    """
    place = recordings_directory()
    if place is None:
        return
    # A home that cannot be written is no reason for a recording to fail.
    with suppress(OSError):
        os.makedirs(place, exist_ok=True)  # noqa: PTH103 - as above
        directory = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _replace(directory, os.fsencode(trace))
        finally:
            os.close(directory)


def _replace(directory: int, content: bytes) -> None:
    partial = f"{_name()}.{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(partial, flags, 0o600, dir_fd=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.rename(partial, _name(), src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        os.unlink(partial, dir_fd=directory)
        raise


def _name() -> str:
    return f".newest-{os.geteuid()}"


def take_newest(options: argparse.Namespace) -> None:
    """Give a command line without any PATH that of the newest recording.

    Args:
        options: The parsed command line; its ``paths`` are filled, and a line on
            standard error says with what.

    Raises:
        CommandError: No recording is known, or it is not there any more.
    """
    if options.paths:
        return
    path = _remembered()
    if path is None:
        raise CommandError(
            "no PATH is given and no recording is known; 'vestige record -- PROGRAM' "
            "makes one",
            exit_code=WRONG_USAGE,
        )
    if not os.path.isdir(path):  # noqa: PTH112 - as above
        raise CommandError(f"{path}: this was the newest recording, and it is gone")
    print(f"vestige: reading {path}, the newest recording", file=sys.stderr)
    options.paths = [path]


def _remembered() -> str | None:
    place = recordings_directory()
    if place is None:
        return None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(os.path.join(place, _name()), flags)  # noqa: PTH118 - as above
    except OSError:
        return None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            return None
        path = os.fsdecode(os.read(descriptor, LONGEST))
    finally:
        os.close(descriptor)
    return path if os.path.isabs(path) and "\0" not in path else None  # noqa: PTH117 - as above
