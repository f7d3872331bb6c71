"""The pages of which buffers consist, as large as is good for who writes them.

The kernel gives pages to who reads one by one, and each costs the CPU that writes: it
has to get back what it knows of the page, which was changed elsewhere. From Linux 6.8
on, a page may have more bytes than one of memory (``buffer_subbuf_size_kb``, Linux,
``Documentation/trace/ftrace.rst``).
"""

from __future__ import annotations

import re
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from .formats import read_format
from .tracefs import NoKernelTracerError

if TYPE_CHECKING:
    from .tracefs import Instance, Tracefs

__all__ = ["has_large_pages", "page_bytes", "resize"]

_SHAPE = (8, 8, 16)
"""Where a page has its length, how many bytes that has, and where its records begin."""
_LARGEST, _SMALLEST = 64, 4
"""KiB: larger ones cost no less, and the kernel has to find memory that is all of a
piece; smaller ones there are not."""
_LEAST_PAGES = 32
"""So many a buffer has at least: one of them is with the reader, and what is there is
read once it is full."""
_LARGE = 32 << 10
"""Bytes of a page that costs some 1 %; 16 KiB cost 2 to 3 %."""
_SETTING = "buffer_subbuf_size_kb"
_MEMORY = "/proc/meminfo"
_AVAILABLE = re.compile(r"^MemAvailable: +(\d+) kB$", re.MULTILINE)


def resize(instance: Instance, buffer_size: int, *, is_read: bool) -> None:
    """Give the buffers of an instance their size, and large pages.

    Args:
        instance: The instance, which records nothing yet.
        buffer_size: Bytes of the buffer of a CPU, which is rounded up.
        is_read: Whether they are read while they are written; others have the kernel's
            own pages.

    Raises:
        OSError: There is no memory for them.
    """
    kib = -(-buffer_size // 1024)
    # The kernel asks itself whether there is memory for so many pages, and takes all of
    # them for small ones.
    has_room = is_read and kib * len(instance.cpus()) <= _available() // 2
    size = _LARGEST if has_room else 0
    while size > _SMALLEST:
        if size * 1024 * _LEAST_PAGES <= buffer_size:
            # There may be no such setting, or no memory that is all of a piece.
            with suppress(OSError):
                instance.write(_SETTING, size)
                instance.write("buffer_size_kb", kib)
                return
        size //= 2
    with suppress(OSError):
        instance.write(_SETTING, _SMALLEST)
    instance.write("buffer_size_kb", kib)


def _available() -> int:
    """Return how many KiB of memory there are for programs; 0: nobody says."""
    try:
        with open(_MEMORY, encoding="ascii") as file:
            found = _AVAILABLE.search(file.read())
    except (OSError, ValueError):
        return 0
    return int(found[1]) if found else 0


def has_large_pages(page: int) -> bool:
    """Tell whether those who read cost next to nothing with such pages.

    Args:
        page: Bytes of a page.
    """
    return page >= _LARGE


def page_bytes(source: Tracefs | Instance) -> int:
    """Return the bytes of a page, if it is one that can be read.

    Args:
        source: Whose buffers have it.

    Raises:
        NoKernelTracerError: It has another shape.
        OSError: The kernel does not say.
    """
    page = read_format("", "", f"ID: 0\n{source.read('events/header_page')}")
    fields = {one.name: one for one in page.fields}
    if {"commit", "data"} <= fields.keys():
        length, data = fields["commit"], fields["data"]
        if (length.at, length.bytes, data.at) == _SHAPE:
            return data.at + data.bytes
    raise NoKernelTracerError("its buffers have pages of an unknown shape")
