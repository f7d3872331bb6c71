"""Appending to a data stream file: everything, or nothing."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["append_whole"]


def append_whole(path: Path, data: bytes | bytearray) -> None:
    """Append bytes to a file, which is as before when there is no room for them.

    Args:
        path: The file; it is made if it is not there.
        data: The bytes.

    Raises:
        OSError: They cannot be written, as on a full disk.
    """
    is_new = not path.exists()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(file).st_size
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(file, data[written:], size + written)
        except OSError:
            with suppress(OSError):
                os.ftruncate(file, size)
            if is_new:
                path.unlink()
            raise
    finally:
        os.close(file)
