"""What an executable or a library is, as far as tracing it goes.

See elf(5). Only the files of recordings without any event are read.
"""

from __future__ import annotations

import os
import stat
import struct

from .._typing import TYPE_CHECKING, NamedTuple
from .programs import interpreter_of_script

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_header", "why_untraceable"]

MAGIC = b"\x7fELF"
CLASS_64 = 2
INTERPRETER = 3
"""``PT_INTERP``: the path of the dynamic linker."""
MOST_INTERPRETERS = 4
"""Of a script whose interpreter is a script, as the kernel has it."""
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


class Header(NamedTuple):
    """The header of an ELF file."""

    bits: int
    """Of its addresses."""

    machine: int
    """Whose code it has, by its number."""

    segments: tuple[int, int, int]
    """Offset, size and number of entries."""

    sections: tuple[int, int, int]
    """The same."""


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
    header = read_header(start)
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


def read_header(start: bytes) -> Header | None:
    """Read the header of an ELF file.

    Args:
        start: Its first bytes.

    Returns:
        The header; ``None`` for another byte order, or when it is cut off.
    """
    if len(start) < 64 or start[5] != (1 if struct.pack("=H", 1)[0] else 2):  # noqa: PLR2004 - bytes
        return None
    machine = struct.unpack_from("=H", start, 18)[0]
    if start[4] != CLASS_64:
        return Header(32, machine, (0, 0, 0), (0, 0, 0))
    segments, sections = struct.unpack_from("=QQ", start, 32)
    size, count, section_size, section_count = struct.unpack_from("=HHHH", start, 54)
    return Header(
        64,
        machine,
        (segments, size, count),
        (sections, section_size, section_count),
    )


def _segments(header: Header, start: bytes) -> Iterator[tuple[int, int, int]]:
    """Return kind, offset and size of each segment, as far as the bytes reach."""
    offset, size, count = header.segments
    for index in range(count):
        at = offset + index * size
        if at + 56 > len(start):
            return
        kind, _, place, _, _, length = struct.unpack_from("=IIQQQQ", start, at)
        yield kind, place, length
