"""Finding the symbols that were packed with traces."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

from ...advice import VestigeWarning
from ..tables.symbol_store import STORE_NAME, SymbolStore
from .finder import DebugFileFinder
from .options import DebugInfoOptions

__all__ = ["SymbolStoreWarning", "attach_stores", "store_directories"]


class SymbolStoreWarning(VestigeWarning):
    """Symbols that were packed with a trace are damaged, and not used."""


def store_directories(directories: Iterable[Path], roots: Iterable[Path]) -> list[Path]:
    """List where symbols may lie that were packed with traces.

    Args:
        directories: The directories of the traces.
        roots: The directories that were asked for, at or above those.

    Returns:
        A directory in each of them and in each one between.
    """
    tops = set(roots)
    found: dict[Path, None] = {}
    for directory in directories:
        above = [directory, *directory.parents]
        last = next((at for at, one in enumerate(above) if one in tops), 0)
        found.update(dict.fromkeys(one / STORE_NAME for one in above[: last + 1]))
    return list(found)


def attach_stores(
    finder: DebugFileFinder,
    options: DebugInfoOptions,
    places: Iterable[Path],
    traces: Iterable[bytes | None],
) -> None:
    """Let a finder look into packed symbols before all files.

    Args:
        finder: The finder.
        options: Its options: a debug directory may hold packed symbols too.
        places: Where symbols may lie that were packed with the traces.
        traces: What identifies the traces that are read.
    """
    own = [place for place in places if place.is_dir()]
    # A trace without identity is none that anything was packed of.
    identities = {"" if one is None else one.hex() for one in traces}
    report = options.notice or _warn
    for place in dict.fromkeys((*own, *options.directories())):
        store = SymbolStore.open(place, identities, report)
        if store is not None:
            finder.stores.append(store)
    whole = [place for place in own if (place / ".build-id").is_dir()]
    finder.debug_directories = (*whole, *finder.debug_directories)


def _warn(text: str) -> None:
    warnings.warn(text, SymbolStoreWarning, stacklevel=2)
