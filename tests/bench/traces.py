"""The traces that are read for the benchmark. Each is made once and kept."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.compilers import Toolchain
from support.kernel_like import write_kernel_like
from support.lttng import (
    Channel,
    LttngEnvironment,
    Program,
    missing_requirement,
)
from support.recipes import Workshop
from support.small_packets import write_small_packets

ROOT = Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / "bench-out"
WORKERS = 4
KERNEL_CLASSES = 1040
"""So many classes make 1.5 MB of metadata."""
LARGE = ("16M", 8)
"""Size and number of LTTng's sub-buffers."""
SMALL = ("4k", 8192)
"""The smallest of them, and so many that nothing is lost."""
HUGE_ROUNDS = 28
"""So many rounds of the kernel-like packets make 2 GB."""


@dataclass(frozen=True)
class Shape:
    """A trace of a certain kind."""

    name: str
    """Name of its directory."""
    about: str
    """What is in it, for the table."""
    make: Callable[[Path], None]
    """Makes it in a directory that is not there yet."""

    def path(self) -> Path:
        """Return the directory of the trace, which is made unless it is there."""
        path = OUTPUT / self.name
        if not path.exists():
            print(f"making {path}", file=sys.stderr)
            OUTPUT.mkdir(exist_ok=True)
            self.make(path)
        return path

    def files(self) -> list[Path]:
        """Return all files of the trace."""
        return sorted(file for file in self.path().rglob("*") if file.is_file())

    def size(self) -> int:
        """Return the size of the trace, bytes."""
        return sum(file.stat().st_size for file in self.files())


def shapes(events: int) -> dict[str, Shape]:
    """Return all traces; the first with so many events, the others about as large."""
    million = f"{events / 1e6:.1f} million events"
    listed = [
        Shape(
            f"trace-{events}",
            f"{million}: an integer, a long, a string; `ip`, `vpid`, `vtid`",
            lambda path: _record(path, "threads", str(-(-events // WORKERS))),
        ),
        Shape(
            f"ticks-{events * 3}",
            f"{events * 3 / 1e6:.1f} million events of a single integer, 8 bytes each",
            lambda path: _record(path, "assorted", "ticks", str(events * 3), bare=True),
        ),
        Shape(
            f"texts-{events // 3}",
            f"{events / 3e6:.1f} million events of strings and sequences",
            lambda path: _record(
                path, "assorted", "texts", str(events // 3), bare=True
            ),
        ),
        Shape(
            f"kernel-{events // 3}",
            f"{events / 3e6:.1f} million events of {KERNEL_CLASSES} classes, like a kernel's",
            lambda path: write_kernel_like(
                path, classes=KERNEL_CLASSES, records=events // 3
            ),
        ),
        Shape(
            f"barectf-{events // 45}",
            f"{events // 45:,} packets of 256 bytes with 3 events each, like barectf's",
            lambda path: write_small_packets(
                path, packets=events // 45, records=3, size=256
            ),
        ),
        Shape(
            f"tiny-packets-{events // 5}",
            f"{events // 5:,} packets of 2 events each",
            lambda path: write_small_packets(path, packets=events // 5, records=2),
        ),
        Shape(
            f"sub-buffers-{events // 3}",
            f"{events / 3e6:.1f} million events from LTTng with sub-buffers of 4 KiB",
            lambda path: _record(
                path, "threads", str(-(-events // 3 // WORKERS)), sub_buffers=SMALL
            ),
        ),
        Shape(
            "kernel-opening",
            f"{KERNEL_CLASSES} classes and 4 events",
            lambda path: write_kernel_like(path, classes=KERNEL_CLASSES, records=4),
        ),
        Shape("trace-small", "ten events", lambda path: _record(path, "threads", "1")),
        Shape(
            "kernel-huge",
            "2 GB, like a kernel's",
            lambda path: write_kernel_like(
                path, classes=KERNEL_CLASSES, records=1_000_000, rounds=HUGE_ROUNDS
            ),
        ),
    ]
    names = (
        *("threads", "ticks", "texts", "kernel", "barectf", "tiny packets"),
        *("sub-buffers", "opening", "small", "huge"),
    )
    return dict(zip(names, listed, strict=True))


def _record(
    trace: Path,
    program: str,
    *arguments: str,
    bare: bool = False,
    sub_buffers: tuple[str, int] = LARGE,
) -> None:
    """Record with LTTng; ``bare`` means no contexts and no state dump."""
    reason = missing_requirement()
    if reason is not None:
        sys.exit(f"bench: cannot record: {reason}")
    own = f"{program}:*"
    with LttngEnvironment() as lttng:
        workshop = Workshop(lttng, OUTPUT / "work", toolchain=Toolchain())
        built = workshop.program(program)
        if program == "threads":
            arguments = (str(WORKERS), *arguments)
        channel = Channel(
            contexts=() if bare else ("ip", "vpid", "vtid"),
            events=(own,) if bare else (own, "lttng_ust_statedump:*"),
            sub_buffer_size=sub_buffers[0],
            sub_buffer_count=sub_buffers[1],
        )
        run = Program([built, *arguments], seconds=300)
        recorded = workshop.record(f"recording-{trace.name}", [run], [channel])
    shutil.move(recorded, trace)
