"""The answer for one address of a file or a process."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..found_files import FoundFiles
    from .place import Frame, Place

__all__ = ["Symbolized"]


class Symbolized(NamedTuple):
    """The answer for one address."""

    address: int | None
    """The address; ``None`` where there was none to look up."""
    object: str | None = None
    """Path of its object."""
    files: FoundFiles | None = None
    """The files of the object, and the log of the search."""
    place: Place | None = None
    """What is at the address."""
    frames: tuple[Frame, ...] = ()
    """The calls, innermost first; one if nothing is inlined, none if nothing is known.

    The last is the function of :attr:`place`.
    """
    reason: str | None = None
    """Why there is no function, or no line."""

    @property
    def bits(self) -> int:
        """Width of the addresses of the object."""
        files = self.files
        known = None if files is None else files.object or files.debug
        return 64 if known is None else known.bits
