"""Files of a trace, which programs may have replaced by links, pipes or directories.

None of these is followed or waited for: the recorder may have more rights than they.
"""

from __future__ import annotations

import errno
import os
import stat

__all__ = [
    "open_directory",
    "open_regular",
    "put_file",
    "read_file",
    "remove_directory",
]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_directory(path: str | os.PathLike[str], at: int | None = None) -> int:
    """Open a directory.

    Args:
        path: Where it is.
        at: A descriptor of the directory from which that counts.

    Returns:
        A descriptor.

    Raises:
        OSError: It cannot be opened, is a link or no directory.
    """
    return os.open(path, _DIRECTORY, dir_fd=at)


def open_regular(
    directory: int | None, name: str, flags: int, mode: int = 0o600
) -> int:
    """Open a file of a directory.

    Args:
        directory: A descriptor of the directory; ``None`` is the current one.
        name: The name of the file, or a path from there.
        flags: For open(2), without ``O_TRUNC``.
        mode: Of a file that is made.

    Returns:
        A descriptor.

    Raises:
        OSError: It cannot be opened, or is no file; nothing was written to it.
    """
    file = os.open(name, flags | _FILE, mode, dir_fd=directory)
    if stat.S_ISREG(os.fstat(file).st_mode):
        return file
    os.close(file)
    raise OSError(errno.EINVAL, "no regular file", name)


def read_file(directory: str | os.PathLike[str], name: str, most: int = -1) -> bytes:
    """Read a file of a directory.

    Args:
        directory: Where the directory is.
        name: The name of the file.
        most: Bytes that are read at most; negative for all.

    Returns:
        What is in it.

    Raises:
        OSError: It cannot be read, or is no file.
    """
    opened = open_directory(directory)
    try:
        with open(open_regular(opened, name, os.O_RDONLY), "rb") as file:
            return file.read(most)
    finally:
        os.close(opened)


def put_file(directory: int, name: str, data: bytes, mode: int = 0o600) -> None:
    """Write a file of a directory anew.

    Args:
        directory: A descriptor of the directory.
        name: The name of the file.
        data: What is to be in it.
        mode: Its mode.

    Raises:
        OSError: It cannot be written, is no file, or has another name, too.
    """
    opened = open_regular(directory, name, os.O_WRONLY | os.O_CREAT, mode)
    with open(opened, "wb") as file:
        if os.fstat(opened).st_nlink != 1:
            raise OSError(errno.EMLINK, "has another name", name)
        os.ftruncate(opened, 0)
        os.fchmod(opened, mode)
        file.write(data)


def remove_directory(directory: str | os.PathLike[str], name: str) -> None:
    """Remove a directory in another one, with the files in it.

    Args:
        directory: Where the other one is.
        name: The name of the one that goes.

    Raises:
        OSError: Not all of it can be removed; of a link, nothing is.
    """
    outer = open_directory(directory)
    try:
        inner = open_directory(name, outer)
        try:
            for one in os.listdir(inner):
                os.unlink(one, dir_fd=inner)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=outer)
    finally:
        os.close(outer)
