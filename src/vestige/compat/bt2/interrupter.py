"""Asking what runs to stop."""

from __future__ import annotations

__all__ = ["Interrupter"]


class Interrupter:
    """Asks what it is added to to stop."""

    def __init__(self) -> None:
        self._is_set = False

    @property
    def addr(self) -> int:
        """A number of its own among the interrupters that live."""
        return id(self)

    @property
    def is_set(self) -> bool:
        """Whether it asks to stop."""
        return self._is_set

    def __bool__(self) -> bool:
        return self._is_set

    def set(self) -> None:
        """Ask to stop."""
        self._is_set = True

    def reset(self) -> None:
        """Ask no more."""
        self._is_set = False
