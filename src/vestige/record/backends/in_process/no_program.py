"""What runs in place of a program where only the kernel is recorded."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["standing_in"]

_COMMAND = ("cat",)
"""Its input has nothing and no end, so it waits as long as its parent lives."""


@contextmanager
def standing_in() -> Iterator[tuple[tuple[str, ...], tuple[int, int]]]:
    """Name a command that waits until a signal ends it, as a program has its signals.

    Yields:
        The command, and its input: a descriptor, and the number that it has there. It
        ends with this process, however that ends.
    """
    reader, writer = os.pipe2(os.O_CLOEXEC)
    try:
        yield _COMMAND, (reader, 0)
    finally:
        os.close(reader)
        os.close(writer)
