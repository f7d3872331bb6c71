"""What an executable or a library is, as far as tracing it goes.

See elf(5). Only the files of recordings without calls are read.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct

from .._typing import TYPE_CHECKING, NamedTuple
from .programs import interpreter_of_script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    Hooks = Literal["none", "called", "defined"]

__all__ = ["hooks_of", "why_untraceable"]

MAGIC = b"\x7fELF"
CLASS_64 = 2
INTERPRETER = 3
"""``PT_INTERP``: the path of the dynamic linker."""
DYNAMIC_SYMBOLS = 11
"""``SHT_DYNSYM``."""
MOST_INTERPRETERS = 4
"""Of a script whose interpreter is a script, as the kernel has it."""
HOOK = b"\0__cyg_profile_func_enter\0"
OUR_OWN = ("libc.so", "libc-", "libvestige-", "liblttng-ust-cyg-profile")
"""Libraries that define the hooks, and are no programs with hooks of their own."""
MACHINES = {
    3: "32-bit x86",
    8: "MIPS",
    20: "32-bit PowerPC",
    21: "PowerPC",
    22: "S/390",
    40: "32-bit ARM",
    62: "x86-64",
    183: "AArch64",
    243: "RISC-V",
    258: "LoongArch",
}
OWN_MACHINE = {"x86_64": 62, "aarch64": 183, "riscv64": 243, "s390x": 22, "ppc64le": 21}


class _Header(NamedTuple):
    bits: int
    machine: int
    segments: tuple[int, int, int]
    sections: tuple[int, int, int]
    """Offset, size and number of entries."""


def why_untraceable(program: str) -> str | None:
    """Say why the dynamic linker does not load the tracer into a program.

    Args:
        program: The executable.

    Returns:
        The reason, a part of a sentence; ``None`` when nothing speaks against it.
    """
    for _ in range(MOST_INTERPRETERS):
        try:
            with open(program, "rb") as file:
                start = file.read(4096)
                reason = _privileges(program, os.fstat(file.fileno()))
        except OSError as error:
            return f"{program} cannot be read: {error.strerror}"
        interpreter = interpreter_of_script(start)
        if interpreter is None:
            break
        # The script's own privileges are ignored.
        program = interpreter
    if not start.startswith(MAGIC):
        return f"{program} is no ELF file"
    return reason or _why_not_linked(program, start)


def _privileges(program: str, status: os.stat_result) -> str | None:
    """See the section on secure-execution mode in ld.so(8)."""
    whose = None
    if status.st_mode & stat.S_ISUID and status.st_uid != os.getuid():
        whose = "is a set-user-ID program"
    elif status.st_mode & stat.S_ISGID and status.st_gid != os.getgid():
        whose = "is a set-group-ID program"
    elif os.getuid() != 0 and _has_capabilities(program):
        whose = "has file capabilities"
    if whose is None:
        return None
    return f"{program} {whose}: the dynamic linker takes no library for it"


def _has_capabilities(program: str) -> bool:
    try:
        return bool(os.getxattr(program, "security.capability"))
    except OSError:
        return False


def _why_not_linked(program: str, start: bytes) -> str | None:
    header = _read_header(start)
    if header is None:
        return f"{program} is for another architecture"
    own = OWN_MACHINE.get(os.uname().machine)
    if header.bits != 64 or (own is not None and header.machine != own):  # noqa: PLR2004 - bits
        machine = MACHINES.get(header.machine, f"machine {header.machine}")
        return f"{program} is a program for {machine}, and the tracer is not"
    linker = next(
        (
            start[offset : offset + size].rstrip(b"\0")
            for kind, offset, size in _segments(header, start)
            if kind == INTERPRETER
        ),
        None,
    )
    if linker is None:
        return (
            f"{program} is a static program, into which no library is loaded: "
            "link it without -static"
        )
    if b"musl" in linker:
        return f"{program} uses another C library ({os.fsdecode(linker)})"
    return None


def _read_header(start: bytes) -> _Header | None:
    """Read the header; ``None`` for another byte order, or when it is cut off."""
    if len(start) < 64 or start[5] != (1 if struct.pack("=H", 1)[0] else 2):  # noqa: PLR2004 - bytes
        return None
    machine = struct.unpack_from("=H", start, 18)[0]
    if start[4] != CLASS_64:
        return _Header(32, machine, (0, 0, 0), (0, 0, 0))
    segments, sections = struct.unpack_from("=QQ", start, 32)
    size, count, section_size, section_count = struct.unpack_from("=HHHH", start, 54)
    return _Header(
        64,
        machine,
        (segments, size, count),
        (sections, section_size, section_count),
    )


def _segments(header: _Header, start: bytes) -> Iterator[tuple[int, int, int]]:
    """Return kind, offset and size of each segment, as far as the bytes reach."""
    offset, size, count = header.segments
    for index in range(count):
        at = offset + index * size
        if at + 56 > len(start):
            return
        kind, _, place, _, _, length = struct.unpack_from("=IIQQQQ", start, at)
        yield kind, place, length


def hooks_of(path: str) -> Hooks:
    """Tell whether an object was compiled with ``-finstrument-functions``.

    Args:
        path: An executable or a shared library.

    Returns:
        What its dynamic symbols say of the hooks: ``none`` is there, as well when it
        cannot be read; they are ``called``, and others provide them; or they are
        ``defined`` in it.
    """
    if os.path.basename(path).startswith(OUR_OWN):
        return "none"
    try:
        with (
            open(path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            if data.find(HOOK) < 0:
                return "none"
            return _hooks_in(data)
    except (OSError, ValueError, struct.error):
        return "none"


def _hooks_in(data: mmap.mmap) -> Hooks:
    header = _read_header(data[:64])
    if header is None or header.bits != 64:  # noqa: PLR2004 - bits
        return "none"
    offset, size, count = header.sections
    sections = [
        struct.unpack_from("=IIQQQQII", data, offset + index * size)
        for index in range(count)
    ]
    for _, kind, _, _, at, length, link, _ in sections:
        if kind != DYNAMIC_SYMBOLS or link >= count:
            continue
        names = sections[link]
        place = data.find(HOOK, names[4], names[4] + names[5])
        if place < 0:
            return "none"
        wanted = place + 1 - names[4]
        symbols = struct.iter_unpack("=IBBHQQ", data[at : at + length // 24 * 24])
        for name, _, _, section, _, _ in symbols:
            if name == wanted:
                return "defined" if section else "called"
    return "none"
