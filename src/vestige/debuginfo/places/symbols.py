"""Finding and reading the symbols of one file, without a trace."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable

from ..._typing import TYPE_CHECKING
from ...errors import DebugInfoError
from ...units import Address
from ..files.finder import DebugFileFinder
from ..files.options import DebugInfoOptions
from ..found_files import FoundFiles
from ..images.image import DebugLink, Mapping
from ..unresolved import Unresolved
from .place import Place
from .resolver import Resolver

if TYPE_CHECKING:
    from typing import Self

__all__ = ["SymbolTable", "find"]


def find(
    path: str | os.PathLike[str] | None = None,
    *,
    build_id: bytes | str | None = None,
    debug_link: DebugLink | None = None,
    options: DebugInfoOptions | None = None,
) -> FoundFiles:
    """Find an object and the file that has its symbols.

    Args:
        path: The object, on the machine where it ran when ``options`` has target
            prefixes, else on this one. Without it the build ID must be given.
        build_id: The build ID that the object must have, as bytes or hexadecimal
            digits. A debug file with it is good without the object.
        debug_link: The name and CRC-32 of the debug file, when the object is not here
            to state them.
        options: Where to look.

    Returns:
        The files, and each place tried with the reason why it was not used. A search
        that finds nothing is no error.

    Raises:
        ValueError: Neither path nor build ID is given, or the build ID is not
            hexadecimal.

    Example:
        >>> for attempt in vestige.debuginfo.find("/usr/bin/ls").attempts:
        ...     print(attempt)
    """
    if path is None and build_id is None:
        message = "a path or a build ID is needed to find an object"
        raise ValueError(message)
    finder = DebugFileFinder.of(options or DebugInfoOptions())
    return finder.find(_wanted(path, build_id, debug_link))


class SymbolTable:
    """The functions and source lines of an object, by the addresses in its file.

    Use :meth:`open` to make one.

    Args:
        files: The object and its debug file.
        resolver: Looks up addresses in them.
        mapping: The object, mapped where its file says.
    """

    def __init__(self, files: FoundFiles, resolver: Resolver, mapping: Mapping) -> None:
        self.files = files
        """The files that were found, and the log of the search."""
        self._resolver = resolver
        self._mapping = mapping

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], options: DebugInfoOptions | None = None
    ) -> Self:
        """Open an object, and find its debug file.

        Args:
            path: An executable, a shared object or a debug file.
            options: Where to look for debug files.

        Returns:
            Its symbols.

        Raises:
            DebugInfoError: The object is not there or no usable ELF file, and no debug
                file can be found without it.

        Example:
            >>> table = vestige.debuginfo.SymbolTable.open("/usr/bin/ls")
            >>> print(table.lookup([0x6B10])[0])
        """
        options = options or DebugInfoOptions()
        finder = DebugFileFinder.of(options)
        mapping = _wanted(path)
        files = finder.find(mapping)
        known = files.object or files.debug
        if known is None:
            refusal = files.object_refusal
            reason = "no usable file" if refusal is None else refusal.reason
            raise DebugInfoError(reason, path=files.host_path)
        # Mapped at the address it is linked to, addresses are those of the file.
        whole = Mapping(
            Address(known.link_base), 1 << known.bits, mapping.path, known.is_pic
        )
        resolver = Resolver(
            finder,
            full_path=options.full_path,
            demangle=options.demangle,
            hide_helpers=False,
        )
        return cls(files, resolver, whole)

    @property
    def problems(self) -> list[str]:
        """What of the files beside the debug file is missing or not the right one.

        A file of split DWARF is only noticed once a look-up has needed it.
        """
        return self._resolver.problems(self._mapping)

    def lookup(self, addresses: Iterable[int]) -> list[Place | Unresolved]:
        """Look up addresses in the file, as ``nm`` and ``objdump`` show them.

        Args:
            addresses: Integers, or a one-dimensional array of integers with the buffer
                protocol, such as ``array.array("Q")`` or an array of NumPy. Each
                distinct address is looked up once.

        Returns:
            For each address its place, or why there is none.

        Raises:
            TypeError: What is given holds something else than integers.
            ValueError: A number is no address of the object's width.
        """
        wanted = _integers(addresses)
        distinct = list(dict.fromkeys(wanted))
        end = self._mapping.size
        for address in distinct:
            # A negative one is how a signed array holds the upper half.
            if not -end // 2 <= address < end:
                message = f"{address:#x} is no address of {end.bit_length() - 1} bits"
                raise ValueError(message)
        pairs = [(self._mapping, Address(address)) for address in distinct]
        places = dict(zip(distinct, self._resolver.resolve_many(pairs), strict=True))
        return [places[address] for address in wanted]


def _wanted(
    path: str | os.PathLike[str] | None,
    build_id: bytes | str | None = None,
    debug_link: DebugLink | None = None,
) -> Mapping:
    name = "" if path is None else os.path.abspath(path)  # noqa: PTH100 - of bytes too
    return Mapping(
        Address(0),
        0,
        os.fsdecode(name),
        build_id=bytes.fromhex(build_id) if isinstance(build_id, str) else build_id,
        debug_link=debug_link,
    )


def _integers(addresses: Iterable[int]) -> list[int]:
    if isinstance(addresses, str | bytes | bytearray):
        message = f"addresses are integers, not {type(addresses).__name__}"
        raise TypeError(message)
    try:
        view = memoryview(addresses)  # type: ignore[arg-type] # asks for the protocol
    except TypeError:
        found = list(addresses)
    else:
        if view.ndim != 1:
            message = (
                f"addresses are a one-dimensional array, not {view.ndim} dimensions"
            )
            raise TypeError(message)
        try:
            found = view.tolist()
        except NotImplementedError:  # another byte order
            found = list(addresses)
    # Numbers of NumPy are no int, and say how they become one.
    return [operator.index(one) for one in found]
