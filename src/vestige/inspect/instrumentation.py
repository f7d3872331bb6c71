"""Functions that a compiler has instrumented, found in a binary.

See "Program Instrumentation Options" in the GCC manual. Those of ``-pg`` alone, which
call ``mcount`` when they have begun, are not recorded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from .elf import DYNAMIC_SYMBOLS, SYMBOLS, ElfImage

__all__ = ["Instrumentation", "instrumentation_of"]

HOOKS = {
    "-finstrument-functions": (b"__cyg_profile_func_enter",),
    "-pg": (b"mcount", b"_mcount", b"__mcount"),
    "-pg -mfentry": (b"__fentry__",),
}
PATCHABLE = "__patchable_function_entries"
X86_64 = 62
_BRANCH_TARGET = b"\xf3\x0f\x1e\xfa"
"""``endbr64``."""
_CALL = re.compile(rb"\xe8|\xff\x15")
"""``call`` of an address, and of what a slot holds, relative to what follows."""


class Instrumentation(NamedTuple):
    """Functions that are instrumented in one way."""

    option: str
    """The compiler's option."""
    functions: int | None
    """How many; ``None`` on machines whose instructions are not known here."""
    is_recorded: bool = False
    """Whether ``vestige record`` records their calls."""


def instrumentation_of(image: ElfImage) -> list[Instrumentation]:
    """Return how functions of a binary are instrumented.

    Args:
        image: A binary.

    Returns:
        Each way.
    """
    found = []
    for option, names in HOOKS.items():
        targets = _targets(image, names)
        if targets is None:
            continue
        count = _count(image, *targets) if image.machine == X86_64 else None
        if count != 0:
            is_recorded = option != "-pg"
            found.append(Instrumentation(option, count, is_recorded=is_recorded))
    section = image.section(PATCHABLE)
    if section is not None and section.size:
        count = section.size // image.word_size
        is_recorded = image.machine == X86_64 and image.is_64
        option = "-fpatchable-function-entry"
        found.append(Instrumentation(option, count, is_recorded=is_recorded))
    return found


def _targets(
    image: ElfImage, names: tuple[bytes, ...]
) -> tuple[set[int], set[int]] | None:
    """Return where the hooks are, and the slots that will hold their addresses."""
    addresses = set()
    is_there = False
    for kind in (DYNAMIC_SYMBOLS, SYMBOLS):
        for symbol in image.symbols(kind):
            if symbol.name.partition(b"@")[0] in names:
                is_there = True
                if symbol.is_defined:
                    addresses.add(symbol.value)
    if not is_there:
        return None
    slots = {fix.place for fix in image.relocations() if fix.symbol in names}
    return addresses, slots


def _count(image: ElfImage, addresses: set[int], slots: set[int]) -> int:
    """Count the functions with calls of hooks; the calls, where no names are left."""
    known: dict[int, bool] = {}

    def is_hook(target: int) -> bool:
        if target not in known:
            known[target] = target in addresses or _slot_of(image, target) in slots
        return known[target]

    places = []
    for section in image.code:
        if section.name.startswith(".plt"):
            continue
        content = image.content(section)
        for match in _CALL.finditer(content):
            end = match.end() + 4
            distance = int.from_bytes(content[end - 4 : end], "little", signed=True)
            target = section.address + end + distance
            if target in slots if match[0] == b"\xff\x15" else is_hook(target):
                places.append(section.address + match.start())
    starts = sorted(
        {
            symbol.value
            for symbol in image.symbols(SYMBOLS)
            if symbol.is_function and symbol.is_defined
        }
    )
    if not starts:
        return len(places)
    return len({bisect_right(starts, place) for place in places})


def _slot_of(image: ElfImage, address: int) -> int | None:
    """Return the slot that an entry of a procedure linkage table jumps through."""
    code = image.at(address, 16)
    end = 0
    if code.startswith(_BRANCH_TARGET):
        end = len(_BRANCH_TARGET)
    if code[end : end + 1] == b"\xf2":
        end += 1
    if code[end : end + 2] != b"\xff\x25":
        return None
    end += 6
    distance = int.from_bytes(code[end - 4 : end], "little", signed=True)
    return address + end + distance
