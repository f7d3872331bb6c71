"""Options that take a list with commas, and add up when they are repeated."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__all__ = ["AddToList"]


class AddToList(argparse.Action):
    """Joins its values with commas; the first one takes the place of the default."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Add a list."""
        del parser, option_string
        before = getattr(namespace, self.dest)
        is_first = before is self.default
        setattr(namespace, self.dest, values if is_first else f"{before},{values}")
