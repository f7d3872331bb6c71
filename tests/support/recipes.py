"""How each program in `tests/programs` is built and recorded.

The tests that compare with the real tools and `tools/record_test_data.py` share these
recipes: the first record into temporary directories, the second into `tests/data`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from support.compilers import Toolchain, toolchain_matrix
from support.lttng import (
    CYG_PROFILE_FAST_HELPER,
    CYG_PROFILE_HELPER,
    DEBUG_INFO_CONTEXTS,
    DL_HELPER,
    FORK_HELPER,
    STATE_DUMP_EVENTS,
    Buffers,
    Channel,
    LttngEnvironment,
    Program,
)
from support.many_classes import write_crowd
from support.peers import babeltrace

RELOAD_ATTEMPTS = 5
LOSS_ATTEMPTS = 8
SMALLEST_SUB_BUFFER = "4096"
BURST_PAUSE_MICROSECONDS = "3000"

INSTRUMENTED = ("-finstrument-functions",)
ALL_CONTEXTS = (
    "ip",
    "vpid",
    "vtid",
    "procname",
    "pthread_id",
    "vuid",
    "vgid",
    "pid_ns",
    "uts_ns",
)


class RecipeError(Exception):
    """The machine did not do what a recording needs, also after several attempts."""


@dataclass(frozen=True)
class Recording:
    """A trace and the binaries that made it."""

    trace: Path
    binaries: Sequence[Path] = ()


@dataclass(frozen=True)
class Workshop:
    """Where recipes build and record.

    Args:
        lttng: A started environment.
        directory: Everything is built and recorded below it.
        run_directory: Where programs run; a copy of the built files when it is another
            directory than the one they are built in (it may exist for `lttng` only).
        toolchain: Compilers and flags.
    """

    lttng: LttngEnvironment
    directory: Path
    run_directory: Path | None = None
    toolchain: Toolchain = field(default_factory=Toolchain)

    def program(self, name: str, flags: Sequence[str] = ()) -> Path:
        """Build a program and return the path to run it from."""
        return self._install(self.toolchain.build_program(name, self._built, flags))

    def library(self, name: str, file_name: str, flags: Sequence[str] = ()) -> Path:
        """Build a shared library and return the path to load it from."""
        return self._install(
            self.toolchain.build_library(name, self._built / file_name, flags)
        )

    def built(self, installed: Path) -> Path:
        """Return the built file behind an installed one."""
        return self._built / installed.name

    def install(self, installed: Path) -> None:
        """Copy a built file again to where programs run, after it has been changed."""
        self._install(self.built(installed))

    def record(
        self, name: str, programs: Sequence[Program], channels: Sequence[Channel]
    ) -> Path:
        """Record into a directory `name`."""
        return self.lttng.record(self.directory / name, programs, channels)

    @property
    def _built(self) -> Path:
        return self.directory / "bin"

    def _install(self, built: Path) -> Path:
        if self.run_directory is None:
            return built
        self.lttng.run(["mkdir", "-p", self.run_directory])
        self.lttng.run(["cp", built, self.run_directory])
        return self.run_directory / built.name


def record_greeting(workshop: Workshop, name: str = "greeting") -> Recording:
    """Record a hello-world program with per-user buffers and no context."""
    program = workshop.program("greeting")
    runs = [Program([program, "hello", "wide world"])]
    trace = workshop.record(name, runs, [Channel(events=["greeting:*"])])
    return Recording(trace, [program])


def record_fields(
    workshop: Workshop,
    name: str = "fields",
    contexts: Sequence[str] = (*DEBUG_INFO_CONTEXTS, "procname"),
) -> Recording:
    """Record every kind of field, with edge values."""
    program = workshop.program("fields")
    channel = Channel(contexts=contexts, events=["fields:*"])
    return Recording(workshop.record(name, [Program([program])], [channel]), [program])


def record_threads(
    workshop: Workshop,
    name: str = "threads",
    *,
    buffers: Buffers = Buffers.PER_USER,
    workers: int = 8,
    steps: int = 1000,
    processes: int = 1,
    contexts: Sequence[str] = DEBUG_INFO_CONTEXTS,
    sub_buffer_size: str = "1M",
) -> Recording:
    """Record some processes at the same time, each with some threads."""
    program = workshop.program("threads")
    channel = Channel(
        buffers=buffers,
        contexts=contexts,
        events=["threads:*"],
        sub_buffer_size=sub_buffer_size,
        sub_buffer_count=4,
    )
    command = 'for i in $(seq "$1"); do "$0" "$2" "$3" & done; wait'
    argv: list[str | Path] = [
        "sh",
        "-c",
        command,
        program,
        str(processes),
        str(workers),
        str(steps),
    ]
    return Recording(workshop.record(name, [Program(argv)], [channel]), [program])


def record_forking(
    workshop: Workshop, name: str = "forking", buffers: Buffers = Buffers.PER_USER
) -> Recording:
    """Record a parent and its forked children."""
    program = workshop.program("forking")
    events = ["forking:*", "lttng_ust_statedump:*"]
    channel = Channel(buffers=buffers, contexts=DEBUG_INFO_CONTEXTS, events=events)
    runs = [Program([program, "3"], preload=[FORK_HELPER])]
    return Recording(workshop.record(name, runs, [channel]), [program])


def record_functions(
    workshop: Workshop, name: str = "functions", *, fast: bool = False
) -> Recording:
    """Record the calls and returns of functions."""
    program = workshop.program("functions", INSTRUMENTED)
    helper = CYG_PROFILE_FAST_HELPER if fast else CYG_PROFILE_HELPER
    events = ["lttng_ust_cyg_profile*", *STATE_DUMP_EVENTS]
    channel = Channel(contexts=DEBUG_INFO_CONTEXTS, events=events)
    trace = workshop.record(name, [Program([program], preload=[helper])], [channel])
    return Recording(trace, [program])


def record_lengthy(
    workshop: Workshop, name: str = "lengthy", rounds: int = 2
) -> Recording:
    """Record strings and sequences of up to 8 KiB."""
    program = workshop.program("lengthy")
    channel = Channel(
        contexts=DEBUG_INFO_CONTEXTS,
        events=["lengthy:*"],
        sub_buffer_size="4M",
        sub_buffer_count=4,
    )
    return Recording(
        workshop.record(name, [Program([program, str(rounds)])], [channel]), [program]
    )


def record_crowd(
    workshop: Workshop, name: str = "crowd", *, classes: int = 200, rounds: int = 5
) -> Recording:
    """Record a provider with very many event classes, each of them emitted."""
    source = write_crowd(workshop.directory / "crowd-source", classes)
    program = workshop.toolchain.build([source], workshop.directory / "bin" / "crowd")
    channel = Channel(
        contexts=DEBUG_INFO_CONTEXTS,
        events=["crowd:*"],
        sub_buffer_size="4M",
        sub_buffer_count=4,
    )
    return Recording(
        workshop.record(name, [Program([program, str(rounds)])], [channel]), [program]
    )


def record_assorted(
    workshop: Workshop,
    name: str = "assorted",
    *,
    sort: str = "texts",
    events: int = 400,
) -> Recording:
    """Record two threads that emit one sort of events: `ticks` or `texts`."""
    program = workshop.program("assorted")
    channel = Channel(events=["assorted:*"], sub_buffer_size="1M", sub_buffer_count=4)
    run = Program([program, sort, str(events)])
    return Recording(workshop.record(name, [run], [channel]), [program])


def record_shapes(workshop: Workshop, name: str = "shapes") -> Recording:
    """Record a C++ program with methods, templates, a lambda and inlined functions."""
    program = workshop.program("shapes")
    channel = Channel(
        contexts=DEBUG_INFO_CONTEXTS, events=["shapes:*", *STATE_DUMP_EVENTS]
    )
    return Recording(workshop.record(name, [Program([program])], [channel]), [program])


def record_toolchains(workshop: Workshop, name: str = "toolchains") -> Recording:
    """Record a C and a C++ program as built by each compiler with each set of flags."""
    programs: list[Path] = []
    for toolchain in toolchain_matrix():
        if toolchain.missing_tool() is None:
            directory = workshop.directory / "toolchains" / toolchain.label
            programs += [
                toolchain.build_program(p, directory) for p in ("greeting", "shapes")
            ]
    events = ["greeting:*", "shapes:*", *STATE_DUMP_EVENTS]
    channel = Channel(contexts=DEBUG_INFO_CONTEXTS, events=events)
    runs = [Program([program, "argument"]) for program in programs]
    return Recording(workshop.record(name, runs, [channel]), programs)


def record_reload(
    workshop: Workshop, name: str = "reload", rounds: int = 3
) -> Recording:
    """Record two libraries that are loaded in turn at the same base address.

    Raises:
        RecipeError: When the dynamic linker never used one base for both.
    """
    flags = ["-rdynamic"]
    program = workshop.program("reload", flags)
    alpha = workshop.library("reload_alpha", "libalpha.so")
    bravo = workshop.library("reload_bravo", "libbravo.so")
    run = Program([program, alpha.parent, str(rounds)], preload=[DL_HELPER])
    events = ["reload:*", *STATE_DUMP_EVENTS]
    channel = Channel(contexts=(*DEBUG_INFO_CONTEXTS, "procname"), events=events)
    for attempt in range(RELOAD_ATTEMPTS):
        trace = workshop.record(
            f"{name}-{attempt}" if attempt else name, [run], [channel]
        )
        if _shares_one_base(trace):
            return Recording(trace, [program, alpha, bravo])
    raise RecipeError("libalpha.so and libbravo.so never had the same base address")


def record_lost_records(workshop: Workshop, name: str = "lost-records") -> Recording:
    """Record into buffers too small for it, in discard mode: records are lost."""
    return _record_loss(workshop, name, [_tiny("channel0")], [b"events"])


def record_lost_packets(workshop: Workshop, name: str = "lost-packets") -> Recording:
    """Record into buffers too small for it, in overwrite mode: packets are lost."""
    return _record_loss(
        workshop, name, [_tiny("channel0", overwrite=True)], [b"packets"]
    )


def record_losses(
    workshop: Workshop, name: str = "lost", *, events: int = 400, bursts: int = 4
) -> Recording:
    """Record into a channel that loses records and into one that loses packets."""
    channels = [_tiny("discarding"), _tiny("overwriting", overwrite=True)]
    return _record_loss(
        workshop, name, channels, [b"events", b"packets"], events, bursts
    )


def _tiny(name: str, *, overwrite: bool = False) -> Channel:
    return Channel(
        name=name,
        overwrite=overwrite,
        contexts=("vpid",),
        events=["flood:*"],
        sub_buffer_size=SMALLEST_SUB_BUFFER,
        sub_buffer_count=2,
    )


def _record_loss(
    workshop: Workshop,
    name: str,
    channels: Sequence[Channel],
    wanted: Sequence[bytes],
    events: int = 3000,
    bursts: int = 4,
) -> Recording:
    program = workshop.program("flood")
    run = Program([program, str(events), str(bursts), BURST_PAUSE_MICROSECONDS])
    for attempt in range(LOSS_ATTEMPTS):
        trace = workshop.record(
            f"{name}-{attempt}" if attempt else name, [run], channels
        )
        warnings = b"\n".join(babeltrace(trace).warnings)
        if all(re.search(rb"discarded \d+ " + kind, warnings) for kind in wanted):
            return Recording(trace, [program])
    raise RecipeError(
        f"no loss of {b' and '.join(wanted).decode()}, although buffers are tiny"
    )


def _shares_one_base(trace: Path) -> bool:
    text = babeltrace(trace).stdout
    bases = set(re.findall(rb'library = "\w+", base = (0x[0-9A-F]+)', text))
    return len(bases) == 1


__all__ = [
    "ALL_CONTEXTS",
    "RecipeError",
    "Recording",
    "Workshop",
    "record_assorted",
    "record_crowd",
    "record_fields",
    "record_forking",
    "record_functions",
    "record_greeting",
    "record_lengthy",
    "record_losses",
    "record_lost_packets",
    "record_lost_records",
    "record_reload",
    "record_shapes",
    "record_threads",
    "record_toolchains",
]
