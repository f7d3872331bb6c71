"""The pages of the kernel's buffers, as large as there is memory for."""

from __future__ import annotations

import errno
import os

import pytest

from support.kernel_tracer import why_not
from vestige.record.backends.kernel import sub_buffers
from vestige.record.backends.kernel.sub_buffers import page_bytes, resize
from vestige.record.backends.kernel.tracefs import (
    Instance,
    NoKernelTracerError,
    Tracefs,
)

REASON = why_not()
needs_tracer = pytest.mark.skipif(REASON is not None, reason=str(REASON))
HEADER = (
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: char data;\toffset:{at};\tsize:4080;\tsigned:0;\n"
)


class Kernel:
    """One that refuses pages above a size, as where memory is in pieces."""

    def __init__(self, largest, refusal=errno.ENOMEM, header="", most=1 << 20):
        self.largest, self.refusal, self.header = largest, refusal, header
        self.most = most
        """KiB of a buffer with pages above 4 KiB."""
        self.pages, self.size = 4, None

    def write(self, path, size):
        """Take a setting."""
        if path == "buffer_subbuf_size_kb" and size <= self.largest:
            self.pages = size
        elif path == "buffer_size_kb" and (size <= self.most or self.pages == 4):
            self.size = size
        else:
            raise OSError(self.refusal, os.strerror(self.refusal))

    def cpus(self):
        """Tell which CPUs there are."""
        return [0, 2]

    def read(self, path):
        """Describe a page."""
        assert path == "events/header_page"
        return self.header


@pytest.mark.parametrize(
    ("buffer", "largest", "page"),
    [
        (4 << 20, 128, 64),
        (4 << 20, 16, 16),
        (1 << 20, 128, 32),
        ((1 << 20) - 1, 128, 16),
        (256 << 10, 128, 8),
        (128 << 10, 128, 4),
        (100, 128, 4),
    ],
)
def test_pages_are_as_large_as_buffer_and_memory_let_them_be(buffer, largest, page):
    """A buffer has some number of them in any case."""
    kernel = Kernel(largest)

    resize(kernel, buffer, is_read=True)

    assert (kernel.pages, kernel.size) == (page, -(-buffer // 1024))


def test_what_is_not_read_meanwhile_has_the_kernels_own_pages():
    """When it is full, no more goes than must."""
    kernel = Kernel(128)
    resize(kernel, 4 << 20, is_read=False)
    assert (kernel.pages, kernel.size) == (4, 4096)


@pytest.mark.parametrize(
    "kernel",
    [
        # Before Linux 6.8.
        Kernel(0, errno.ENOENT),
        # There is memory for one page, and not for all.
        Kernel(128, most=4095),
    ],
)
def test_a_buffer_has_small_pages_where_there_are_no_others(kernel):
    """It has its size in any case."""
    resize(kernel, 4 << 20, is_read=True)
    assert (kernel.pages, kernel.size) == (4, 4096)


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("MemFree: 99999 kB\nMemAvailable:   16384 kB\n", 64),
        ("MemFree: 99999 kB\nMemAvailable:   16383 kB\n", 4),
        ("MemFree: 99999 kB\n", 4),
        (None, 4),
    ],
)
def test_pages_are_small_where_memory_is_little(monkeypatch, tmp_path, text, page):
    """The kernel asks itself whether there is enough for so many small ones."""
    told = tmp_path / "meminfo"
    if text is not None:
        told.write_text(text)
    monkeypatch.setattr(sub_buffers, "_MEMORY", str(told))
    kernel = Kernel(128)

    resize(kernel, 4 << 20, is_read=True)

    assert (kernel.pages, kernel.size) == (page, 4096)


def test_a_page_of_another_shape_is_refused():
    """Nobody could read it."""
    assert page_bytes(Kernel(0, header=HEADER.format(at=16))) == 4096
    with pytest.raises(NoKernelTracerError, match="pages of an unknown shape"):
        page_bytes(Kernel(0, header=HEADER.format(at=24)))


@needs_tracer
def test_this_kernel_says_how_large_they_are():
    """Of the instance, and not of others."""
    tracefs = Tracefs()
    instance = Instance(tracefs, "test")
    try:
        before = page_bytes(instance)
        if "buffer_subbuf_size_kb" not in tracefs.names(f"instances/{instance.name}"):
            pytest.skip("this kernel has no larger pages")
        resize(instance, 4 << 20, is_read=True)
        size = int(instance.read("buffer_subbuf_size_kb"))
        # There may be less memory that is all of a piece.
        assert before < page_bytes(instance) == size * 1024
    finally:
        instance.remove()
        tracefs.close()
