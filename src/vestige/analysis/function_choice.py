"""Choosing functions of a trace by patterns, as ``vestige record`` chooses them.

A pattern is ``[OBJECT:]NAME``. What a trace does not have is worked out from what it
has: the module of a Python function from the path of its source file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from ..debuginfo import Mapping, Place
from ..errors import SelectionError
from .function_names import plain_names
from .functions import Function

__all__ = ["FunctionChoice", "FunctionPattern", "is_address_range"]

# Two colons are part of a name: `ns::f` names no object.
_OBJECT = re.compile(r"([^:]*):(?!:)(.*)", re.DOTALL)
_RANGE = re.compile(r"0[xX][0-9a-fA-F]+-0[xX][0-9a-fA-F]+")
_ADDRESSES = re.compile(r"(?:.*:)?0[xX].*", re.DOTALL)
_LIBRARY = re.compile(
    r".*/(?:(?:site|dist)-packages|lib[^/]*/python3(?:\.\d+t?)?|python\d+\.zip)/",
    re.DOTALL,
)
"""Where installed packages and the standard library are."""


class FunctionChoice:
    """Which functions are in a report.

    Args:
        include: Patterns of functions that are in; empty for all.
        exclude: Patterns of functions that are not, whatever ``include`` says.
        only_my_code: Whether to leave out Python functions of the standard library, of
            installed packages, of frozen modules, and those written in C.

    Raises:
        SelectionError: A pattern can match no function.
    """

    def __init__(
        self,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        *,
        only_my_code: bool = False,
    ) -> None:
        self._include = [FunctionPattern(text) for text in include]
        self._exclude = [FunctionPattern(text) for text in exclude]
        self._only_my_code = only_my_code
        self._known: dict[Function, bool] = {}

    def takes(self, function: Function) -> bool:
        """Tell whether a function is in.

        Args:
            function: The function.
        """
        known = self._known.get(function)
        if known is None:
            known = self._known[function] = self._decide(function)
        return known

    def unused(self) -> list[str]:
        """Return the patterns that none of the functions so far matches."""
        return [one.text for one in (*self._include, *self._exclude) if not one.is_used]

    def _decide(self, function: Function) -> bool:
        names = _names(function)
        mapping = _mapping(function)
        path = None if mapping is None else mapping.path
        # All patterns are asked, so that those are known that match nothing.
        included = [one.matches(names, path) for one in self._include]
        excluded = [one.matches(names, path) for one in self._exclude]
        if any(excluded) or (included and not any(included)):
            return False
        return not (self._only_my_code and _is_library(function))


def is_address_range(text: str) -> bool:
    """Tell whether a pattern chooses addresses and not names.

    Args:
        text: A pattern, as ``vestige record`` takes it.
    """
    return _ADDRESSES.fullmatch(text) is not None


class FunctionPattern:
    """A pattern ``[OBJECT:]NAME``.

    Args:
        text: What users write.

    Raises:
        SelectionError: It can match no function.
    """

    def __init__(self, text: str) -> None:
        split = _OBJECT.fullmatch(text)
        self.text = text
        """What users wrote."""
        self.is_used = False
        """Whether it matched anything so far."""
        self._object: str | None = split[1] if split else None
        self.name: str = split[2] if split else text
        """The part that names of functions are compared with."""
        if not self.name or self._object == "":
            raise SelectionError(f"'{text}': expected [OBJECT:]NAME")
        if _RANGE.fullmatch(self.name):
            raise SelectionError(
                f"'{text}': expected the name of a function; addresses choose "
                "functions when they are recorded"
            )

    def matches(self, names: set[str], path: str | None) -> bool:
        """Tell whether it matches one of some names.

        Args:
            names: Names of functions.
            path: Where they are: an object, or the source file of Python code;
                ``None`` if nobody knows.
        """
        if self._object is not None and not _any(self._object, _files(path)):
            return False
        matches = self.name in names or _any(self.name, names)
        self.is_used |= matches
        return matches


def _any(pattern: str, texts: set[str]) -> bool:
    return any(fnmatchcase(text, pattern) for text in texts)


def _mapping(function: Function) -> Mapping | None:
    place = function.place
    return place.binary.mapping if isinstance(place, Place) else None


def _files(path: str | None) -> set[str]:
    """Return what patterns may call a file."""
    if path is None:
        return set()
    name = path.rpartition("/")[2]
    # libx.so names libx.so.1.2, too.
    unversioned, found, _ = name.partition(".so.")
    return {path, name, *([f"{unversioned}.so"] if found else ())}


def _names(function: Function) -> set[str]:
    mapping = _mapping(function)
    if mapping is not None and mapping.code is not None:
        name, line = mapping.code
        modules = _modules(mapping.path) if line else {mapping.path}
        return {name, *(f"{module}.{name}" for module in modules)}
    names = plain_names(function.name)
    place = function.place
    # What begins within another function has not the name of that one.
    if isinstance(place, Place) and place.linkage_name and not place.offset:
        names |= plain_names(place.linkage_name)
    return names


def _modules(path: str) -> set[str]:
    """Return what the module of a source file may be called."""
    library = _LIBRARY.match(path)
    parts = list(_parts(path[library.end() if library else 0 :]))
    if library:
        return {".".join(parts)}
    # Nobody knows which directory is in sys.path.
    return {".".join(parts[begin:]) for begin in range(len(parts))}


def _parts(path: str) -> Iterator[str]:
    """Iterate over the last parts of a path that can be those of a module's name."""
    stem = path.removesuffix(".py").removesuffix("/__init__")
    parts = stem.split("/")
    begin = len(parts)
    while begin and parts[begin - 1].isidentifier():
        begin -= 1
    yield from parts[begin:]


def _is_library(function: Function) -> bool:
    """Tell whether a function of Python is not the program's own."""
    mapping = _mapping(function)
    if mapping is None or mapping.code is None:
        return False
    is_written_in_c = not mapping.code[1]
    path = mapping.path
    return (
        is_written_in_c
        or path.startswith("<frozen ")
        or _LIBRARY.match(path) is not None
    )
