"""Where Vestige says something else than both symbolizers, each kind with its reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from support.symbol_comparison import Case, Explanation


def _is_alias(case: Case) -> bool:
    """Only the name of the function differs, and starts where those of the peers do."""
    ours, *theirs = case.names
    chains = (case.llvm, case.gnu)
    return any(
        case.same_places(chain)
        and case.same_inlined_names(chain)
        and case.symbols.are_aliases(ours, name)
        for chain, name in zip(chains, theirs, strict=True)
    )


def _is_in_plt(case: Case) -> bool:
    """The name is what objdump says that the entry calls."""
    entries = case.symbols.plt_entries
    return case.entry in entries and case.names[0] in entries[case.entry]


def _is_call_of_chosen(case: Case) -> bool:
    """The name is that of a function chosen at run time, in a table without symbols."""
    name, entry = case.names[0], case.entry
    return entry is not None and case.symbols.is_call_of_chosen(name, entry)


def _is_in_padding(case: Case) -> bool:
    """No symbol covers the address, and the function named ends last before it."""
    ours, llvm, _ = case.names
    symbols = case.symbols
    behind = llvm is None and not symbols.covering(case.address)
    return behind and ours in symbols.ending_before(case.address)


def _is_at_a_label(case: Case) -> bool:
    """Both name a label inside of a function, or at its end."""
    ours, llvm, gnu = case.names
    labels = {s.name for s in case.symbols.before(case.address) if not s.size}
    symbols = case.symbols
    around = symbols.covering(case.address) or symbols.ending_before(case.address)
    is_label = llvm in labels or (llvm or "").startswith(".L")
    return ours in around and llvm == gnu and is_label and _places_of_one(case)


def _places_of_one(case: Case) -> bool:
    return case.same_places(case.llvm) or case.same_places(case.gnu)


_TESTS: dict[str, Callable[[Case], bool]] = {
    "plt": _is_in_plt,
    "ifunc": _is_call_of_chosen,
    "alias": _is_alias,
    "padding": _is_in_padding,
    "label": _is_at_a_label,
}


def read_explanations(path: Path) -> list[Explanation]:
    """Read the list of explanations, one a line; the first that applies counts.

    Raises:
        KeyError: When nothing here can tell whether one of them applies.
    """
    lines = [line.partition(": ") for line in path.read_text().splitlines()]
    return [Explanation(name, reason, _TESTS[name]) for name, _, reason in lines]
