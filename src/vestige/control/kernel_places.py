"""Where probes are, as texts: in the kernel, or in a program."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from typing import Any

from ..errors import SelectionError
from ..record.rules.kernel_probes import kernel_place, program_place

__all__ = ["place_text", "read_place"]

_EXPECTED = {
    "probe": "SYMBOL, SYMBOL+OFFSET or an address of the kernel",
    "function": "SYMBOL, SYMBOL+OFFSET or an address of the kernel",
    "userspace-probe": (
        "PATH:FUNCTION, elf:PATH:FUNCTION or sdt:PATH:PROVIDER:PROBE, with a backslash "
        "before colons of the path"
    ),
}
"""What places are like, by the types of rules."""


def read_place(text: str | None, kind: str) -> dict[str, Any] | None:
    """Return a place as the daemon takes it.

    Args:
        text: What was given.
        kind: The type of its rule.

    Returns:
        The place; ``None`` for a rule that needs none.

    Raises:
        SelectionError: It is none, or a rule of this type has none.
    """
    expected = _EXPECTED.get(kind)
    if expected is None:
        if text is not None:
            raise SelectionError(
                f"location={text!r}: expected a rule of type "
                f"{', '.join(map(repr, _EXPECTED))}, not {kind!r}"
            )
        return None
    found = None
    if isinstance(text, str):
        is_program = kind == "userspace-probe"
        found = program_place(text, _path) if is_program else kernel_place(text)
    if found is None:
        raise SelectionError(f"location={text!r}: expected {expected}")
    return found


def _path(name: str) -> str:
    """Return the whole path of a program; a link stays one, as for LTTng."""
    if "/" not in name:
        found = shutil.which(name, os.F_OK)
        if found is None:
            raise SelectionError(f"location: no program '{name}' is in PATH")
        name = found
    return os.path.abspath(name)  # noqa: PTH100 - it would follow links


def place_text(place: Mapping[str, Any]) -> str:
    """Return the text of a place.

    Args:
        place: As :mod:`vestige.daemon.probe_locations` has it.
    """
    match place["type"]:
        case "address":
            return f"{place['address']:#x}"
        case "symbol":
            offset = place["offset"]
            return f"{place['name']}+{offset:#x}" if offset else str(place["name"])
        case "function":
            words = ["elf", place["path"], place["function"]]
        case _:
            words = ["sdt", place["path"], place["provider"], place["probe"]]
    return ":".join(re.sub(r"([\\:])", r"\\\1", one) for one in words)
