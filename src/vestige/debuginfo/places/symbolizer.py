"""Addresses of one file or of one running process, without a trace.

:class:`FileSymbolizer` takes file addresses, as ``addr2line`` does;
:class:`ProcessSymbolizer` takes addresses in the memory of a process. Both use the
separate debug files that :class:`DebugFileFinder` finds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..._typing import TYPE_CHECKING, Protocol
from ...errors import DebugInfoError
from ...units import Address
from .. import object_file
from ..attempt import Outcome, Refusal
from ..files.finder import DebugFileFinder
from ..found_files import DebugSource, FoundFiles
from ..images.image import Mapping
from ..tables.cached_table import save_due
from ..unresolved import Reason, Unresolved
from .answer_text import AnswerForm, TextAnswers
from .symbolized import Symbolized

if TYPE_CHECKING:
    from ..images.running_process import RunningObject, RunningProcess
    from .place import Place
    from .resolver import Resolver

__all__ = ["FileSymbolizer", "ProcessSymbolizer", "Symbolizer"]

_NOWHERE = (1 << 64) - 1
_WITHOUT_DWARF = (DebugSource.NONE, DebugSource.SYMBOLS_ONLY, DebugSource.MINI)


class Symbolizer(Protocol):
    """Answers for addresses."""

    def look_up(self, addresses: Sequence[int]) -> list[Symbolized]:
        """Look up addresses.

        Args:
            addresses: The addresses, in any order.

        Returns:
            An answer for each.
        """

    def text_answers(self, form: AnswerForm) -> TextAnswers | None:
        """Return what answers for many addresses as text.

        Args:
            form: The form of answers.

        Returns:
            It, or ``None`` when addresses must be looked up one by one.
        """

    def keep(self) -> None:
        """Keep what has been decoded for later runs, when it is time to."""

    def remarks(self) -> list[str]:
        """Say of the objects looked at which debug files are missing.

        Returns:
            A sentence for each file that cannot be used and, for an object without
            debug information, for each place where some was looked for.
        """


class FileSymbolizer:
    """Looks up the addresses that a file's own tables state.

    Those of an object that is not linked, such as a module of the kernel, are offsets
    in its sections.

    Args:
        path: An ELF file.
        finder: Finds its debug file.
        section: The section that addresses are offsets in. Without one, addresses in an
            object that is not linked are of the first section with code that reaches so
            far, as ``addr2line`` has it.

    Raises:
        DebugInfoError: It is no usable ELF file, or has no such section.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        finder: DebugFileFinder,
        section: str | None = None,
    ) -> None:
        self._path = os.fspath(path)
        known = object_file.open_object(Path(self._path))
        self._sections: list[tuple[int, int]] | None = None
        """Address and size of each section that addresses may be offsets in."""
        if section is not None or known.is_relocatable:
            self._sections = _sections(self._path, known, section)
        # Mapped at the address it is linked to, addresses are those of the file.
        self._mapping = Mapping(
            Address(known.link_base),
            1 << known.bits,
            os.path.abspath(self._path),  # noqa: PTH100 - without ".."
            known.is_pic,
        )
        self._files = finder.find(self._mapping)
        self._finder = finder
        self._resolver: Resolver | None = None

    def look_up(self, addresses: Sequence[int]) -> list[Symbolized]:
        """Look up file addresses.

        Args:
            addresses: The addresses, in any order.

        Returns:
            An answer for each.
        """
        self._resolver = self._resolver or _resolver(self._finder)
        places = self._resolver.resolve_many(
            (self._mapping, self._file_address(address)) for address in addresses
        )
        return [
            _answer(address, self._path, self._files, place)
            for address, place in zip(addresses, places, strict=True)
        ]

    def text_answers(self, form: AnswerForm) -> TextAnswers | None:
        """Return what answers for many addresses as text.

        Args:
            form: The form of answers.

        Returns:
            It, or ``None`` when addresses must be looked up one by one.
        """
        table = self._finder.files.symbol_table(self._files)
        if isinstance(table, Refusal) or self._sections is not None:
            return None
        return TextAnswers(self._path, self._files, table, form)

    def keep(self) -> None:
        """Keep what has been decoded for later runs, when it is time to."""
        save_due()

    def remarks(self) -> list[str]:
        """Say which debug files are missing.

        Returns:
            A sentence for each file that cannot be used and, without debug information,
            for each place where some was looked for.
        """
        return _remarks(self._path, self._files, self._finder)

    def _file_address(self, address: int) -> Address:
        if self._sections is None:
            return Address(address)
        within = (begin + address for begin, size in self._sections if address < size)
        # Where none reaches so far: no address of code.
        return Address(next(within, _NOWHERE))


