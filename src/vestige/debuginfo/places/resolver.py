"""From addresses in mapped objects to places.

A call handles many addresses: those in one object go to its symbol table together.
Answers are kept by symbol table and file address, so they serve all processes that map
the object, wherever they map it; a changed mapping never gets an old answer.

A tracepoint's ``ip`` lies in helper functions of LTTng that were inlined where the
program calls ``tracepoint()``. That call is the place people look for, so the place is
the call site of the outermost such helper. All other addresses have the line that the
line table gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from ... import core
from ...errors import DebugInfoError
from ...units import Address, FileAddress
from ..attempt import Outcome, Refusal
from ..files.finder import DebugFileFinder
from ..found_files import DebugSource, FoundFiles
from ..images.image import Mapping
from ..object_file import SymbolReader, SymbolRow, is_bulk_reader
from ..unresolved import TABLE_REASONS, Reason, Unresolved
from .formatting import PlaceText, encodable, format_place
from .found_object import FoundObject, section_address
from .kernel_code import found_kernel, kernel_functions, packed_section
from .place import Binary, Frame, Place
from .source_code import found_code

__all__ = ["Resolver"]

_TRACEPOINT_HELPERS = [
    "lttng_ust_tracepoint_cb_",
    "lttng_ust__event_probe__",
    "__tracepoint_cb_",
    "__event_probe__",
    "vestige_call_",
]

_REFUSAL_REASONS = {
    Outcome.MISSING: Reason.FILE_MISSING,
    Outcome.OTHER_BUILD_ID: Reason.OTHER_FILE,
    Outcome.OTHER_CONTENTS: Reason.OTHER_FILE,
}

_Answer = SymbolRow | Unresolved


class Resolver:
    """Resolves addresses.

    Args:
        finder: Finds the files of objects.
        full_path: Whether :meth:`text` writes whole paths.
        demangle: Whether functions have their readable names, not the linker's.
        hide_helpers: Whether the helpers of a tracepoint are left out.
    """

    def __init__(
        self,
        finder: DebugFileFinder,
        *,
        full_path: bool = False,
        demangle: bool = True,
        hide_helpers: bool = True,
    ) -> None:
        self._finder = finder
        self._full_path = full_path
        self._demangle = demangle
        self._hide_helpers = hide_helpers
        self._objects: dict[Mapping, FoundObject] = {}
        self._answers: dict[SymbolReader, dict[FileAddress, _Answer]] = {}

    @property
    def finder(self) -> DebugFileFinder:
        """What finds the files of objects."""
        return self._finder

    def resolve(
        self, mapping: Mapping | Unresolved | None, ip: Address
    ) -> Place | Unresolved:
        """Resolve one address.

        Args:
            mapping: The object at the address, or why there is none.
            ip: The address in the process.

        Returns:
            Its place, or why there is none.
        """
        return self.resolve_many([(mapping, ip)])[0]

    def resolve_many(
        self, pairs: Iterable[tuple[Mapping | Unresolved | None, Address]]
    ) -> list[Place | Unresolved]:
        """Resolve many addresses, with one look-up for each object.

        Args:
            pairs: For each address the object there, or why there is none.

        Returns:
            A place, or why there is none, for each pair in order.
        """
        # To compare mappings takes longer than all else, and there are few of them.
        # Each is kept with its object, or its identity might pass to another one.
        known: dict[int, tuple[object, FoundObject | Unresolved]] = {}
        requests = []
        for mapping, ip in pairs:
            entry = known.get(id(mapping))
            if entry is None:
                entry = known[id(mapping)] = (mapping, self._object(mapping))
            requests.append(_Request(entry[1], ip))
        self._look_up(requests)
        return [self._place(request) for request in requests]

    def add_places(
        self, column: core.PlaceColumn, found: Mapping | Unresolved, last: Address
    ) -> None:
        """Give the next group of pending addresses of a column their places.

        The places are as :meth:`resolve` and :meth:`text` make them, but where the
        symbol table can do it, they are made in it, and only texts; objects are made
        when somebody asks for one.

        Args:
            column: The column.
            found: The object at the addresses, or why there is none.
            last: The group's last address.
        """
        make = partial(self.resolve, found)
        known = self._object(found)
        if isinstance(known, Unresolved):
            column.add_lookups(last, None, None, make)
            return
        helpers = _TRACEPOINT_HELPERS if self._hide_helpers else []
        form = known.form(
            full_path=self._full_path, demangle=self._demangle, helpers=helpers
        )
        if form is None or isinstance(known.table, Unresolved):
            column.add_lookups(last, None, form, make)
        elif not _add_in_bulk(known.table, column, last, form, make):
            pairs = [(found, Address(ip)) for ip in column.pending_until(last)]
            places = self.resolve_many(pairs)
            texts = [encodable(self.text(place)) for place in places]
            column.add_places(last, texts, places)

    def problems(self, mapping: Mapping) -> list[str]:
        """Say what of the files beside an object's debug file cannot be used.

        Args:
            mapping: The object.

        Returns:
            A sentence for each, as far as addresses in the object were resolved.
        """
        found = self._object(mapping)
        if isinstance(found, Unresolved) or isinstance(found.table, Unresolved):
            return []
        # Other programs may bring tables that know of no such files.
        return list(getattr(found.table, "problems", ()))

    def text(self, place: Place | Unresolved) -> PlaceText:
        """Write a place as text, in the form that this resolver was made for.

        Args:
            place: What a call of this object returned.

        Returns:
            The texts of ``bin``, ``func`` and ``src``.
        """
        return format_place(place, full_path=self._full_path)

    def _object(self, mapping: Mapping | Unresolved | None) -> FoundObject | Unresolved:
        if mapping is None:
            return Unresolved(Reason.NO_OBJECT)
        if isinstance(mapping, Unresolved):
            return mapping
        known = self._objects.get(mapping)
        if known is None:
            known = self._objects[mapping] = self._found(mapping)
        return known

    def rows(
        self, mapping: Mapping, addresses: Iterable[Address]
    ) -> tuple[dict[FileAddress, SymbolRow], FoundFiles]:
        """Look up addresses, and return what the symbol table says of them.

        Args:
            mapping: The object.
            addresses: Addresses in it.

        Returns:
            The answers by file address, and the files of the object.
        """
        found = self._object(mapping)
        requests = [_Request(found, address) for address in addresses]
        self._look_up(requests)
        rows: dict[FileAddress, SymbolRow] = {}
        for request in requests:
            if request.table is None:
                continue
            answer = self._answers[request.table][request.file_address]
            if not isinstance(answer, Unresolved):
                rows[request.file_address] = answer
        return rows, self._finder.find(mapping)

    def _found(self, mapping: Mapping) -> FoundObject:
        if mapping.code is not None:
            return found_code(mapping, self._finder.find(mapping))
        files = self._finder.find(mapping)
        if mapping.kernel is not None and not _is_its_file(mapping, files):
            return found_kernel(mapping, files)
        if files.source is DebugSource.PACKED:
            # Few traces have packed symbols.
            from ..tables.symbol_store import StoredObject  # noqa: PLC0415

            if isinstance(files.debug, StoredObject):
                base = files.debug.link_base
                files.debug.fallback = lambda: self._table_of_files(mapping, base)
                if mapping.kernel is not None and mapping.kernel.section is not None:
                    return packed_section(mapping, files, files.debug, files.debug)
                return FoundObject(mapping, files.host_path, files, files.debug)
        return self._object_of(mapping, files)

    def _table_of_files(self, mapping: Mapping, link_base: int) -> SymbolReader | None:
        # For addresses that were not packed: the trace has grown, or it is another one.
        files = self._finder.search(mapping)
        if mapping.kernel is not None and not _is_its_file(mapping, files):
            return kernel_functions(mapping, link_base)
        table = self._object_of(mapping, files).table
        return None if isinstance(table, Unresolved) else table

    def _object_of(self, mapping: Mapping, files: FoundFiles) -> FoundObject:
        host_path = files.host_path
        if files.debug is None:
            return FoundObject(mapping, host_path, files, _why_nothing(files))
        table = self._finder.files.symbol_table(files)
        if isinstance(table, Refusal):
            unusable = Unresolved(Reason.UNUSABLE_FILE, table.detail)
            return FoundObject(mapping, host_path, files, unusable)
        return FoundObject(mapping, host_path, files, table)

    def _look_up(self, requests: list[_Request]) -> None:
        wanted: dict[SymbolReader, dict[FileAddress, None]] = {}
        for request in requests:
            if request.table is None:
                continue
            known = self._answers.setdefault(request.table, {})
            if request.file_address not in known:
                wanted.setdefault(request.table, {})[request.file_address] = None
        for table, addresses in wanted.items():
            self._answers[table].update(_answers(table, list(addresses)))

    def _place(self, request: _Request) -> Place | Unresolved:
        found = request.object
        if isinstance(found, Unresolved):
            return found
        binary, source = found.binary(request.ip), found.files.source
        if isinstance(found.table, Unresolved):
            return Place(binary, source, shortfall=found.table)
        answer = self._answers[found.table][request.file_address]
        if isinstance(answer, Unresolved):
            return Place(binary, source, shortfall=answer)
        place = _place(binary, source, answer, hide_helpers=self._hide_helpers)
        return place if self._demangle else _with_linkage_names(place)


class _Request:
    # One address to resolve.
    __slots__ = ("file_address", "ip", "object", "table")

    def __init__(self, found: FoundObject | Unresolved, ip: Address) -> None:
        self.object = found
        self.ip = ip
        self.table: SymbolReader | None = None
        self.file_address = FileAddress(0)
        if isinstance(found, FoundObject) and not isinstance(found.table, Unresolved):
            self.table = found.table
            self.file_address = found.file_address(ip)


def _answers(
    table: SymbolReader, addresses: list[FileAddress]
) -> dict[FileAddress, _Answer]:
    try:
        rows = table.lookup([int(address) for address in addresses])
    except DebugInfoError as error:
        unusable = Unresolved(Reason.UNUSABLE_FILE, str(error))
        return dict.fromkeys(addresses, unusable)
    return dict(zip(addresses, rows, strict=True))


def _add_in_bulk(
    table: SymbolReader,
    column: core.PlaceColumn,
    last: Address,
    form: core.PlaceFormat,
    make: Callable[[Address], Place | Unresolved],
) -> bool:
    try:
        if isinstance(table, core.SymbolTable):
            return column.add_lookups(last, table, form, make)
        if is_bulk_reader(table):
            return table.add_places(column, last, form, make)
    except DebugInfoError:
        # Looked up again, it becomes the answer.
        pass
    return False


def _is_its_file(mapping: Mapping, files: FoundFiles) -> bool:
    """Tell whether files say more of a part of the kernel than the trace."""
    kernel = mapping.kernel
    if files.debug is None or kernel is None:
        return False
    return (
        kernel.section is None
        or section_address(files.debug, kernel.section) is not None
    )


def _why_nothing(files: FoundFiles) -> Unresolved:
    refusal = files.object_refusal
    if refusal is None:
        return Unresolved(Reason.NO_SYMBOLS)
    reason = _REFUSAL_REASONS.get(refusal.outcome, Reason.UNUSABLE_FILE)
    return Unresolved(reason, str(refusal))


def _place(
    binary: Binary, source: DebugSource, row: SymbolRow, *, hide_helpers: bool
) -> Place:
    function, offset, directory, file, line, column, rows, _, reason, linkage = row
    frames = tuple(Frame(*frame) for frame in rows)
    hidden = _helper_count(frames) if hide_helpers else 0
    if hidden:
        frames = frames[hidden:]
        directory, file = _split(frames[0].file)
        line, column = frames[0].line, None
    return Place(
        binary,
        source,
        function=function,
        offset=offset if function is not None else 0,
        linkage_name=linkage,
        directory=directory or None,
        file=file or None,
        line=line or None,
        column=column or None,
        frames=frames,
        shortfall=_shortfall(source, function, line, reason),
    )


def _with_linkage_names(place: Place) -> Place:
    frames = tuple(
        frame._replace(function=frame.linkage_name or frame.function)
        for frame in place.frames
    )
    return place._replace(function=place.linkage_name or place.function, frames=frames)


def _shortfall(
    source: DebugSource, function: str | None, line: int | None, reason: str | None
) -> Unresolved | None:
    if function is None:
        known = TABLE_REASONS.get(reason or "", Reason.NO_FUNCTION)
        return Unresolved(known)
    if not line:
        return Unresolved(Reason.NO_LINE, source.value)
    return None


def _helper_count(frames: tuple[Frame, ...]) -> int:
    # Frames up to the outermost inlined helper: helpers inline each other, and other
    # small functions of LTTng. The last frame is a function of its own, not inlined.
    for index in range(len(frames) - 2, -1, -1):
        if (frames[index].function or "").startswith(tuple(_TRACEPOINT_HELPERS)):
            return index + 1
    return 0


def _split(path: str | None) -> tuple[str | None, str | None]:
    if path is None:
        return None, None
    directory, slash, file = path.rpartition("/")
    return directory or slash or None, file
