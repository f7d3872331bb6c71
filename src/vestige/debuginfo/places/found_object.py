"""A mapped object with the files that were found of it."""

from __future__ import annotations

from collections.abc import Sequence

from ... import core
from ..._typing import NamedTuple
from ...units import Address, FileAddress
from ..found_files import FoundFiles
from ..images.image import Mapping
from ..object_file import ObjectFile, SymbolReader
from ..unresolved import Unresolved
from .formatting import encodable_text, object_name
from .place import Binary

__all__ = ["FoundObject", "section_address"]

_ALL_BITS = (1 << 64) - 1


class FoundObject(NamedTuple):
    """A mapped object with the files that were found of it."""

    mapping: Mapping
    """The object as the trace describes it."""
    host_path: str
    """The path where the object was looked for on this machine."""
    files: FoundFiles
    """The files."""
    table: SymbolReader | Unresolved
    """Its symbols, or why there are none."""

    @property
    def is_pic(self) -> bool:
        """Whether the code is position-independent."""
        if self.mapping.is_pic is not None:
            return self.mapping.is_pic
        known = self.files.object or self.files.debug
        return True if known is None else known.is_pic

    @property
    def is_identified(self) -> bool:
        """Whether the files are known not to be another object's."""
        if self.mapping.kernel is not None:
            return True
        if self.files.object is not None or self.files.debug is not None:
            return True
        return self.mapping.build_id is None and not self.files.is_other_file

    def binary(self, ip: Address) -> Binary:
        """Return the object at an address of the process."""
        return Binary(self.mapping, ip, self.host_path, self.is_pic, self.is_identified)

    def file_address(self, ip: Address) -> FileAddress:
        """Return the address in the file of an address in the process."""
        return FileAddress((ip + self._shift) & self._mask)

    def form(
        self, *, full_path: bool, demangle: bool, helpers: Sequence[str]
    ) -> core.PlaceFormat | None:
        """Return how the core writes the places in the object.

        Args:
            full_path: Whether to write whole paths.
            demangle: Whether functions have their readable names.
            helpers: How the names of the functions begin that are left out.

        Returns:
            The form; ``None`` when nothing may be written.
        """
        if not self.is_identified:
            return None
        return core.PlaceFormat(
            encodable_text(object_name(self.host_path, full_path=full_path)),
            base=self.mapping.base if self.is_pic else None,
            shift=self._shift & _ALL_BITS,
            mask=self._mask,
            full_path=full_path,
            demangle=demangle,
            helpers=helpers,
        )

    @property
    def link_base(self) -> int:
        """The file address that is at the base of the mapping."""
        known = self.files.object or self.files.debug
        if known is None:
            return 0
        kernel = self.mapping.kernel
        if kernel is None:
            return known.link_base
        if kernel.section is None:
            # The lowest segment of the kernel is no code.
            return known.text_base
        return section_address(known, kernel.section) or 0

    @property
    def _shift(self) -> int:
        # From an address in the process to that in the file.
        if not self.is_pic:
            return 0
        bias_base = 0 if self.mapping.base_is_bias else self.link_base
        return bias_base - self.mapping.base

    @property
    def _mask(self) -> int:
        known = self.files.object or self.files.debug
        bits = 64 if known is None else known.bits
        return (1 << bits) - 1


def section_address(file: ObjectFile, name: str) -> int | None:
    """Return the file address of a section with code.

    Args:
        file: The file.
        name: Its name; of several, the first one is meant.

    Returns:
        The address, or ``None`` if there is no such section.
    """
    found = (address for one, address, _ in file.code_sections if one == name)
    return next(found, None)
