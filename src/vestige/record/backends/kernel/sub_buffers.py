"""The pages of which buffers consist, as large as is good for who writes them.

The kernel gives pages to who reads one by one, and each costs the CPU that writes: it
has to get back what it knows of the page, which was changed elsewhere. From Linux 6.8
on, a page may have more bytes than one of memory (``buffer_subbuf_size_kb``, Linux,
``Documentation/trace/ftrace.rst``).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from .formats import read_format
from .tracefs import NoKernelTracerError

if TYPE_CHECKING:
    from .tracefs import Instance, Tracefs

__all__ = ["enlarge_pages", "has_large_pages", "page_bytes"]

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


def enlarge_pages(instance: Instance, buffer_size: int) -> None:
    """Let the buffers of an instance have large pages, where the kernel has such.

    Args:
        instance: The instance, which records nothing yet.
        buffer_size: Bytes of the buffer of a CPU.
    """
    size = _LARGEST
    while size > _SMALLEST:
        if size * 1024 * _LEAST_PAGES <= buffer_size:
            # There may be no such setting, or no memory that is all of a piece.
            with suppress(OSError):
                instance.write(_SETTING, size)
                return
        size //= 2


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
