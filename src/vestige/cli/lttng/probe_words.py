"""Where a probe is, from a word of a command line."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from ..._typing import TYPE_CHECKING
from .call import FAILED, FailedError

if TYPE_CHECKING:
    from typing import Any

__all__ = ["kernel_location", "program_location"]

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_NOT_A_PLACE = "Failed to parse user space probe location."


def kernel_location(text: str) -> dict[str, Any]:
    """Return a place in the kernel, as the daemon takes it.

    Args:
        text: ``SYMBOL``, ``SYMBOL+OFFSET`` or an address.

    Raises:
        FailedError: It is none.
    """
    name, plus, offset = text.partition("+")
    if plus and name and _NUMBER.fullmatch(offset):
        return {"type": "symbol", "name": name, "offset": int(offset, 0)}
    if not plus and re.match(r"[A-Za-z_]", text):
        return {"type": "symbol", "name": text, "offset": 0}
    if not _NUMBER.fullmatch(text):
        raise FailedError(FAILED, "Failed to parse kernel probe location.")
    return {"type": "address", "address": int(text, 0)}


def program_location(text: str) -> dict[str, Any]:
    """Return a place in a program, as the daemon takes it.

    Args:
        text: ``PATH:FUNCTION``, ``elf:PATH:FUNCTION`` or ``sdt:PATH:PROVIDER:PROBE``,
            where a colon of a path has a backslash.

    Raises:
        FailedError: It is none, or the program is not there.
    """
    parts = [re.sub(r"\\(.)", r"\1", one) for one in re.split(r"(?<!\\):", text)]
    match parts:
        case [path, function] | ["elf", path, function]:
            found = {"type": "function", "path": _path(path), "function": function}
        case ["sdt", path, provider, probe]:
            place = _path(path)
            found = {"type": "tracepoint", "path": place, "provider": provider}
            found["probe"] = probe
        case _:
            raise FailedError(FAILED, _NOT_A_PLACE)
    return found


def _path(name: str) -> str:
    """Return the real path of a program, which may be one of ``$PATH``."""
    path = Path(name) if "/" in name else None
    if path is None:
        found = shutil.which(name, os.F_OK)
        path = None if found is None else Path(found)
    if path is None or not path.exists():
        raise FailedError(FAILED, f"Binary not found.\n{_NOT_A_PLACE}")
    return os.path.realpath(path)
