"""Errors, with the causes that led to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

__all__ = ["ComponentClassType", "Stop", "TryAgain", "UnknownObject"]


class ComponentClassType:
    """Kinds of component classes."""

    SOURCE = 1
    FILTER = 2
    SINK = 4


KIND_NUMBERS = {
    "source": ComponentClassType.SOURCE,
    "filter": ComponentClassType.FILTER,
    "sink": ComponentClassType.SINK,
}


class UnknownObject(Exception):  # noqa: N818 - bt2's name
    """A component class does not know what it is asked about."""


class TryAgain(Exception):  # noqa: N818 - bt2's name
    """There is nothing now, but there may be later."""


class Stop(StopIteration):
    """There is nothing more."""


class _IncompleteUserClass(Exception):  # noqa: N818 - bt2's name
    """A component class lacks a method."""


class _ErrorCause:
    """A cause of an error.

    Args:
        message: What happened.
        module_name: Where.
        file_name: In which file.
        line_number: In which line.
    """

    def __init__(
        self,
        message: str,
        module_name: str = "vestige",
        file_name: str = "",
        line_number: int = 0,
    ) -> None:
        self._message = message
        self._module_name = module_name
        self._file_name = file_name
        self._line_number = line_number

    @property
    def message(self) -> str:
        """What happened."""
        return self._message

    @property
    def module_name(self) -> str:
        """Where."""
        return self._module_name

    @property
    def file_name(self) -> str:
        """In which file."""
        return self._file_name

    @property
    def line_number(self) -> int:
        """In which line."""
        return self._line_number

    def __str__(self) -> str:
        return f"[{self._module_name}] {self._message}"


class _ComponentClassErrorCause(_ErrorCause):
    """A cause in a component class.

    Args:
        message: What happened.
        kind: Kind of the class.
        name: Name of the class.
        plugin_name: Name of its plugin, or ``None``.
    """

    def __init__(
        self, message: str, kind: int, name: str, plugin_name: str | None = None
    ) -> None:
        super().__init__(message, name)
        self._component_class_type = kind
        self._component_class_name = name
        self._plugin_name = plugin_name

    @property
    def component_class_type(self) -> int:
        """Kind of the class."""
        return self._component_class_type

    @property
    def component_class_name(self) -> str:
        """Name of the class."""
        return self._component_class_name

    @property
    def plugin_name(self) -> str | None:
        """Name of its plugin, or ``None``."""
        return self._plugin_name


class _ComponentErrorCause(_ComponentClassErrorCause):
    """A cause in a component.

    Args:
        message: What happened.
        kind: Kind of the class.
        name: Name of the class.
        plugin_name: Name of its plugin, or ``None``.
        component_name: Name of the component.
    """

    def __init__(
        self,
        message: str,
        kind: int,
        name: str,
        plugin_name: str | None = None,
        component_name: str = "",
    ) -> None:
        super().__init__(message, kind, name, plugin_name)
        self._component_name = component_name

    @property
    def component_name(self) -> str:
        """Name of the component."""
        return self._component_name


class _MessageIteratorErrorCause(_ComponentErrorCause):
    """A cause in a message iterator: as of its component.

    Args:
        message: What happened.
        kind: Kind of the class.
        name: Name of the class.
        plugin_name: Name of its plugin, or ``None``.
        component_name: Name of the component.
        port_name: Name of the output port.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the facts of the cause
        self,
        message: str,
        kind: int,
        name: str,
        plugin_name: str | None = None,
        component_name: str = "",
        port_name: str = "",
    ) -> None:
        super().__init__(message, kind, name, plugin_name, component_name)
        self._port_name = port_name

    @property
    def component_output_port_name(self) -> str:
        """Name of the output port."""
        return self._port_name


class _Error(Exception, Sequence[Any]):
    """Something failed, with its causes: that from which it came first, then others.

    Args:
        message: What failed.
        causes: The causes; a cause that says the same if there are none.
    """

    def __init__(self, message: str, causes: Sequence[_ErrorCause] = ()) -> None:
        super().__init__(message)
        self._message = message
        self._causes = [*causes] or [_ErrorCause(message)]

    def __getitem__(self, index: Any) -> Any:
        return self._causes[index]

    def __len__(self) -> int:
        return len(self._causes)

    def __str__(self) -> str:
        """Return what failed, and the causes, the last one first."""
        lines = [str(one) for one in reversed(self._causes)]
        return "\n".join([self._message, *lines])

    def index(
        self,
        value: Any,
        start: SupportsIndex = 0,
        stop: SupportsIndex | None = None,
    ) -> int:
        """Return the index of a cause.

        Args:
            value: The cause.
            start: Where to begin to look for it.
            stop: Where to end.
        """
        end = len(self._causes) if stop is None else stop
        return self._causes.index(value, start, end)


class _MemoryError(_Error):
    """There is not enough memory."""


class _OverflowError(_Error, OverflowError):
    """A number is too large."""
