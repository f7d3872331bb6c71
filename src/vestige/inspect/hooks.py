"""Whether an object was compiled with ``-finstrument-functions``; see elf(5)."""

from __future__ import annotations

import os

from .._typing import TYPE_CHECKING
from .programs import has_bytes

if TYPE_CHECKING:
    from mmap import mmap
    from typing import Literal

    Hooks = Literal["none", "called", "defined"]

__all__ = ["hooks_of"]

DYNAMIC_SYMBOLS = 11
"""``SHT_DYNSYM``."""
HOOK = b"\0__cyg_profile_func_enter\0"
OUR_OWN = ("libc.so", "libc-", "libvestige-", "liblttng-ust-cyg-profile")
"""Libraries that define the hooks, and are no programs with hooks of their own."""


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
        return _hooks_in(path) if has_bytes(path, HOOK) else "none"
    except (OSError, ValueError):
        return "none"


def _hooks_in(path: str) -> Hooks:
    # Most objects come not so far, and their recordings do not wait for these.
    from mmap import ACCESS_READ, mmap  # noqa: PLC0415 - see above
    from struct import error  # noqa: PLC0415

    with open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        try:
            return _hooks_of_symbols(data)
        except error:
            return "none"


def _hooks_of_symbols(data: mmap) -> Hooks:
    import struct  # noqa: PLC0415 - as above

    from .program_file import read_header  # noqa: PLC0415

    header = read_header(data[:64])
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
