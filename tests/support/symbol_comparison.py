"""Judging what Vestige says of an address by what `llvm-symbolizer` and `addr2line` say."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import NamedTuple

from support.compilers import run_tool
from support.symbolizers import Answer, Chain, Level

CLONE = re.compile(r"\.(cold|isra|part|constprop|lto_priv|llvm)\b[.\w]*$|\.\d+$")
CHOSEN_AT_RUN_TIME = re.compile(r"\*ABS\*\+0x([0-9a-f]+)")
VERSION = re.compile(r"@.*$")


class Symbol(NamedTuple):
    """A symbol of a function in an ELF symbol table."""

    start: int
    size: int
    name: str
    kind: str = "T"


class SymbolNames:
    """The symbols of an object, all names of each address."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.plt_code: set[int] = set()
        """The addresses of the instructions in the procedure linkage table."""
        self.plt_entries: dict[int, set[str]] = {}
        """What the entries of the procedure linkage table call, by their address."""
        self._by_start: dict[int, list[Symbol]] = defaultdict(list)
        self._starts_of: dict[str, set[int]] = defaultdict(set)
        for symbol in symbols:
            self._by_start[symbol.start].append(symbol)
            self._starts_of[symbol.name].add(symbol.start)
        self._starts = sorted(self._by_start)

    @classmethod
    def read(cls, binaries: Iterable[Path], nm: str = "nm") -> SymbolNames:
        """Read both symbol tables of an object and its debug file."""
        found = []
        for binary, option in product(binaries, ("-a", "-D")):
            text = run_tool([nm, "-S", "--defined-only", option, binary]).decode()
            found += [_symbol(line) for line in text.splitlines()]
        return cls(found)

    def are_aliases(self, one: str | None, other: str | None) -> bool:
        """Tell whether two names start at one address."""
        if one is None or other is None:
            return False
        return not self._starts_of[one].isdisjoint(self._starts_of[other])

    def add_plt_entries(self, entries: Mapping[int, str]) -> None:
        """Add what objdump says; functions chosen at run time it knows by their address."""
        for entry, text in entries.items():
            chosen = CHOSEN_AT_RUN_TIME.fullmatch(text)
            targets = self._by_start[int(chosen[1], 16)] if chosen else []
            names = {symbol.name for symbol in targets} or {plain_name(text) or ""}
            self.plt_entries[entry] = names

    def is_call_of_chosen(self, name: str | None, entry: int) -> bool:
        """Tell whether an entry may call a function that is chosen at run time."""
        starts = self._starts_of[name or ""]
        chosen = {s.kind for start in starts for s in self._by_start[start]}
        return entry in self.plt_code and "i" in chosen

    def starts_at(self, name: str | None, address: int) -> bool:
        """Tell whether a symbol with a name starts at an address."""
        return name is not None and address in self._starts_of[name]

    def before(self, address: int) -> list[Symbol]:
        """Return the symbols with the last start up to an address."""
        index = bisect_right(self._starts, address) - 1
        return self._by_start[self._starts[index]] if index >= 0 else []

    def ending_before(self, address: int) -> set[str]:
        """Return the names of the symbols that end last before an address."""
        ends: dict[int, set[str]] = defaultdict(set)
        for symbols in self._by_start.values():
            for symbol in symbols:
                ends[symbol.start + symbol.size].add(symbol.name)
        return ends[max((end for end in ends if end <= address), default=0)]

    def covering(self, address: int) -> set[str]:
        """Return the names of all symbols whose size says that they cover an address."""
        return {
            symbol.name
            for symbols in self._by_start.values()
            for symbol in symbols
            if symbol.start <= address < symbol.start + symbol.size
        }


def _symbol(line: str) -> Symbol:
    words = line.split()
    size = int(words[1], 16) if len(words[1]) > 1 else 0
    return Symbol(int(words[0], 16), size, plain_name(words[-1]) or "", words[-2])


def plain_name(name: str | None) -> str | None:
    """Return a linkage name without what compilers and linkers add to it."""
    if name is None:
        return None
    name = VERSION.sub("", name) or name
    while (shorter := CLONE.sub("", name)) != name and shorter:
        name = shorter
    return name


