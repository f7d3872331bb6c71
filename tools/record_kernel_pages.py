"""Records pages of this kernel's ring buffers for `tests/data/kernel-pages`.

Run it as root, from anywhere:

    python tools/record_kernel_pages.py

For each size of pages that this kernel has, it writes `NAME.pages.gz`, what a reader of
`trace_pipe_raw` gets of one CPU; `NAME.formats`, the files `format` of the events; and
`NAME.ctf.gz`, the data stream that is made of them now. Look at a change of that one
before it is committed.

Nothing but one thread of this program is recorded, and no event has texts of others.
"""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from support.kernel_fixtures import CPU, FIXTURES, read_fixture, write_trace  # noqa: E402
from vestige.record.backends.kernel.tracefs import Tracefs  # noqa: E402

EVENTS = (
    ("syscalls", "sys_enter_getpriority"),
    ("syscalls", "sys_exit_getpriority"),
    ("syscalls", "sys_enter_chdir"),
    ("syscalls", "sys_exit_chdir"),
    ("timer", "hrtimer_start"),
    ("ftrace", "print"),
)
SIZES = {"4k": 4, "64k": 64}
CALLS = 300
"""As many as fill more than one page of 4 KiB."""


def record(tracefs: Tracefs, name: str, kilobytes: int) -> bool:
    """Record pages of a size; return whether this kernel has them."""
    place = f"instances/pages-{os.getpid()}"
    tracefs.make(place)
    try:
        try:
            tracefs.write(f"{place}/buffer_subbuf_size_kb", kilobytes)
        except OSError:
            return False
        tracefs.write(f"{place}/trace_clock", "mono")
        tracefs.write(f"{place}/buffer_size_kb", 1024)
        tracefs.write(f"{place}/set_event_pid", os.getpid())
        for system, event in EVENTS:
            with suppress(OSError):
                tracefs.write(f"{place}/events/{system}/{event}/enable", 1)
        cpu = min(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpu})
        tracefs.write(f"{place}/trace_marker", "a line of text\n")
        for number in range(CALLS):
            os.getpriority(os.PRIO_PROCESS, 0)
            if number % 100 == 0:
                os.chdir("/")
        tracefs.write(f"{place}/tracing_on", 0)
        pages = read_pages(
            tracefs, f"{place}/per_cpu/cpu{cpu}/trace_pipe_raw", kilobytes
        )
    finally:
        tracefs.remove(place)
    (FIXTURES / f"{name}.pages.gz").write_bytes(gzip.compress(pages, mtime=0))
    texts = [
        f"# {system}:{event}\n{tracefs.read(f'events/{system}/{event}/format')}"
        for system, event in EVENTS
    ]
    (FIXTURES / f"{name}.formats").write_text("".join(texts))
    return True


def read_pages(tracefs: Tracefs, path: str, kilobytes: int) -> bytes:
    """Return all pages of a buffer."""
    descriptor = tracefs.open(path, os.O_RDONLY | os.O_NONBLOCK)
    found = []
    try:
        with suppress(BlockingIOError):
            while page := os.read(descriptor, kilobytes << 10):
                found.append(page.ljust(kilobytes << 10, b"\0"))
    finally:
        os.close(descriptor)
    return b"".join(found)


def main() -> int:
    """Record all sizes; return the exit status."""
    FIXTURES.mkdir(exist_ok=True)
    tracefs = Tracefs()
    try:
        for name, kilobytes in SIZES.items():
            if not record(tracefs, name, kilobytes):
                print(f"this kernel has no pages of {kilobytes} KiB")
                continue
            formats, pages, size = read_fixture(name)
            with tempfile.TemporaryDirectory() as folder:
                write_trace(Path(folder), formats, pages, page_bytes=size)
                made = (Path(folder) / f"channel0_{CPU}").read_bytes()
            (FIXTURES / f"{name}.ctf.gz").write_bytes(gzip.compress(made, mtime=0))
    finally:
        tracefs.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
