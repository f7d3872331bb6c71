"""What reports of kernels give: a part for each machine, and a row for each thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from ..._typing import TYPE_CHECKING
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ...damage import Damage
    from ..render.call_style import CallStyle

__all__ = ["MachineTexts", "MachinesReport"]


class _Machine(Protocol):
    """What is known of a machine."""

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read of its trace."""


_AnyMachine = TypeVar("_AnyMachine", bound=_Machine)
_Written_contra = TypeVar("_Written_contra", contravariant=True)


class _Lines(Protocol[_Written_contra]):
    """Writes the tables of a machine for people."""

    def __call__(
        self, machine: _Written_contra, style: CallStyle, *, with_trace: bool
    ) -> Iterator[str]:
        """Write them."""


class MachineTexts(NamedTuple, Generic[_AnyMachine]):
    """How a kind of report is written."""

    kind: str
    """Its name in JSON."""
    lines: _Lines[_AnyMachine]
    """Writes the tables of a machine for people."""
    facts: Callable[[_AnyMachine, CallStyle], dict[str, Any]]
    """Returns what JSON has of a machine."""
    columns: Sequence[str]
    """What CSV has of a thread, by names of JSON."""


class MachinesReport(Generic[_AnyMachine]):
    """What happened on some machines.

    Args:
        machines: What happened on each.
        texts: How that is written.
    """

    def __init__(
        self, machines: Sequence[_AnyMachine], texts: MachineTexts[_AnyMachine]
    ) -> None:
        self.machines = machines
        self._texts = texts

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        return [found for one in self.machines for found in one.damage]

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        with_trace = len(self.machines) > 1
        for index, one in enumerate(self.machines):
            if index:
                yield ""
            yield from self._texts.lines(one, style, with_trace=with_trace)

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        return {
            "version": 1,
            "report": self._texts.kind,
            "machines": [self._texts.facts(one, style) for one in self.machines],
            "damage": [found._asdict() for found in self.damage],
        }

    def table(self, style: CallStyle) -> Table:
        """Return the threads; see :class:`Report`."""
        columns = self._texts.columns
        rows = [
            [machine["trace"], *(one[name] for name in columns)]
            for machine in self.facts(style)["machines"]
            for one in machine["threads"]
        ]
        return Table(("trace", *columns), rows)
