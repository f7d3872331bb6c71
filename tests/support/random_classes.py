"""Random field classes to declare, and values of them, for writing and reading again.

What is read is told apart from how it was given: an enumeration by its number, an option
by its value alone.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vestige import ctf
from vestige.ctf.writing.lowering import Version

WORDS = ["", "a", "GET", "ünïcode", "\U0001f600", 'q"uote\\', "line\nbreak", "x" * 300]
BYTE = 8
RECORDS = 12


@dataclass(frozen=True)
class Kind:
    """A field class with the means to make a value of it."""

    declaration: Any
    """What declares it."""
    value: Callable[[], tuple[Any, Any]]
    """Makes a value: as it is given, and as it is read."""


class Maker:
    """Makes field classes and values from one random seed.

    Args:
        seed: The seed.
        version: Version of the format that they are for.
        empty_texts: Whether texts can be empty. Babeltrace 2.0.4 may show the text that
            the field had in an earlier record.
    """

    def __init__(
        self, seed: int, version: Version, *, empty_texts: bool = True
    ) -> None:
        self._random = random.Random(seed)  # noqa: S311 - the same each time
        self._version = version
        self._words = WORDS if empty_texts else WORDS[1:]

    def members(self, prefix: str = "f", depth: int = 0) -> Kind:
        """Return members of any kind, as the dictionary that declares them."""
        names = [f"{prefix}{number}" for number in range(self._random.randint(1, 5))]
        if prefix == "f" and depth == 0 and self._random.random() < 0.3:
            names[0] = self._random.choice(["event", "int", "_x", "id", "timestamp"])
        members = {name: self.kind(depth + 1, nested=False) for name in names}

        def value() -> tuple[Any, Any]:
            pairs = {name: member.value() for name, member in members.items()}
            return (
                {name: given for name, (given, _) in pairs.items()},
                {name: read for name, (_, read) in pairs.items()},
            )

        declared = {name: one.declaration for name, one in members.items()}
        return Kind(declared, value)

    def structure(self, depth: int) -> Kind:
        """Return a structure."""
        members = self.members(depth=depth)
        alignment = self._random.choice([1, 1, 1, 8, 16, 64])
        declared = ctf.structure(members.declaration, alignment=alignment)
        return Kind(declared, members.value)

    def kind(self, depth: int, *, nested: bool) -> Kind:
        """Return a field class; a nested one has no length of its own."""
        simple = [self.integer, self.integer, self.floating_point, self.string]
        simple += [self.enumeration, self.text_array]
        if self._version == "2":
            simple += [self.boolean, self.bits, self.leb128, self.wide, self.encoded]
        if depth < 4:
            simple += [lambda: self.structure(depth), lambda: self.array(depth)]
            if not nested:
                simple += [lambda: self.sequence(depth), lambda: self.variant(depth)]
                simple += [self.blob]
                if self._version == "2":
                    simple.append(lambda: self.optional(depth))
        return self._random.choice(simple)()

    def integer(self) -> Kind:
        """Return an integer of any size."""
        size = self._random.choice([1, 3, 7, 8, 12, 16, 31, 32, 33, 64])
        signed = self._random.random() < 0.5
        declared = ctf.integer(
            size,
            signed=signed,
            base=self._random.choice([2, 8, 10, 16]),
            byte_order=self._random.choice([None, "little", "big"])
            if size % BYTE == 0
            else None,
            alignment=self._random.choice([None, None, 8, 32]),
        )
        return Kind(declared, lambda: self._twice(self._integer(size, signed=signed)))

    def _integer(self, size: int, *, signed: bool) -> int:
        low = -(1 << (size - 1)) if signed else 0
        high = (1 << (size - signed)) - 1
        edges = [low, high, 0, min(1, high), max(-1, low)]
        edges.append(self._random.randint(low, high))
        return self._random.choice(edges)

    def wide(self) -> Kind:
        """Return an integer of more than 64 bits."""
        size = self._random.choice([65, 100, 127, 128, 129, 256])
        signed = self._random.random() < 0.5
        declared = ctf.integer(size, signed=signed)
        return Kind(declared, lambda: self._twice(self._integer(size, signed=signed)))

    def leb128(self) -> Kind:
        """Return an integer in the LEB128 encoding."""
        signed = self._random.random() < 0.5
        declared = ctf.variable_length_integer(signed=signed)
        size = self._random.choice([3, 7, 8, 14, 64, 100])
        return Kind(declared, lambda: self._twice(self._integer(size, signed=signed)))

    def enumeration(self) -> Kind:
        """Return an enumeration, of which values have a label or none."""
        labels: dict[str, int | tuple[int, int]] = {"zero": 0, "few words": (1, 5)}
        labels['\\a"b'] = 9
        declared = ctf.enumeration(self._random.choice([4, 8, 16]), labels)
        values = [("zero", 0), (0, 0), (3, 3), ('\\a"b', 9), (12, 12)]
        return Kind(declared, lambda: self._random.choice(values))

    def floating_point(self) -> Kind:
        """Return a floating point number."""
        size = self._random.choice([32, 64])
        declared = ctf.floating_point(
            size, byte_order=self._random.choice([None, "little", "big"])
        )

        def value() -> tuple[float, float]:
            given = self._random.choice(
                [0.0, -1.5, 0.1, math.inf, 3, self._random.uniform(-1e30, 1e30)]
            )
            code = "f" if size == 32 else "d"
            return given, struct.unpack(code, struct.pack(code, given))[0]

        return Kind(declared, value)

    def string(self) -> Kind:
        """Return a text."""
        return Kind(str, lambda: self._twice(self._random.choice(self._words)))

    def encoded(self) -> Kind:
        """Return a text in any encoding, to its end or in a space of its own."""
        encoding = self._random.choice(
            ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"]
        )
        length = self._random.choice([None, 1600])
        declared = ctf.string(encoding=encoding, length=length)
        return Kind(declared, lambda: self._twice(self._random.choice(self._words)))

    def text_array(self) -> Kind:
        """Return a text in an array."""
        declared = ctf.array("u8", 12, text=True)
        return Kind(declared, lambda: self._twice(self._random.choice(self._words[:3])))

    def boolean(self) -> Kind:
        """Return a boolean."""
        declared = ctf.boolean(self._random.choice([1, 8]))
        return Kind(declared, lambda: self._twice(self._random.random() < 0.5))

    def bits(self) -> Kind:
        """Return bits, with names or without."""
        flags: dict[str, int | tuple[int, int]] = {"read": 0, "write": (1, 2)}
        declared = self._random.choice(
            [ctf.bit_array(5), ctf.bit_map(8, flags), ctf.bit_array(8)]
        )
        return Kind(declared, lambda: self._twice(self._random.randint(0, 31)))

    def blob(self) -> Kind:
        """Return bytes, which CTF 1.8 reads as a list."""

        def value() -> tuple[Any, Any]:
            given = self._random.randbytes(self._random.randint(0, 9))
            return given, given if self._version == "2" else list(given)

        return Kind(bytes, value)

    def array(self, depth: int) -> Kind:
        """Return an array of a fixed length."""
        inner = self.kind(depth + 1, nested=True)
        length = self._random.randint(0, 3)
        return Kind(
            ctf.array(inner.declaration, length), lambda: self._list(inner, length)
        )

    def sequence(self, depth: int) -> Kind:
        """Return an array of any length."""
        inner = self.kind(depth + 1, nested=True)
        return Kind(
            [inner.declaration], lambda: self._list(inner, self._random.randint(0, 4))
        )

    def variant(self, depth: int) -> Kind:
        """Return one of several options."""
        options = {name: self.kind(depth + 1, nested=True) for name in ("one", "two")}

        def value() -> tuple[Any, Any]:
            name = self._random.choice(list(options))
            given, read = options[name].value()
            return (name, given), read

        declared = {name: one.declaration for name, one in options.items()}
        return Kind(ctf.variant(declared), value)

    def optional(self, depth: int) -> Kind:
        """Return a field that may be there."""
        inner = self.kind(depth + 1, nested=True)
        return Kind(
            ctf.optional(inner.declaration),
            lambda: inner.value() if self._random.random() < 0.5 else (None, None),
        )

    @staticmethod
    def _list(inner: Kind, length: int) -> tuple[Any, Any]:
        pairs = [inner.value() for _ in range(length)]
        return [given for given, _ in pairs], [read for _, read in pairs]

    @staticmethod
    def _twice(value: Any) -> tuple[Any, Any]:
        return value, value


def write_random(
    directory: Path,
    seed: int,
    version: Version,
    *,
    bulk: bool = False,
    empty_texts: bool = True,
) -> list[tuple[Any, ...]]:
    """Write records of random classes; return what is to be read of each."""
    maker = Maker(seed, version, empty_texts=empty_texts)
    packet = maker.members("p", 3)
    common = maker.members("c", 3)
    payloads = [maker.members(), maker.members()]
    specific = maker.members("s", 3)
    in_packets, packets_read = packet.value()
    expected: list[tuple[Any, ...]] = []
    with ctf.Writer(
        directory,
        version=version,
        byte_order="big" if seed % 2 else "little",
        packet_size=700,
        packet_context=packet.declaration,
        event_context=common.declaration,
    ) as writer:
        stream = writer.stream("data", **in_packets)
        for number, payload in enumerate(payloads):
            declared = writer.event_class(
                f"class {number}", payload.declaration, context=specific.declaration
            )
            records = []
            for index in range(RECORDS):
                given, fields_read = payload.value()
                in_common, common_read = common.value()
                in_specific, specific_read = specific.value()
                time = number * 1000 + index
                context = {**in_common, **in_specific}
                records.append((time, context, given))
                expected.append(
                    (time, packets_read, common_read, specific_read, fields_read)
                )
            if bulk:
                times, contexts, fields = zip(*records, strict=True)
                stream.write_many(
                    declared, list(times), columns(fields), context=columns(contexts)
                )
            else:
                for time, context, given in records:
                    stream.write(declared, time, context, **given)
    return expected


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return dictionaries as columns."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def without_added(value: Any) -> Any:
    """Return what was read without the lengths and selectors that the writer added."""
    if isinstance(value, dict):
        added = ("_length", "_tag", "_present")
        return {
            name: without_added(member)
            for name, member in value.items()
            if not (name.startswith("_") and name.endswith(added))
        }
    return [without_added(one) for one in value] if isinstance(value, list) else value
