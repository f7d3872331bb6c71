"""Which processes may record: the inclusion sets of a domain of a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ..errors import error_context

__all__ = ["Tracked", "change_sets", "tracked_of"]

Tracked = int | str | Iterable[int | str]
"""Numbers or names, one or several; ``"*"`` for all."""


class _Change(Protocol):
    """``track`` or ``untrack`` of the client."""

    def __call__(
        self, session: str, attribute: str, value: str | None, *, domain: str
    ) -> None: ...


def change_sets(
    change: _Change, session: str, domain: str, sets: Mapping[str, Tracked | None]
) -> None:
    """Put processes into sets, or take them out.

    Args:
        change: ``track`` or ``untrack`` of the client.
        session: The session's name.
        domain: The domain, as the daemon calls it.
        sets: What is put in or taken out, by the names of sets; ``None`` for nothing.

    Raises:
        SessionError: The daemon refuses one; those before it are done.
    """
    for attribute, values in sets.items():
        if values is None:
            continue
        several = isinstance(values, Iterable) and not isinstance(values, str)
        for value in values if several else [values]:  # type: ignore[union-attr]
            with error_context(f"{attribute} {value}"):
                name = None if value == "*" else str(value)
                change(session, attribute, name, domain=domain)


def tracked_of(sets: Mapping[str, Any]) -> dict[str, tuple[str, ...] | None]:
    """Return the inclusion sets that the daemon tells of.

    Args:
        sets: By name; ``None`` for all processes.
    """
    return {
        name: None if values is None else tuple(values) for name, values in sets.items()
    }
