"""Directories that a recorder has made, also once others may have got their names."""

from __future__ import annotations

import os

from .._typing import NamedTuple

__all__ = ["KnownDirectory", "OwnDirectory", "known_directory", "make_directories"]


class KnownDirectory(NamedTuple):
    """A directory, and what tells it from one that gets its name later."""

    path: str
    device: int
    inode: int


class OwnDirectory(NamedTuple):
    """A directory in which all is the recorder's own."""

    whole: KnownDirectory

    made: tuple[KnownDirectory, ...]
    """It and those above it, as far as they were not there before; the lowest first."""


def make_directories(path: str) -> tuple[KnownDirectory, ...]:
    """Make a directory and those above it, as far as they are not there.

    Args:
        path: Its absolute path.

    Returns:
        Those that were made, the lowest first.

    Raises:
        OSError: They cannot be made.
    """
    missing, place = [], path
    while not os.path.exists(place):
        missing.append(place)
        place = os.path.dirname(place)
    os.makedirs(path, exist_ok=True)
    return tuple(known_directory(os.path.realpath(one)) for one in missing)


def known_directory(path: str) -> KnownDirectory:
    """Return what tells a directory from others.

    Args:
        path: Its path; a symbolic link is none.

    Raises:
        OSError: It is not there.
    """
    facts = os.lstat(path)
    return KnownDirectory(path, facts.st_dev, facts.st_ino)
