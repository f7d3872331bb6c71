"""A directory that all users can reach, for tests of several users."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["public_folder"]


@contextmanager
def public_folder() -> Iterator[Path]:
    """Have a directory that all users can reach; it is gone at the end.

    It is in none of pytest's: another pytest that begins meanwhile closes the directory
    that all of a user's are in to others.
    """
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
