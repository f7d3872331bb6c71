"""Functions of call trees, and what stands where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..debuginfo import Place, Unresolved
from ..units import Address

__all__ = [
    "AFTER_LOSS_FUNCTION",
    "MERGED_FUNCTION",
    "ROOT_FUNCTION",
    "Function",
    "FunctionKind",
]


class FunctionKind(Enum):
    """What a node of the call tree stands for; the value is a phrase for people."""

    FUNCTION = "a function"
    ROOT = "all calls"
    AFTER_LOSS = "after a loss"
    MERGED = "other paths"


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of an object, the same one in all processes that map the object."""

    name: str
    """Its name; where it is not known, the object and the offset, or the address."""
    place: Place | Unresolved | None = None
    """Where it is, or why that is not known; ``None`` if it is no function."""
    address: Address | None = None
    """Its address, in the process where it was seen first."""
    kind: FunctionKind = FunctionKind.FUNCTION
    """Whether it is a function, and what else it stands for."""

    @property
    def source(self) -> str | None:
        """The source file and the line of its beginning."""
        if isinstance(self.place, Place) and self.place.line:
            return f"{self.place.source_path}:{self.place.line}"
        return None

    @property
    def object(self) -> str | None:
        """The path of its object on the traced machine."""
        return self.place.binary.mapping.path if isinstance(self.place, Place) else None

    def __repr__(self) -> str:
        """Show name and source line."""
        return f"Function({self.name!r}, {self.source or self.object})"


ROOT_FUNCTION = Function("(all)", kind=FunctionKind.ROOT)
AFTER_LOSS_FUNCTION = Function("(after a loss)", kind=FunctionKind.AFTER_LOSS)
MERGED_FUNCTION = Function("(other paths)", kind=FunctionKind.MERGED)
