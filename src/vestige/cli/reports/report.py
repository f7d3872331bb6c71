"""What a report is: something worked out, which can be written in several forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING, NamedTuple, Protocol
from ...damage import Damage

if TYPE_CHECKING:
    from typing import Any

    from ..render.call_style import CallStyle

__all__ = ["Report", "Table"]


class Table(NamedTuple):
    """Rows for programs, as CSV has them."""

    columns: Sequence[str]
    """Names of the columns."""
    rows: Sequence[Sequence[object]]
    """The rows; ``None`` is an empty cell."""


class Report(Protocol):
    """What was worked out of some traces."""

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people.

        Args:
            style: What is shown.

        Yields:
            The lines, without what could steer a terminal.
        """

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it.

        Args:
            style: What is shown.
        """

    def table(self, style: CallStyle) -> Table:
        """Return its main table.

        Args:
            style: What is shown.
        """
