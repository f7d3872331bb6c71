"""The place of an address: its object, function, source line and inlined calls."""

from __future__ import annotations

from ..._typing import NamedTuple
from ...units import Address
from ..found_files import DebugSource
from ..images.image import Mapping
from ..unresolved import Unresolved

__all__ = ["Binary", "Frame", "Place"]


class Frame(NamedTuple):
    """A level of calls at an address; all but the outermost were inlined."""

    function: str | None
    """The name of the function."""

    file: str | None
    """The full path of the source file."""

    line: int | None
    """The line: of the instruction, or of the call of the next inner level."""

    linkage_name: str | None = None
    """The name of its symbol, which for C++ and Rust is mangled, when that is known."""


class Binary(NamedTuple):
    """The object at an address."""

    mapping: Mapping
    """The object as the trace describes it."""

    address: Address
    """The address in the process."""

    host_path: str
    """The path where the object was looked for on this machine."""

    is_pic: bool
    """Whether the code is position-independent."""

    is_identified: bool
    """Whether the files that were read are known not to be another object's.

    False when the trace has recorded which object it was, and neither it nor its debug
    file is there.
    """

    @property
    def offset(self) -> int:
        """The distance of the address from the object's base."""
        return self.address - self.mapping.base


class Place(NamedTuple):
    """Where an address lies; each part that is not known is ``None``."""

    binary: Binary
    """The object."""

    source: DebugSource
    """Which file gave the names."""

    function: str | None = None
    """The innermost function that is not inlined."""

    offset: int = 0
    """The distance from the entry of that function."""

    linkage_name: str | None = None
    """The name of its symbol, which for C++ and Rust is mangled, when that is known."""

    directory: str | None = None
    """The directory of the source file."""

    file: str | None = None
    """The name of the source file in that directory."""

    line: int | None = None
    """The source line."""

    column: int | None = None
    """The column in that line."""

    frames: tuple[Frame, ...] = ()
    """The calls that were inlined here, innermost first, and ``function`` at the end.

    Empty when nothing is inlined. Helpers of a tracepoint are left out.
    """

    shortfall: Unresolved | None = None
    """Why the function or the line is missing, when one of them is."""

    @property
    def source_path(self) -> str | None:
        """The full path of the source file, as far as it is known."""
        if not self.file or not self.directory or self.file.startswith("/"):
            return self.file
        return f"{self.directory.rstrip('/')}/{self.file}"

    def __str__(self) -> str:
        """Write the place in a few words, for people: function, file and line."""
        where = f"{self.source_path}:{self.line}" if self.line else None
        name = self.function or self.binary.mapping.path
        return name if where is None else f"{name} at {where}"
