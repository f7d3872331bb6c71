"""Asking `llvm-symbolizer`, `addr2line` and Vestige what is at an address."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from support.peers import run_peer
from vestige.debuginfo import Place, SymbolTable, Unresolved

SECONDS = 120.0
UNKNOWN_NAMES = ("??", "")
PLT_ENTRY = re.compile(rb"^([0-9a-f]+) <([^>]+)@plt>:", re.MULTILINE)
INSTRUCTION = re.compile(rb"^ *([0-9a-f]+):\t", re.MULTILINE)


class Level(NamedTuple):
    """A level of calls at an address, as a symbolizer states it."""

    name: str | None
    """The linkage name."""

    path: str | None
    """The path of the file, without `.` and `..`."""

    line: int | None
    """The line; None where it is not known."""

    def __str__(self) -> str:
        """Write it as the symbolizers do."""
        return f"{self.name or '??'} at {self.path or '??'}:{self.line or '?'}"


Chain = tuple[Level, ...]
"""The levels at an address, innermost first; there is at least one."""


class Answer(NamedTuple):
    """What a symbolizer says of an address."""

    chain: Chain
    """The levels of calls."""

    entry: int | None = None
    """The entry of the function that is not inlined, where it is stated."""


def level(name: str | None, path: str | None, line: int | None) -> Level:
    """Return a level in the form that can be compared."""
    known = None if path is None or path in UNKNOWN_NAMES else posixpath.normpath(path)
    return Level(None if name in UNKNOWN_NAMES else name, known, line or None)


class Code(NamedTuple):
    """What `objdump` says of the code of an object."""

    addresses: list[int]
    """The address of each instruction."""

    plt_entries: dict[int, str]
    """The entries of the procedure linkage table, and what they call."""

    plt_code: set[int]
    """The addresses of the instructions in the sections of that table."""


def disassemble(binary: Path, objdump: str = "objdump") -> Code:
    """Return the instructions and the entries of the procedure linkage table."""
    argv: list[str | Path] = [objdump, "-d", "--no-show-raw-insn", "-w", binary]
    done = run_peer(argv, seconds=SECONDS)
    if done.status != 0:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    entries = PLT_ENTRY.finditer(done.stdout)
    sections = done.stdout.split(b"Disassembly of section ")[1:]
    tables = [text for text in sections if b"plt" in text.partition(b":")[0]]
    return Code(
        [int(match[1], 16) for match in INSTRUCTION.finditer(done.stdout)],
        {int(match[1], 16): match[2].decode() for match in entries},
        {int(match[1], 16) for text in tables for match in INSTRUCTION.finditer(text)},
    )


def ask_llvm(
    binary: Path, addresses: Sequence[int], tool: str = "llvm-symbolizer"
) -> list[Answer]:
    """Return what `llvm-symbolizer --inlines` says of each address."""
    argv: list[str | Path] = [
        tool,
        "--inlines",
        "--no-demangle",
        "--output-style=JSON",
        "--obj",
        binary,
    ]
    done = run_peer(argv, text=_lines(addresses), seconds=SECONDS)
    if done.status != 0:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [_llvm_answer(answer["Symbol"]) for answer in answers]


def _llvm_answer(symbols: Sequence[dict[str, str | int]]) -> Answer:
    levels = [
        level(str(one["FunctionName"]), str(one["FileName"]), int(one["Line"]))
        for one in symbols
    ]
    start = str(symbols[-1].get("StartAddress") or "")
    return Answer(tuple(levels), int(start, 16) if start else None)


def ask_addr2line(
    binary: Path, addresses: Sequence[int], tool: str = "addr2line"
) -> list[Answer]:
    """Return what `addr2line -i -f` says of each address."""
    argv: list[str | Path] = [tool, "-a", "-f", "-i", "-e", binary]
    done = run_peer(argv, text=_lines(addresses), seconds=SECONDS)
    if done.status != 0:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    answers: list[list[Level]] = []
    rest = iter(done.stdout.decode(errors="replace").splitlines())
    for text in rest:
        if text.startswith("0x"):
            answers.append([])
            continue
        path, _, line = next(rest).partition(" (discriminator")[0].rpartition(":")
        answers[-1].append(level(text, path, int(line) if line.isdigit() else None))
    return [Answer(tuple(answer)) for answer in answers]


def _lines(addresses: Iterable[int]) -> bytes:
    return "".join(f"{address:#x}\n" for address in addresses).encode()


def ask_vestige(table: SymbolTable, addresses: Sequence[int]) -> list[Answer]:
    """Return what Vestige says of each address."""
    return [
        Answer((level(None, None, None),))
        if isinstance(place, Unresolved)
        else _answer(place, address)
        for place, address in zip(table.lookup(addresses), addresses, strict=True)
    ]


def _answer(place: Place, address: int) -> Answer:
    entry = None if place.function is None else address - place.offset
    name = place.linkage_name or place.function
    levels = [
        level(frame.linkage_name or frame.function, frame.file, frame.line)
        for frame in place.frames
    ] or [level(name, place.source_path, place.line)]
    return Answer(tuple(levels), entry)
