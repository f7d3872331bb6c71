"""Functions of the kernel, as a trace of it names them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ..._typing import NamedTuple

__all__ = ["KernelCode", "KernelFunction"]


class KernelFunction(NamedTuple):
    """A function of the kernel."""

    begin: int
    """Its first address."""
    size: int
    """Its bytes."""
    name: str
    """Its name."""


class KernelCode:
    """What a trace tells of the kernel or of a module; each is itself alone.

    Args:
        functions: The functions, by their addresses.
        release: The release of the kernel.
        is_linked: Whether its file has addresses, as that of the kernel.
        section: The section of a module that it is, in whose file sections have no
            addresses; ``None``: nobody knows, or it is no module.
    """

    def __init__(
        self,
        functions: Sequence[KernelFunction],
        release: str,
        *,
        is_linked: bool = False,
        section: str | None = None,
    ) -> None:
        self.release = release
        self.is_linked = is_linked
        self.section = section
        self._functions = functions
        self._begins = [one.begin for one in functions]

    @property
    def may_have_file(self) -> bool:
        """Whether a file can say more of it."""
        return self.is_linked or self.section is not None

    def at(self, address: int) -> KernelFunction | None:
        """Return the function at an address, if the trace names one.

        Args:
            address: An address of the kernel.
        """
        index = bisect_right(self._begins, address)
        if not index:
            return None
        found = self._functions[index - 1]
        return found if address - found.begin < found.size else None
