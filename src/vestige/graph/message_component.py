"""What a component must offer that takes or gives one message at a time.

Between components everything is merges, here too: who wants messages takes them out of
a merge, and who makes messages puts them into one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .. import core
from .._typing import Protocol

__all__ = ["Flow", "MessageComponent", "Pulled"]

Pulled = core.Merge | None
"""The next merge, or that there is none yet: whoever asked tries again."""
Flow = Callable[[], Iterator[Pulled]]
"""Begins to give what comes out of a port, from the beginning."""


class MessageComponent(Protocol):
    """A component that is told which ports it is connected at."""

    @property
    def input_ports(self) -> Sequence[str]:
        """The names of its input ports; a connection may add to them."""

    @property
    def output_ports(self) -> Sequence[str]:
        """The names of its output ports; a connection may add to them."""

    def port_connected(self, port: str, other: str) -> None:
        """Take notice that a port is connected.

        Args:
            port: Its port.
            other: The name of the port at the other end.

        Raises:
            ComponentError: It does not want to.
        """

    def set_flow(self, port: str, flow: Flow) -> None:
        """Take notice of what comes in at an input port.

        Args:
            port: The name of the port.
            flow: What begins to give it.
        """

    def open(self, port: str) -> Iterator[Pulled]:
        """Begin to give what comes out of an output port.

        Args:
            port: The name of the port.

        Raises:
            ComponentError: It raises an exception; what it gave before comes first.
        """

    def configure(self) -> None:
        """Make ready for :meth:`consume`: of a sink.

        Raises:
            ComponentError: It raises an exception.
        """

    def consume(self) -> bool | None:
        """Do a part of what there is to do: of a sink.

        Returns:
            Whether there may be more; ``None`` if it is to be tried again.

        Raises:
            ComponentError: It raises an exception.
        """

    def finalize(self) -> None:
        """Give back what it has."""
