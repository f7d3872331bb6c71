"""Where sections of the kernel's modules were loaded.

The kernel tells it to root alone (Linux, ``kernel/module/sysfs.c``), so the process
with the rights reads it, and tells it to the one that writes names.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from ...._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ModuleSections", "loaded_modules"]

_MODULES = "/proc/modules"
_SECTIONS = "/sys/module/{}/sections"
_WORDS = 6
"""Words of a line that are read."""
_MOST_SECTIONS = 1_000
_CODE = re.compile(r"[\w.$-]*text[\w.$-]*", re.ASCII)
"""How sections are called that have functions (Linux, ``module.lds.S``, ``init.h``)."""


class ModuleSections:
    """Sections with code of modules, each module once for each time it is loaded."""

    def __init__(self) -> None:
        self._told: set[tuple[str, int]] = set()

    def more(self) -> dict[str, list[tuple[int, str]]]:
        """Return those of modules that were loaded since.

        Returns:
            Begin and name of each section, by module; nothing where the kernel hides
            addresses.
        """
        found = {}
        with suppress(OSError), open(_MODULES, "rb") as file:
            for name, begin, _ in loaded_modules(file.read()):
                if (name, begin) not in self._told:
                    self._told.add((name, begin))
                    found[name] = list(_sections(name))
        return found


def loaded_modules(text: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield name, begin and size of each module (Linux, ``m_show``).

    Args:
        text: What ``/proc/modules`` says.
    """
    for line in text.decode(errors="replace").splitlines():
        words = line.split()
        with suppress(ValueError):
            if len(words) >= _WORDS and (begin := int(words[5], 16)):
                yield words[0], begin, int(words[1])


def _sections(module: str) -> Iterator[tuple[int, str]]:
    folder = _SECTIONS.format(module)
    with suppress(OSError):
        names = [one for one in os.listdir(folder) if _CODE.fullmatch(one)]
        for name in names[:_MOST_SECTIONS]:
            with open(f"{folder}/{name}", encoding="ascii") as file:
                text = file.read(32)
            with suppress(ValueError):
                if begin := int(text, 16):
                    yield begin, name
