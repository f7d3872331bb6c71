"""Finding the functions of probes, and where their values are at the entry."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from ...._typing import TYPE_CHECKING, NamedTuple, cast
from ....advice import nearest
from ....core import FunctionPlan, demangle
from ....debuginfo import DebugFileFinder, DebugInfoOptions, Mapping
from ....errors import DebugInfoError, RecordError
from ....plain_text import plain
from ....units import Address
from .calling_convention import conventional_places
from .probe_places import PlacedValue, Row, placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ....core import ObjectFile
    from ...rules.probes import Probe, ProbeValue

__all__ = ["FoundProbe", "ProbedObject", "find_later", "find_probes", "is_called"]

_HIGHEST = 1 << 47
_LATER = ".part.", ".cold"
"""What compilers append to the names of pieces of functions."""


class Function(NamedTuple):
    """A function of an object."""

    address: int
    name: str
    reason: str | None
    """Why it cannot be recorded, if it cannot be."""


class ProbedObject:
    """An object in which functions of probes are looked for.

    Args:
        path: Its file.
        finder: Finds its debug file.
        name: Its file name, where the path has another one.
    """

    def __init__(self, path: str, finder: DebugFileFinder, name: str = "") -> None:
        self.path = path
        self.name = name or os.path.basename(path)
        found = finder.find(Mapping(Address(0), _HIGHEST, os.path.abspath(path)))
        # The finder opens files by the core.
        main = cast("ObjectFile | None", found.object)
        self._debug = cast("ObjectFile | None", found.debug)
        self.plan: FunctionPlan | None = None
        self.refusal = "cannot be read"
        self._by_name: dict[str, list[Function]] | None = None
        if main is None:
            return
        has_other = self._debug is not None and self._debug is not main
        others = [self._debug] if self._debug and has_other else []
        try:
            made = FunctionPlan.make(main, others, only_sites=False)
        except DebugInfoError as error:
            self.refusal = f"cannot be read: {error}"
            return
        if made.refusal is not None:
            self.refusal = made.refusal
        else:
            self.plan = made

    def functions(self) -> dict[str, list[Function]]:
        """Return all functions by their names, as stored and readable ones.

        Returns:
            The functions; one may have several names, and a name several functions.
        """
        if self._by_name is None:
            self._by_name = {}
            rows = self.plan.functions() if self.plan is not None else []
            for address, _, name, _, reason, _ in rows:
                for one in _names_of(name):
                    known = self._by_name.setdefault(one, [])
                    known.append(Function(address, name, reason))
        return self._by_name

    def signature(
        self, address: int
    ) -> tuple[list[Row], tuple[str, int] | None] | None:
        """Return what debug information says of a function, see the core.

        Args:
            address: Where it begins.

        Returns:
            Parameters and the type of the result; ``None`` without.
        """
        return None if self._debug is None else self._debug.signature(address)


class FoundProbe(NamedTuple):
    """A probe and its function."""

    probe: Probe
    object: ProbedObject
    address: int
    values: tuple[PlacedValue, ...]
    result: PlacedValue | None


def is_called(path: str, pattern: str) -> bool:
    """Tell whether an object is meant by a probe.

    Args:
        path: Its file.
        pattern: How the probe names it.
    """
    name = os.path.basename(path)
    stem, so, _ = name.partition(".so.")
    names = (path, name, os.path.realpath(path), stem + ".so" if so else name)
    return any(fnmatchcase(one, pattern) for one in names)


def find_probes(probes: Sequence[Probe], objects: Sequence[str]) -> list[FoundProbe]:
    """Find the functions of probes, and their values.

    Args:
        probes: The probes.
        objects: The program and its libraries, in the order in which they are searched.

    Returns:
        What was found, one for each probe.

    Raises:
        RecordError: One cannot be recorded.
    """
    finder = DebugFileFinder(DebugInfoOptions().directories())
    opened: dict[str, ProbedObject] = {}

    def all_objects(pattern: str) -> Iterator[ProbedObject]:
        for path in objects:
            if pattern and not is_called(path, pattern):
                continue
            if path not in opened:
                opened[path] = ProbedObject(path, finder)
            yield opened[path]

    return [_find(probe, all_objects(probe.object)) for probe in probes]


def find_later(
    probes: Sequence[Probe], path: str, name: str
) -> tuple[list[FoundProbe], dict[Probe, str]]:
    """Find the functions of probes in an object that is loaded later.

    Args:
        probes: Those that mean it.
        path: Its file.
        name: Its file name, for people.

    Returns:
        What was found, and why the others are not recorded.
    """
    one = ProbedObject(path, DebugFileFinder(DebugInfoOptions().directories()), name)
    found: list[FoundProbe] = []
    failed: dict[Probe, str] = {}
    for probe in probes:
        try:
            found.append(_find(probe, [one]))
        except RecordError as error:
            failed[probe] = str(error)
    return found, failed


def _find(probe: Probe, objects: Iterable[ProbedObject]) -> FoundProbe:
    searched = []
    for one in objects:
        searched.append(one)
        found = one.functions().get(probe.function, [])
        if not found:
            continue
        addresses = {function.address for function in found}
        if len(addresses) > 1:
            stored = sorted({function.name for function in found})
            some = ", ".join(stored[:8])
            raise _error(probe, f"{one.name} has several: expected one of {some}")
        if found[0].reason is not None:
            raise _error(probe, f"it cannot be recorded: {found[0].reason}")
        return _with_values(probe, one, found[0].address)
    if not searched:
        raise _error(probe, f"no object matches '{probe.object}'")
    names = sorted({name for one in searched for name in one.functions()})
    refused = [one for one in searched if one.plan is None]
    text = f"no such function in {', '.join(one.name for one in searched[:8])}"
    if refused:
        one = refused[0]
        text += f" ({one.name} was left alone: it {one.refusal})"
    raise _error(probe, f"{text}; there {nearest(probe.function, names)}")


def _with_values(probe: Probe, one: ProbedObject, address: int) -> FoundProbe:
    signature = one.signature(address)
    parameters, gives = signature if signature is not None else ([], None)
    wanted = probe.values
    is_told = [
        value for value in [*(wanted or ()), probe.result] if value and not value.type
    ]
    if signature is None and (wanted is None or is_told):
        raise _error(
            probe,
            f"{one.name} has no debug information of it: expected places and types, "
            "such as rdi:ptr, and $return:int",
        )
    places = conventional_places([row[1] for row in parameters], gives)
    by_name = {
        row[0]: (row, usual)
        for row, usual in zip(parameters, places, strict=True)
        if row[0]
    }
    values: list[PlacedValue] = []
    if wanted is None:
        # Those that can be recorded are.
        made = (placed(row[0], row, usual, None) for row, usual in by_name.values())
        values += [value for value in made if isinstance(value, PlacedValue)]
    for value in wanted or ():
        values.append(_placed(probe, value, by_name))
    return FoundProbe(probe, one, address, tuple(values), _result(probe, gives))


def _placed(
    probe: Probe,
    value: ProbeValue,
    by_name: dict[str, tuple[Row, str | int | None]],
) -> PlacedValue:
    if value.place:
        return PlacedValue.written(value)
    if value.name not in by_name:
        known = nearest(value.name, [*by_name])
        raise _error(probe, f"no parameter '{value.name}': there {known}")
    row, conventional = by_name[value.name]
    made = placed(value.name, row, conventional, value.type)
    if isinstance(made, str):
        raise _error(probe, f"'{value.name}' {made}")
    return made


def _result(probe: Probe, gives: tuple[str, int] | None) -> PlacedValue | None:
    if probe.result is None:
        return None
    if probe.result.type is None and gives is None:
        raise _error(probe, "it returns nothing")
    made = PlacedValue.result(probe.result, gives)
    if isinstance(made, str):
        raise _error(probe, f"its result {made}")
    return made


def _names_of(name: str) -> Iterator[str]:
    plain_name = name.partition("@")[0]
    if plain_name:
        yield plain_name
    base = plain_name.partition(".")[0]
    if base and base != plain_name and not any(part in plain_name for part in _LATER):
        yield base
    if base.startswith(("_Z", "_R")):
        readable = demangle(base)
        if readable:
            yield readable.partition("(")[0]


def _error(probe: Probe, text: str) -> RecordError:
    return RecordError(f"--probe: '{plain(probe.text)}': {plain(text)}")
