"""A component that somebody wrote in Python, as graphs want it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ....errors import ComponentError, GraphError, TraceFormatError
from ....graph.interruption import GraphInterruption
from ....graph.message_component import Flow, Pulled
from ..errors import TryAgain
from ..messages.encoding import Encoder
from ..traces.native import Objects
from .components import _ComponentConfiguration, _Facts
from .iterators import _MessageIteratorConfiguration

__all__ = ["LaneComponent"]

MOST_MESSAGES = 4096
"""How many messages are asked for at once, of components that are quick."""
SLOW_SECONDS = 0.1
"""Who takes longer for its messages is asked for fewer: else nothing of them would be
seen until there are many, and nobody could interrupt it."""
_NOT_ITS_FAILURES = (StopIteration, TryAgain, GraphInterruption, KeyboardInterrupt)
# What a method raises if there is nothing more, nothing yet, or Ctrl-C was pressed.


class LaneComponent:
    """A component that takes or gives messages.

    Args:
        component_class: Its class.
        name: Its name.
        params: Its parameters.
        obj: What it is given besides.
        log_level: How much it is to say.
        interruption: Tells when somebody wants it to stop.
        objects: Makes the objects of streams, those of a graph once.

    Raises:
        ComponentError: It raises an exception.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a component is made of
        self,
        component_class: Any,
        name: str,
        params: Any,
        obj: Any,
        log_level: int,
        interruption: Any,
        objects: Objects | None = None,
    ) -> None:
        self._name = name
        self._component = component_class.__new__(component_class)
        self._facts = _Facts(name, log_level, interruption, objects or Objects())
        self._component._facts = self._facts
        config = _ComponentConfiguration()
        self._do("cannot be made", self._component.__init__, config, params, obj)

    @property
    def component(self) -> Any:
        """The component as its class has made it."""
        return self._component

    @property
    def input_ports(self) -> Sequence[str]:
        """The names of its input ports."""
        return [*self._facts.inputs]

    @property
    def output_ports(self) -> Sequence[str]:
        """The names of its output ports."""
        return [*self._facts.outputs]

    def port_connected(self, port: str, other: str) -> None:
        """Tell it that a port is connected."""
        found = self._facts.inputs.get(port) or self._facts.outputs[port]
        found.is_connected = True
        method = self._component._user_port_connected
        self._do("refuses a connection", method, found, _OtherPort(other))

    def set_flow(self, port: str, flow: Flow) -> None:
        """Set what comes in at a port."""
        self._facts.inputs[port].flow = flow

    def configure(self) -> None:
        """Tell it that it is about to run."""
        self._do("cannot run", self._component._user_graph_is_configured)

    def consume(self) -> bool | None:
        """Let it take messages."""
        try:
            self._do("failed", self._component._user_consume)
        except StopIteration:
            return False
        except TryAgain:
            return None
        return True

    def finalize(self) -> None:
        """Tell it that it has run."""
        self._do("failed at the end", self._component._user_finalize)

    def open(self, port: str) -> Iterator[Pulled]:
        """Begin to give what comes out of a port.

        Its iterator is made at once: what it does not find is told before anything is
        read.
        """
        component = self._component
        iterator = component._bt_iterator_class.__new__(component._bt_iterator_class)
        iterator._component_of = component
        iterator._port_of = self._facts.outputs[port]
        iterator._config = _MessageIteratorConfiguration()
        self._do(
            "failed", iterator.__init__, iterator._config, self._facts.outputs[port]
        )
        return self._merges(iterator, port)

    def _merges(self, iterator: Any, port: str) -> Iterator[Pulled]:
        encoder = Encoder()
        step = iterator.__next__
        goes_on, most = True, 1
        while goes_on:
            began = time.monotonic()
            try:
                goes_on = self._do("failed", encoder.take, step, most)
            except TryAgain:
                if not len(encoder):
                    yield None
            except (GraphError, TraceFormatError) as error:
                # What it gave before comes first.
                if len(encoder):
                    yield encoder.finish()
                if not isinstance(error, GraphError) or isinstance(
                    error, ComponentError
                ):
                    raise
                raise ComponentError(
                    self._name, f"output port '{port}': {error}"
                ) from None
            is_slow = time.monotonic() - began > SLOW_SECONDS
            most = max(most // 8, 1) if is_slow else min(most * 8, MOST_MESSAGES)
            if len(encoder):
                yield encoder.finish()
        self._do("failed at the end", iterator._user_finalize)

    def _do(self, what: str, method: Callable[..., Any], *arguments: Any) -> Any:
        """Call a method of the component; tell whose exception it raises."""
        try:
            return method(*arguments)
        except (*_NOT_ITS_FAILURES, GraphError, TraceFormatError):
            raise
        except BaseException as error:  # `sys.exit()` ends no graph
            raise ComponentError(self._name, what) from error


class _OtherPort:
    # A port at the other end of a connection.

    def __init__(self, name: str) -> None:
        self.name = name
