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
UNSUPPORTED = 5
"""The exit status of a kind of place that LTTng does not have, either."""


def kernel_location(
    text: str, failure: str = "Failed to parse kernel probe location."
) -> dict[str, Any]:
    """Return a place in the kernel, as the daemon takes it.

    Args:
        text: ``SYMBOL``, ``SYMBOL+OFFSET`` or an address.
        failure: What is said if it is none.

    Raises:
        FailedError: It is none.
    """
    name, plus, offset = text.partition("+")
    if plus and name and _NUMBER.fullmatch(offset):
        return {"type": "symbol", "name": name, "offset": int(offset, 0)}
    if not plus and re.match(r"[A-Za-z_]", text):
        return {"type": "symbol", "name": text, "offset": 0}
    if not _NUMBER.fullmatch(text):
        raise FailedError(FAILED, failure)
    return {"type": "address", "address": int(text, 0)}


def program_location(text: str, failure: str = _NOT_A_PLACE) -> dict[str, Any]:
    """Return a place in a program, as the daemon takes it.

    Args:
        text: ``PATH:FUNCTION``, ``elf:PATH:FUNCTION`` or ``sdt:PATH:PROVIDER:PROBE``,
            where a colon of a path has a backslash.
        failure: What is said if it is none.

    Raises:
        FailedError: It is none, or the program is not there.
    """
    parts = [re.sub(r"\\(.)", r"\1", one) for one in re.split(r"(?<!\\):", text)]
    match parts:
        case [path, function] | ["elf", path, function]:
            real = _path(path, failure)
            _check_function(function)
            return {"type": "function", "path": real, "function": function}
        case ["sdt", path, provider, probe]:
            place = {"type": "tracepoint", "path": _path(path, failure)}
            return {**place, "provider": provider, "probe": probe}
    raise FailedError(FAILED, failure)


def _check_function(name: str) -> None:
    """Refuse addresses, which LTTng does not have in programs."""
    what = "address" if name[:1].isdigit() else "symbol+offset"
    if name[:1].isdigit() or re.search(r".\+[0-9]", name):
        raise FailedError(UNSUPPORTED, f"Userspace probe on {what} not supported yet.")


def _path(name: str, failure: str) -> str:
    """Return the whole path of a program; a link stays one, as for LTTng."""
    if "/" not in name:
        found = shutil.which(name, os.F_OK)
        if found is None:
            raise FailedError(FAILED, f"Binary not found.\n{failure}")
        return os.path.abspath(found)  # noqa: PTH100 - it would follow links
    path = os.path.abspath(name)  # noqa: PTH100 - as above
    if not Path(path).exists():
        raise FailedError(FAILED, f"Cannot find binary at path: {path}.\n{failure}")
    return path
