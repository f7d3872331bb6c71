"""Where arguments are by the calling convention of x86-64: its psABI, section 3.2.3.

Without optimization, debug information says only where a function will put them.
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["VECTORS", "conventional_places"]

GENERAL = (5, 4, 1, 2, 8, 9)
"""rdi, rsi, rdx, rcx, r8 and r9, as DWARF counts registers."""
VECTORS = range(17, 25)
"""xmm0 to xmm7, in the same way."""
WORD = 8
"""Bytes of a register, as far as it holds one argument."""
IN_MEMORY = 16
"""What is larger, in bytes, is on the stack."""


def conventional_places(
    types: Sequence[tuple[str, int]], result: tuple[str, int] | None
) -> list[str | int | None]:
    """Say where arguments are.

    Args:
        types: Those of the parameters, each with its size.
        result: That of the result.

    Returns:
        For each the number of a register, ``stack+N``, or ``None`` where that depends
        on what a structure consists of.
    """
    general = list(GENERAL)
    vectors = list(VECTORS)
    used = 0
    is_known = True
    if result is not None and result[0] == "other":
        # A large one has its address in the first register.
        is_known = result[1] > IN_MEMORY
        general.pop(0)
    places: list[str | int | None] = []
    for kind, size in types:
        if kind == "other" and size <= IN_MEMORY:
            is_known = False
        registers = vectors if kind == "float" and size <= WORD else general
        is_in_memory = kind == "other" or size > WORD or not registers
        if not is_known:
            places.append(None)
        elif not is_in_memory:
            places.append(registers.pop(0))
        else:
            if kind == "float" and size > WORD:
                used = -(-used // IN_MEMORY) * IN_MEMORY
            places.append(f"stack+{used}")
            used += -(-max(size, WORD) // WORD) * WORD
    return places
