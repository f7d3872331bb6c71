"""Functions of call stacks, with those that were inlined into them."""

from __future__ import annotations

from collections.abc import Iterator

from ... import core
from ..._typing import TYPE_CHECKING
from ...debuginfo import Place
from ...units import Address
from ..function_names import without_appended
from ..functions import Function
from .found import Frame

if TYPE_CHECKING:
    from ...debuginfo import Unresolved

__all__ = ["Frames"]

_MORE = (1 << 64) - 1
"""The address that stands for callers which are missing."""
_KERNEL_HALF = 1 << 63
_USER_HALF = 1 << 57
"""Behind the addresses of programs, on any machine."""
_UNKNOWN = "[unknown]"
"""What is in no object that the trace tells of, as perf calls it."""
_LIBRARY = ".so"


class Frames:
    """Makes frames of the numbers of call stacks, each function once.

    Args:
        column: Where the call stacks are.
    """

    def __init__(self, column: core.PlaceColumn) -> None:
        self._column = column
        self._functions: dict[tuple[str, str | None], Function] = {}
        self._known: dict[tuple[int, bool], tuple[Frame, ...]] = {}
        self._cut: set[int] = set()

    def of(self, user: int | None, kernel: int | None) -> tuple[Frame, ...]:
        """Return the frames of an event record, outermost first.

        Args:
            user: The number of the stack of its program; ``None`` for none.
            kernel: The number of that of the kernel.
        """
        return (*self._of(user, is_kernel=False), *self._of(kernel, is_kernel=True))

    def is_cut(self, user: int | None) -> bool:
        """Tell whether a stack of a program lacks its outermost callers.

        Args:
            user: Its number, of which the frames were asked for.
        """
        return user in self._cut

    def _of(self, number: int | None, *, is_kernel: bool) -> tuple[Frame, ...]:
        if number is None:
            return ()
        known = self._known.get((number, is_kernel))
        if known is None:
            found: list[Frame] = []
            for address, place in self._column.stack(number, is_kernel):
                if address >= _USER_HALF and not (is_kernel and address != _MORE):
                    # Callers are missing, or what was taken for one is none. Those of
                    # the kernel have numbers of their own.
                    if not is_kernel:
                        self._cut.add(number)
                    break
                found += self._frames(place, address)
            known = self._known[number, is_kernel] = tuple(reversed(found))
        return known

    def _frames(self, place: object, address: int) -> Iterator[Frame]:
        """Yield the functions at an address, those that were inlined first."""
        is_kernel = address >= _KERNEL_HALF
        if not isinstance(place, Place):
            function = self._function(_UNKNOWN, None, None, address)
            yield Frame(function, is_kernel, is_library=False, source=None)
            return
        path = place.binary.mapping.path
        is_library = _LIBRARY in path.rpartition("/")[2]
        if place.frames:
            rows = [(one.function, one.file, one.line) for one in place.frames]
        else:
            rows = [(place.function, place.file, place.line)]
        for name, file, line in rows:
            unnamed = f"{path.rpartition('/')[2]}+0x{place.binary.offset:x}"
            shown = without_appended(name) if name is not None else unnamed
            function = self._function(shown, path, place, address)
            source = f"{(file or '').rpartition('/')[2]}:{line}" if line else None
            yield Frame(function, is_kernel, is_library, source)

    def _function(
        self,
        name: str,
        path: str | None,
        place: Place | Unresolved | None,
        address: int,
    ) -> Function:
        key = name, path
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = Function(name, place, Address(address))
        return found