class ProcessSymbolizer:
    """Looks up addresses in the memory of a process that runs now.

    Args:
        process: The process.
        finder: Finds the files of its objects.
    """

    def __init__(self, process: RunningProcess, finder: DebugFileFinder) -> None:
        self._process = process
        self._finder = finder
        self._resolver = _resolver(finder)
        self._seen: dict[RunningObject, None] = {}

    def look_up(self, addresses: Sequence[int]) -> list[Symbolized]:
        """Look up addresses.

        Args:
            addresses: The addresses, in any order.

        Returns:
            An answer for each.
        """
        found = self._objects(addresses)
        self._seen.update(dict.fromkeys(one for one in found if one))
        places = self._resolver.resolve_many(
            (one and one.mapping, Address(address))
            for address, one in zip(addresses, found, strict=True)
        )
        return [
            _answer(address, one.name, self._finder.find(one.mapping), place)
            if one
            else Symbolized(address, reason=Reason.NO_OBJECT.value)
            for address, one, place in zip(addresses, found, places, strict=True)
        ]

    def text_answers(self, form: AnswerForm) -> TextAnswers | None:
        """Return nothing: addresses of a process belong to many objects."""

    def keep(self) -> None:
        """Do nothing: looking up single addresses has kept what it decoded."""

    def remarks(self) -> list[str]:
        """Say of the objects looked at which debug files are missing.

        Returns:
            A sentence for each file that cannot be used and, for an object without
            debug information, for each place where some was looked for.
        """
        return [
            remark
            for one in self._seen
            for remark in _remarks(
                one.name, self._finder.find(one.mapping), self._finder
            )
        ]

    def _objects(self, addresses: Sequence[int]) -> list[RunningObject | None]:
        found = [self._process.find(address) for address in addresses]
        if None not in found:
            return found
        # A library may have been loaded since. That the process is gone by now takes
        # nothing from what is known of it.
        try:
            self._process.refresh()
        except DebugInfoError:
            return found
        return [
            one or self._process.find(address)
            for address, one in zip(addresses, found, strict=True)
        ]


def _sections(
    path: str, known: object_file.ObjectFile, section: str | None
) -> list[tuple[int, int]]:
    found = [
        (begin, size)
        for name, begin, size in known.code_sections
        if section in {None, name}
    ]
    if section is not None and not found:
        names = dict.fromkeys(name for name, _, _ in known.code_sections)
        there = f"those are {', '.join(names)}" if names else "there is none"
        message = f"no section with code is called {section!r}: {there}"
        raise DebugInfoError(message, path=path)
    return found


def _resolver(finder: DebugFileFinder) -> Resolver:
    # Many addresses of one file do without it.
    from .resolver import Resolver  # noqa: PLC0415

    return Resolver(finder, hide_helpers=False)


def _remarks(name: str, files: FoundFiles, finder: DebugFileFinder) -> list[str]:
    table = None if files.debug is None else finder.files.symbol_table(files)
    # Other programs may bring tables that know of no such files.
    found = [f"{name}: {problem}" for problem in getattr(table, "problems", ())]
    if files.source in _WITHOUT_DWARF:
        found += [
            f"{name}: tried {attempt}"
            for attempt in files.attempts
            if attempt.outcome is not Outcome.USED
        ]
    return found


def _answer(
    address: int, name: str, files: FoundFiles, place: Place | Unresolved
) -> Symbolized:
    if isinstance(place, Unresolved):
        return Symbolized(address, name, files, reason=str(place))
    frames = place.frames
    if not frames and (place.function or place.file):
        from .place import Frame  # noqa: PLC0415 - known by now

        frames = (
            Frame(place.function, place.source_path, place.line, place.linkage_name),
        )
    reason = None if place.shortfall is None else str(place.shortfall)
    return Symbolized(address, name, files, place, frames, reason)
