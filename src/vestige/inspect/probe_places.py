"""Where probes are put into a file: at functions, and at places that a program marks.

Marked places (USDT, ``<sys/sdt.h>``) are described by notes of SystemTap: owner
``stapsdt``, type 3, with the addresses of the place, of the section ``.stapsdt.base``
when the file was linked, and of a counter (*semaphore*) that is not 0 while somebody
listens; then provider, name and arguments, each a text
(https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
"""

from __future__ import annotations

import mmap
import os
import platform
import stat
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ..advice import nearest
from ..errors import RecordError
from .elf import ElfImage
from .named_symbols import NamedSymbol, debug_image, function_names, named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Self

__all__ = ["ProbePlace", "ProbedFile"]

_SECTION, _BASE = ".note.stapsdt", ".stapsdt.base"
_OWNER, _KIND = b"stapsdt\0", 3
_HEAD = 12
_MACHINES = {"x86_64": {62, 3}, "aarch64": {183, 40}}
"""The numbers of the machines whose programs a machine runs."""


class ProbePlace(NamedTuple):
    """A place in a file, in bytes from its beginning."""

    offset: int
    counter: int = 0
    """Where the counter is that says that somebody listens; 0: there is none."""


class _Marked(NamedTuple):
    """A place that a program marks, in addresses."""

    provider: str
    name: str
    address: int
    counter: int


class ProbedFile:
    """A file of instructions, open.

    Args:
        path: The file.

    Raises:
        RecordError: It cannot be read, or is none of this machine's.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise RecordError(f"cannot be read: {reason}", path=path) from error
        self._data: mmap.mmap | None = None
        try:
            self._image = self._mapped()
        except BaseException:
            self.close()
            raise

    def _mapped(self) -> ElfImage:
        facts = os.fstat(self.descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size == 0:
            self._refuse("is no ELF file")
        self._data = mmap.mmap(self.descriptor, 0, access=mmap.ACCESS_READ)
        try:
            image = ElfImage(self._data)
        except ValueError as error:
            self._refuse(f"is no program or library: {error}", error)
        known = _MACHINES.get(platform.machine())
        if known is not None and image.machine not in known:
            self._refuse("is for another kind of machine")
        return image

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close it."""
        if self._data is not None:
            self._data.close()
            self._data = None
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def places(self, location: Mapping[str, Any]) -> list[ProbePlace]:
        """Return the places of a location.

        Args:
            location: As LTTng's daemon takes it: ``function``, or ``provider`` and
                ``probe``.

        Raises:
            RecordError: There is none, or it cannot have a probe; the text says why.
        """
        if location["type"] == "function":
            return self.functions(location["function"])
        return self.marked(location["provider"], location["probe"])

    def functions(self, name: str) -> list[ProbePlace]:
        """Return where the functions of a name begin; there may be several.

        Args:
            name: As the symbol table has it, without a version.

        Returns:
            At least one place.

        Raises:
            RecordError: There is none, or it cannot have a probe; the text says why.
        """
        try:
            return self._functions(name)
        except ValueError as error:
            self._refuse(f"is a damaged ELF file: {error}", error)

    def marked(self, provider: str, name: str) -> list[ProbePlace]:
        """Return the places that a program marks with a name.

        Args:
            provider: Who has the name.
            name: The name.

        Returns:
            At least one place.

        Raises:
            RecordError: There is none, or it cannot have a probe; the text says why.
        """
        try:
            return self._marked(provider, name)
        except ValueError as error:
            self._refuse(f"is a damaged ELF file: {error}", error)

    def _functions(self, name: str) -> list[ProbePlace]:
        if not name or "\0" in name:
            self._refuse("expected the name of a function")
        wanted = os.fsencode(name)
        found = named(self._image, wanted)
        if not any(one.is_defined for one in found):
            beside = debug_image(self._path, self._image)
            # Its addresses are those of the file itself.
            found += [] if beside is None else named(beside, wanted)
        defined = [one for one in found if one.is_defined]
        if not defined:
            self._refuse(self._why_not(name, found))
        if any(one.is_resolver for one in defined):
            self._refuse(
                f"{name} only chooses a function when the program starts (IFUNC): "
                "expected the name of one that is called"
            )
        found_at = {self._offset(one.address) for one in defined}
        places = sorted(one for one in found_at if one is not None)
        if not places:
            self._refuse(f"{name} is no function: nothing of it is executed")
        return [ProbePlace(one) for one in places]

    def _why_not(self, name: str, found: list[NamedSymbol]) -> str:
        if found:
            return f"does not have {name} itself: a library has it"
        names = function_names(self._image)
        if not names:
            return (
                f"has no symbols, and no debug file of it: nobody knows where {name} is"
            )
        return f"has no function {name}: there {nearest(name, names)}"

    def _marked(self, provider: str, name: str) -> list[ProbePlace]:
        there = list(self._notes())
        places: set[ProbePlace] = set()
        for one in there:
            if (one.provider, one.name) == (provider, name):
                place = self._offset(one.address)
                counter = self._offset(one.counter, is_code=False) if one.counter else 0
                if place is None or counter is None:
                    raise ValueError(f"{provider}:{name} is in no part of it")
                places.add(ProbePlace(place, counter))
        if not places:
            names = dict.fromkeys(f"{one.provider}:{one.name}" for one in there)
            self._refuse(
                f"has no probe {provider}:{name}: there "
                f"{nearest(f'{provider}:{name}', list(names))}"
            )
        return sorted(places)

    def _notes(self) -> Iterator[_Marked]:
        image = self._image
        section = image.section(_SECTION)
        if section is None:
            return
        base = image.section(_BASE)
        word, is_little = image.word_size, image.is_little_endian
        for content in _contents(image.content(section), is_little=is_little):
            address, linked, counter = (
                _number(content[at : at + word], is_little=is_little)
                for at in range(0, 3 * word, word)
            )
            # What was linked before may be elsewhere by now (prelink).
            moved = base.address - linked if base is not None and linked else 0
            texts = content[3 * word :].split(b"\0")
            if len(texts) > 1:
                yield _Marked(
                    os.fsdecode(texts[0]),
                    os.fsdecode(texts[1]),
                    address + moved,
                    counter + moved if counter else 0,
                )

    def _offset(self, address: int, *, is_code: bool = True) -> int | None:
        """Return where in the file an address is loaded from."""
        for one in self._image.segments:
            if one.address <= address < one.address + one.size and (
                one.is_executable or not is_code
            ):
                return address - one.address + one.offset
        return None

    def _refuse(self, text: str, cause: Exception | None = None) -> NoReturn:
        raise RecordError(text, path=self._path) from cause


def _contents(notes: bytes, *, is_little: bool) -> Iterator[bytes]:
    """Give what is in each note of SystemTap."""
    at = 0
    while at + _HEAD <= len(notes):
        name, size, kind = (
            _number(notes[one : one + 4], is_little=is_little)
            for one in range(at, at + _HEAD, 4)
        )
        start = at + _HEAD
        content = start + -(-name // 4) * 4
        if kind == _KIND and notes[start : start + name] == _OWNER:
            yield notes[content : content + size]
        at = content + -(-size // 4) * 4


def _number(data: bytes, *, is_little: bool) -> int:
    return int.from_bytes(data, "little" if is_little else "big")
