"""What Vestige compiles from C: which files, and how.

``setup.py`` builds it; ``tools/compile_c.py`` lets the compiler check it. This needs nothing
but the standard library.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "CONTROL_LIBRARY",
    "EXTENSION",
    "REGISTER",
    "ROOMS",
    "Part",
    "extension",
    "native_parts",
]

TRACER = Path("tracer")
CONTROL = Path("control")
ROOMS = ("base", "arena", "stream", "objects", "rules", "hooks", "lttng", "patch")
"""The folders of ``tracer`` that make up the tracer itself."""
HELPERS = {"libc": ("libc.c",), "pthread": ("pthread.c",), "dl": ("dl.c", "caller.c")}
"""What stands in for functions of the C library."""
CONTROL_ROOMS = ("protocol", "channels", "sessions", "triggers")
"""The folders of ``control`` that make up the control library."""
CONTROL_LIBRARY = "lib/liblttng-ctl.so.0"
EXTENSION = "_native.abi3.so"
REGISTER = "lib/vestige-register.o"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow")
COMMON = ("-std=gnu11", "-O2", *WARNINGS, "-Wl,--build-id")
LIBRARY = (*COMMON, "-g", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-exceptions")
HEADERS = f"-I{TRACER / 'include'}"


class Part(NamedTuple):
    """A library or a program.

    Attributes:
        name: Its file.
        flags: How its sources are compiled and linked.
        sources: What it is compiled from.
        libraries: What it is linked with.
    """

    name: str
    flags: tuple[str, ...]
    sources: tuple[Path, ...]
    libraries: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """Those of the compiler, but for the file to write."""
        return [*self.flags, *map(str, self.sources), *self.libraries]


def native_parts(version: str) -> Iterator[Part]:
    """Yield what goes into traced programs, and what measures its cost.

    Args:
        version: That of Vestige.
    """
    # The auditing library looks for a symbol by the table that counts them.
    linked = "-Wl,-z,now,-z,nodelete,--hash-style=both,-soname,libvestige-tracer.so"
    yield Part(
        "libvestige-tracer.so",
        (*LIBRARY, HEADERS, linked, version_flag(version)),
        tuple(source for room in ROOMS for source in sources_in(room)),
        ("-lpthread",),
    )
    # It has no C library: a call that the compiler made up for a loop would find nothing.
    alone = ("-nostdlib", "-fno-builtin", "-fno-stack-protector", "-Wl,-z,defs,-z,now")
    yield Part("libvestige-audit.so", (*LIBRARY, *alone), sources_in("audit"))
    yield Part(
        "libvestige-audit-calls.so",
        (*LIBRARY, *alone, "-DVESTIGE_BINDINGS"),
        sources_in("audit"),
    )
    yield Part(
        "libvestige-close.so",
        (*LIBRARY, "-Wl,-z,now,-z,nodelete"),
        sources_in("close"),
        ("-ldl",),
    )
    # Functions that these stand in for must not be taken for known ones.
    unknown = [
        f"-fno-builtin-{name}" for name in ("malloc", "calloc", "realloc", "free")
    ]
    standing_in = (
        "-ftls-model=initial-exec",
        HEADERS,
        f"-I{TRACER / 'helpers'}",
        "-Wl,-z,now,-z,nodelete",
    )
    for name, files in HELPERS.items():
        sources = tuple(TRACER / "helpers" / file for file in files)
        flags = (*LIBRARY, *unknown, *standing_in)
        yield Part(f"libvestige-{name}.so", flags, sources, ("-ldl",))
    yield from lttng_parts()
    # What programs link that ask for lttng-ust.
    object_file = ("-fPIC", "-fvisibility=hidden", "-fno-exceptions", HEADERS)
    joined = ("-r", "-nostdlib")
    linked_in = (*sources_in("link"), TRACER / "base/vfork.c")
    yield Part(REGISTER, (*COMMON[:-1], *object_file, *joined), linked_in)
    yield control_library()
    # A program like those that are recorded.
    yield Part("call-cost", (*COMMON, "-finstrument-functions"), sources_in("cost"))


def lttng_parts() -> Iterator[Part]:
    """Yield what stands in for LTTng-UST's libraries, or goes between them and programs."""
    flags = (*LIBRARY, HEADERS, "-Wl,-z,now,-z,nodelete")
    front = TRACER / "lttng/front"
    names = ("library", "messages", "services")
    sources = tuple(front / f"{name}.c" for name in names)
    # An auditor gives both names to the first one; where there is none, each has its own.
    for name in ("", "-tracepoint"):
        soname = f"-Wl,-soname,liblttng-ust{name}.so.1"
        yield Part(f"libvestige-lttng{name}.so", (*flags, soname), sources, ("-ldl",))
    beside = (front / "beside.c",)
    yield Part("libvestige-lttng-beside.so", flags, beside, ("-ldl",))


def control_library() -> Part:
    """Return the library with the functions of ``lttng/lttng.h``."""
    exported = (
        "-fvisibility=default",
        "-pthread",
        f"-I{CONTROL / 'include'}",
        f"-Wl,--version-script={CONTROL / 'liblttng-ctl.map'}",
    )
    # Programs that were linked with parts of LTTng have functions of the same names.
    alone = "-Wl,-Bsymbolic-functions,-z,defs,-z,now,-soname,liblttng-ctl.so.0"
    sources = tuple(
        source
        for room in CONTROL_ROOMS
        for source in sorted((CONTROL / room).glob("*.c"))
    )
    return Part(CONTROL_LIBRARY, (*LIBRARY, *exported, alone), sources)


def extension(version: str) -> Part:
    """Return what Python programs are traced with, for the stable ABI.

    Args:
        version: That of Vestige.
    """
    python = ("-isystem", sysconfig.get_path("include"))
    # Functions are chosen by the same patterns in programs of all kinds, which all find the
    # tracer of a session daemon.
    shared = (
        TRACER / "rules/patterns.c",
        TRACER / "link/tracer_path.c",
        TRACER / "link/waiting.c",
    )
    sources = (*sources_in("python"), *shared)
    flags = (*LIBRARY, HEADERS, *python, version_flag(version))
    return Part(EXTENSION, flags, sources, ("-ldl",))


def sources_in(room: str) -> tuple[Path, ...]:
    """Return the sources in a folder of ``tracer``."""
    return tuple(sorted((TRACER / room).glob("*.c")))


def version_flag(version: str) -> str:
    """Return the option that tells sources the version."""
    return f'-DVESTIGE_VERSION="{version}"'