def comparable(chain: Chain) -> Chain:
    """Return a chain in the form that is compared: a file counts only with its line."""
    return tuple(
        Level(plain_name(one.name), one.path if one.line else None, one.line)
        for one in chain
    )


@dataclass(frozen=True)
class Case:
    """An address, and what the three say of it in comparable form."""

    variant: str
    address: int
    entry: int | None
    llvm_entry: int | None
    ours: Chain
    llvm: Chain
    gnu: Chain
    symbols: SymbolNames

    @property
    def names(self) -> tuple[str | None, str | None, str | None]:
        """Return the names of the functions that are not inlined: ours, LLVM's, GNU's."""
        return self.ours[-1].name, self.llvm[-1].name, self.gnu[-1].name

    @property
    def is_entry_right(self) -> bool:
        """Tell whether the function starts where LLVM or a symbol of its name says."""
        name = self.names[0]
        if self.entry is None:
            return name is None
        if self.symbols.is_call_of_chosen(name, self.entry):
            return True
        if self.entry in self.symbols.plt_entries:
            return name in self.symbols.plt_entries[self.entry]
        return self.entry == self.llvm_entry or self.symbols.starts_at(name, self.entry)

    def same_places(self, theirs: Chain) -> bool:
        """Tell whether the number of levels and all files and lines are the same."""
        return [one[1:] for one in self.ours] == [one[1:] for one in theirs]

    def same_inlined_names(self, theirs: Chain) -> bool:
        """Tell whether the names of the inlined functions are the same."""
        return [one.name for one in self.ours[:-1]] == [one.name for one in theirs[:-1]]

    def __str__(self) -> str:
        """Write it on four lines."""
        chains = {"ours": self.ours, "llvm": self.llvm, "gnu": self.gnu}
        lines = [f"{name:>8}: {_text(chain)}" for name, chain in chains.items()]
        return "\n".join([f"{self.variant} {self.address:#x}", *lines])


def _text(chain: Chain) -> str:
    return " | ".join(str(one) for one in chain)


class Explanation(NamedTuple):
    """Why Vestige says something else than both peers, and how to tell such a case."""

    name: str
    reason: str
    applies: Callable[[Case], bool]


@dataclass
class Tally:
    """How many addresses are judged in each way."""

    objects: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: list[Case] = field(default_factory=list)
    wrong_entries: list[Case] = field(default_factory=list)

    def add(self, case: Case, explanations: Sequence[Explanation]) -> None:
        """Judge one address."""
        if not case.is_entry_right:
            self.wrong_entries.append(case)
        agrees = (case.ours == case.llvm, case.ours == case.gnu)
        self.counts["instructions"] += 1
        if any(agrees):
            names = {(True, True): "both", (True, False): "llvm", (False, True): "gnu"}
            self.counts[names[agrees]] += 1
            return
        for explanation in explanations:
            if explanation.applies(case):
                self.explained[explanation.name] += 1
                return
        self.unexplained.append(case)

    def __str__(self) -> str:
        """Write the counts."""
        explained = ", ".join(
            f"{count} {name}" for name, count in self.explained.most_common()
        )
        return (
            f"{self.objects} objects, {self.counts['instructions']} instructions: "
            f"{self.counts['both']} agree with both, "
            f"{self.counts['llvm']} with llvm-symbolizer and not addr2line, "
            f"{self.counts['gnu']} with addr2line and not llvm-symbolizer, "
            f"{self.explained.total()} explained ({explained}), "
            f"{len(self.unexplained)} unexplained"
        )


def cases(
    variant: str,
    addresses: Sequence[int],
    answers: tuple[Sequence[Answer], Sequence[Answer], Sequence[Answer]],
    symbols: SymbolNames,
) -> Iterable[Case]:
    """Put together what Vestige, LLVM and GNU say of each address."""
    for address, ours, llvm, gnu in zip(addresses, *answers, strict=True):
        yield Case(
            variant,
            address,
            ours.entry,
            llvm.entry,
            comparable(ours.chain),
            comparable(llvm.chain),
            comparable(gnu.chain),
            symbols,
        )
