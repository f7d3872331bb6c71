"""The words in which the agreement is written.

All are frozen, and ``about`` takes no part in comparisons: the fingerprint is that of what
matters to a program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = [
    "ADDRESS",
    "BYTE",
    "CHARACTER",
    "F32",
    "F64",
    "FLAG",
    "I8",
    "I16",
    "I32",
    "I64",
    "NAME_OF_THREAD",
    "PLACE",
    "TEXT",
    "U8",
    "U16",
    "U32",
    "U64",
    "Choice",
    "Constant",
    "Enumeration",
    "Enumerator",
    "Kind",
    "Layout",
    "Member",
    "Structure",
    "Union",
    "Value",
]


def _about() -> str:
    return field(default="", compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Kind:
    """How one value is stored.

    Args:
        c: Its type in C.
        rust: Its type in Rust.
        code: Its letter for :mod:`struct`; empty where there is none.
        size: Bytes; 0 for a text, which ends with a zero.
        signed: Whether it can be negative.
        base: In which base readers show it.
        is_text: Whether it is a character.
        aligned: Of what a multiple its offset is; 0: of its size.
    """

    c: str
    rust: str
    code: str
    size: int
    signed: bool = False
    base: int = 10
    is_text: bool = False
    aligned: int = 0


U8 = Kind("uint8_t", "u8", "B", 1)
U16 = Kind("uint16_t", "u16", "H", 2)
U32 = Kind("uint32_t", "u32", "I", 4)
U64 = Kind("uint64_t", "u64", "Q", 8)
I8 = Kind("int8_t", "i8", "b", 1, signed=True)
I16 = Kind("int16_t", "i16", "h", 2, signed=True)
I32 = Kind("int32_t", "i32", "i", 4, signed=True)
I64 = Kind("int64_t", "i64", "q", 8, signed=True)
F32 = Kind("float", "f32", "f", 4)
F64 = Kind("double", "f64", "d", 8)
CHARACTER = Kind("char", "u8", "s", 1, signed=True, is_text=True)
BYTE = Kind("uint8_t", "u8", "s", 1, base=16)
FLAG = U8
ADDRESS = Kind("uint64_t", "u64", "Q", 8, base=16)
PLACE = Kind("uint64_t", "u64", "", 6, base=16)
"""An address of code: those of user space have no more bits."""
TEXT = Kind("const char *", "", "", 0)
NAME_OF_THREAD = 16
"""Bytes of the name of a thread with its zero, see prctl(2)."""


@dataclass(frozen=True)
class Constant:
    """A number or a text that both know.

    Args:
        name: Its name, in capitals.
        value: Its value.
    """

    name: str
    value: int | str
    about: str = _about()


class Enumerator(NamedTuple):
    """One value of an enumeration."""

    name: str
    value: int
    about: str


@dataclass(frozen=True)
class Value:
    """One value of an enumeration, as it is described.

    Args:
        name: Its name, without the prefix.
        value: Its number; by default the next one.
    """

    name: str
    value: int | None = None
    about: str = _about()


@dataclass(frozen=True)
class Enumeration:
    """Names for numbers.

    Args:
        name: Its name in C.
        prefix: What comes before the name of each value in C.
        values: The values.
        last: A name for how many there are, if one is wanted.
    """

    name: str
    prefix: str
    values: tuple[Value, ...]
    last: str = ""
    about: str = _about()

    def enumerators(self) -> Iterator[Enumerator]:
        """Yield all values with their numbers."""
        number = 0
        for one in self.values:
            number = number if one.value is None else one.value
            yield Enumerator(one.name, number, one.about)
            number += 1


@dataclass(frozen=True)
class Member:
    """A member of a structure, or a field of an event.

    Args:
        name: Its name.
        kind: How it is stored, or each element of it.
        length: How many there are of an array; 0 for a single value.
        qualifier: What C needs to know of it: ``volatile`` or ``_Atomic``.
        is_time: Whether it is a value of the recording's clock.
        has_length: Whether it is a sequence: its length comes before it, in 64 bits.
    """

    name: str
    kind: Kind
    length: int = 0
    qualifier: str = ""
    is_time: bool = False
    has_length: bool = False
    about: str = _about()

    @property
    def size(self) -> int:
        """Bytes, where they are always the same."""
        return self.kind.size * (self.length or 1)

    @property
    def alignment(self) -> int:
        """Of what a multiple its offset is, in a structure."""
        return self.kind.aligned or self.kind.size


@dataclass(frozen=True)
class Union:
    """Members in the same place.

    Args:
        name: Its name.
        members: The members. One that is a tuple of several is a structure in C.
    """

    name: str
    members: tuple[Member | tuple[str, tuple[Member, ...]], ...]
    about: str = _about()

    @property
    def size(self) -> int:
        """Bytes of the largest."""
        return max(
            one.size if isinstance(one, Member) else sum(part.size for part in one[1])
            for one in self.members
        )

    @property
    def alignment(self) -> int:
        """Of what a multiple its offset is."""
        return self.size


@dataclass(frozen=True)
class Structure:
    """What lies in a file or in memory that several programs use.

    Args:
        name: Its name in C.
        members: The members, in their order; no byte between them is left out.
    """

    name: str
    members: tuple[Member | Union, ...]
    about: str = _about()

    def offsets(self) -> Iterator[tuple[Member | Union, int]]:
        """Yield each member with its offset, bytes.

        Raises:
            ValueError: A member would not be aligned: compilers differ in what they do.
        """
        offset = 0
        for one in self.members:
            if offset % one.alignment:
                raise ValueError(f"{self.name}.{one.name} is not aligned at {offset}")
            yield one, offset
            offset += one.size

    @property
    def size(self) -> int:
        """Bytes.

        Raises:
            ValueError: In an array of them, members would not be aligned.
        """
        size = sum(one.size for one in self.members)
        if size % max(one.alignment for one in self.members):
            raise ValueError(f"{self.name} has {size} bytes, which leaves a gap")
        return size


@dataclass(frozen=True)
class Layout:
    """The fields of an event, one after the other, each on a byte.

    Args:
        name: Its name in C; several events may share it.
        fields: The fields.
    """

    name: str
    fields: tuple[Member, ...] = ()

    @property
    def size(self) -> int | None:
        """Bytes, where they are always the same."""
        if any(one.has_length or one.kind is TEXT for one in self.fields):
            return None
        return sum(one.size for one in self.fields)


@dataclass(frozen=True)
class Choice:
    """Words, of which a setting is one.

    Args:
        name: Its name in C.
        words: The words, in the order of their numbers.
    """

    name: str
    words: tuple[str, ...]
