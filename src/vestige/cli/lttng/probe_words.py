"""Where a probe is, from a word of a command line."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from ..._typing import TYPE_CHECKING
from ...record.rules.kernel_probes import kernel_place, program_place
from .call import FAILED, FailedError

if TYPE_CHECKING:
    from typing import Any

__all__ = ["kernel_location", "program_location"]

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
    found = kernel_place(text)
    if found is None:
        raise FailedError(FAILED, failure)
    return found


def program_location(text: str, failure: str = _NOT_A_PLACE) -> dict[str, Any]:
    """Return a place in a program, as the daemon takes it.

    Args:
        text: ``PATH:FUNCTION``, ``elf:PATH:FUNCTION`` or ``sdt:PATH:PROVIDER:PROBE``,
            where a colon of a path has a backslash.
        failure: What is said if it is none.

    Raises:
        FailedError: It is none, or the program is not there.
    """
    found = program_place(text, lambda name: _path(name, failure))
    if found is None:
        raise FailedError(FAILED, failure)
    if found["type"] == "function":
        _check_function(found["function"])
    return found


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
