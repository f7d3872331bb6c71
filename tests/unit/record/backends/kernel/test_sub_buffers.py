"""The pages of the kernel's buffers, as large as there is memory for."""

from __future__ import annotations

import errno
import os

import pytest

from support.kernel_tracer import why_not
from vestige.record.backends.kernel.sub_buffers import enlarge_pages, page_bytes
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

    def __init__(self, largest, refusal=errno.ENOMEM, header=""):
        self.largest, self.refusal, self.header = largest, refusal, header
        self.asked = []

    def write(self, path, size):
        """Take a setting."""
        assert path == "buffer_subbuf_size_kb"
        self.asked.append(size)
        if size > self.largest:
            raise OSError(self.refusal, os.strerror(self.refusal))

    def read(self, path):
        """Describe a page."""
        assert path == "events/header_page"
        return self.header


@pytest.mark.parametrize(
    ("buffer", "largest", "asked"),
    [
        (4 << 20, 128, [64]),
        (4 << 20, 16, [64, 32, 16]),
        (1 << 20, 128, [32]),
        ((1 << 20) - 1, 128, [16]),
        (256 << 10, 128, [8]),
        (128 << 10, 128, []),
    ],
)
def test_pages_are_as_large_as_buffer_and_memory_let_them_be(buffer, largest, asked):
    """A buffer has some number of them in any case."""
    kernel = Kernel(largest)

    enlarge_pages(kernel, buffer)

    assert kernel.asked == asked


def test_a_kernel_without_larger_pages_keeps_its_own():
    """Before Linux 6.8."""
    enlarge_pages(Kernel(0, errno.ENOENT), 4 << 20)


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
        enlarge_pages(instance, 4 << 20)
        size = int(instance.read("buffer_subbuf_size_kb"))
        # There may be less memory that is all of a piece.
        assert before < page_bytes(instance) == size * 1024
    finally:
        instance.remove()
        tracefs.close()
