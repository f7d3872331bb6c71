"""Where in a program something was asked for: the place of a caller."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from ..debuginfo import Place

__all__ = ["UNKNOWN_SITE", "Site", "Sites"]


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a program, as far as it is known."""

    function: str | None = None
    """The function."""
    source: str | None = None
    """Source file, without its directories, and line."""
    object: str | None = None
    """The executable or library, without its directories."""

    def __str__(self) -> str:
        """Write it in a few words, for people."""
        name = self.function or self.object or "(unknown place)"
        if self.source:
            return f"{name} at {self.source}"
        return f"{name} in {self.object}" if self.function and self.object else name


UNKNOWN_SITE = Site()
"""That of events without an address, or of one of which nothing is known."""


class Sites:
    """The sites of the events of traces, each made once."""

    def __init__(self) -> None:
        # With the place, which keeps its identity from being used again.
        self._known: dict[int, tuple[object, int]] = {}
        self._indexes: dict[Site, int] = {UNKNOWN_SITE: 0}
        self.all: list[Site] = [UNKNOWN_SITE]
        """The sites, by their indexes."""

    def index(self, place: object) -> int:
        """Return the index of the site of a place.

        Args:
            place: The ``debug_info`` of an event.
        """
        known = self._known.get(id(place))
        if known is not None:
            return known[1]
        site = _site(place)
        index = self._indexes.setdefault(site, len(self.all))
        if index == len(self.all):
            self.all.append(site)
        self._known[id(place)] = place, index
        return index


def _site(place: object) -> Site:
    if not isinstance(place, Place):
        return UNKNOWN_SITE
    line = f"{PurePath(place.file or '').name}:{place.line}" if place.line else None
    name = PurePath(place.binary.mapping.path).name
    function = place.function
    if function is None:
        name = f"{name}+{place.binary.offset:#x}"
    return Site(function, line, name)
