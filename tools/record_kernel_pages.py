"""Records pages of this kernel's ring buffers for `tests/data/kernel-pages`.

Run it as root, from anywhere:

    python tools/record_kernel_pages.py

For each size of pages that this kernel has, it writes `NAME.pages.gz`, what a reader of
`trace_pipe_raw` gets of one CPU; `NAME.formats`, the files `format` of the events; and
`NAME.ctf.gz`, the data stream that is made of them now. Look at a change of that one
before it is committed.

Nothing but one thread of this program is recorded, and no event has texts of others.
In a virtual machine, where nobody else's names are, there is more to record:

    tools/other_kernels.py --kernel 6.12 --results DIR -- \
        python tools/record_kernel_pages.py --alone --into /run/results

That writes `VERSION-4k`, with switches of threads, names of files and a long pause, and
`VERSION-lost`, the rest of what did not fit into a buffer.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from support.kernel_fixtures import CPU, FIXTURES, read_fixture, write_trace  # noqa: E402
from vestige.record.backends.kernel.tracefs import Tracefs  # noqa: E402

USUAL = 4
"""KiB of a page; older kernels have no choice."""
CALLS = 300
"""As many as fill more than one page of 4 KiB."""
PAUSE = 0.2
"""Seconds; a record has 27 bits for the nanoseconds since the one before."""
PRIORITIES = (
    ("syscalls", "sys_enter_getpriority"),
    ("syscalls", "sys_exit_getpriority"),
)
EVENTS = (
    *PRIORITIES,
    ("syscalls", "sys_enter_chdir"),
    ("syscalls", "sys_exit_chdir"),
    ("timer", "hrtimer_start"),
    ("ftrace", "print"),
)
ALONE = (
    *EVENTS,
    ("syscalls", "sys_enter_openat"),
    ("syscalls", "sys_exit_openat"),
    ("sched", "sched_switch"),
    ("sched", "sched_process_exec"),
)


def work(tracefs: Tracefs, place: str) -> None:
    """Do what is recorded."""
    tracefs.write(f"{place}/trace_marker", "a line of text\n")
    for number in range(CALLS):
        os.getpriority(os.PRIO_PROCESS, 0)
        if number % 100 == 0:
            os.chdir("/")


def more_work(tracefs: Tracefs, place: str) -> None:
    """Do what is recorded where nobody else is."""
    work(tracefs, place)
    time.sleep(PAUSE)
    os.close(os.open("/etc/passwd", os.O_RDONLY))
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


class Recording(NamedTuple):
    """What is recorded, and how."""

    kilobytes: int = USUAL
    """Of a page."""

    events: tuple[tuple[str, str], ...] = EVENTS
    work: Callable[[Tracefs, str], None] = work
    room: int = 1024
    """KiB of the buffer; what does not fit in drops what is older."""


RECORDINGS = {"4k": Recording(), "64k": Recording(64)}
IN_MACHINES = {
    "4k": Recording(USUAL, ALONE, more_work),
    "lost": Recording(USUAL, PRIORITIES, work, room=8),
}


def record(tracefs: Tracefs, base: Path, wanted: Recording) -> bool:
    """Record pages of a size; return whether this kernel has them."""
    place = f"instances/pages-{os.getpid()}"
    tracefs.make(place)
    try:
        try:
            tracefs.write(f"{place}/buffer_subbuf_size_kb", wanted.kilobytes)
        except OSError:
            if wanted.kilobytes != USUAL:
                return False
        tracefs.write(f"{place}/trace_clock", "mono")
        tracefs.write(f"{place}/buffer_size_kb", wanted.room)
        tracefs.write(f"{place}/options/event-fork", 1)
        tracefs.write(f"{place}/set_event_pid", os.getpid())
        for system, event in wanted.events:
            with suppress(OSError):
                tracefs.write(f"{place}/events/{system}/{event}/enable", 1)
        cpu = min(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpu})
        tracefs.write(f"{place}/tracing_on", 0)
        tracefs.write(f"{place}/trace", "")
        switch = tracefs.open(f"{place}/tracing_on", os.O_WRONLY)
        os.write(switch, b"1")
        wanted.work(tracefs, place)
        os.write(switch, b"0")
        os.close(switch)
        pages = read_pages(
            tracefs, f"{place}/per_cpu/cpu{cpu}/trace_pipe_raw", wanted.kilobytes
        )
    finally:
        tracefs.remove(place)
    base.with_name(f"{base.name}.pages.gz").write_bytes(gzip.compress(pages, mtime=0))
    texts = [
        f"# {system}:{event}\n{tracefs.read(f'events/{system}/{event}/format')}"
        for system, event in wanted.events
    ]
    base.with_name(f"{base.name}.formats").write_text("".join(texts))
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
    """Record all that is wanted; return the exit status."""
    parser = argparse.ArgumentParser(description="Record pages of this kernel.")
    parser.add_argument("--into", type=Path, default=FIXTURES)
    parser.add_argument("--alone", action="store_true", help="nobody else is here")
    options = parser.parse_args()
    options.into.mkdir(exist_ok=True)
    version = ".".join(os.uname().release.split(".")[:2])
    wanted = IN_MACHINES if options.alone else RECORDINGS
    tracefs = Tracefs()
    try:
        for size, recording in wanted.items():
            name = f"{version}-{size}" if options.alone else size
            if not record(tracefs, options.into / name, recording):
                print(f"this kernel has no pages of {recording.kilobytes} KiB")
                continue
            formats, pages, bytes_each = read_fixture(options.into / name)
            with tempfile.TemporaryDirectory() as folder:
                write_trace(Path(folder), formats, pages, page_bytes=bytes_each)
                made = (Path(folder) / f"channel0_{CPU}").read_bytes()
            data = options.into / f"{name}.ctf.gz"
            data.write_bytes(gzip.compress(made, mtime=0))
    finally:
        tracefs.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
