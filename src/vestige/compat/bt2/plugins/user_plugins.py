"""The component classes of plugins in Python, as a registry wants them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....errors import GraphError
from ....graph.component_class import ComponentClass
from ....graph.plan import ComponentSpec, UnsignedInteger
from .descriptions import description_of
from .files import PluginFile

__all__ = ["UserPlugins"]

LOG_LEVELS = {
    "TRACE": 1,
    "DEBUG": 2,
    "INFO": 3,
    "WARNING": 4,
    "ERROR": 5,
    "FATAL": 6,
    "NONE": 0xFF,
}
"""The log levels of Babeltrace 2, by their words."""


class UserPlugins:
    """Component classes of plugins.

    Args:
        plugins: The plugins.
        log_level: The log level of components that have none of their own.
    """

    def __init__(
        self, plugins: Iterable[PluginFile], log_level: str = "WARNING"
    ) -> None:
        self.plugins = [*plugins]
        """The plugins."""
        self._log_level = log_level
        self._objects: Any = None
        self._classes: dict[str, type] = {}
        for plugin in self.plugins:
            for one in plugin.classes:
                kind: str = one._bt_kind  # type: ignore[attr-defined]
                self._classes[f"{kind}.{plugin.name}.{one.__name__}"] = one

    @property
    def names(self) -> Iterator[str]:
        """The names of all classes."""
        return iter(self._classes)

    def user_class(self, name: str) -> type | None:
        """Return the Python class of a name, or ``None``.

        Args:
            name: The name, such as ``source.ctf.fs``.
        """
        return self._classes.get(name)

    def find(self, name: str) -> ComponentClass | None:
        """Return the class of a name, or ``None``.

        Args:
            name: The name, such as ``source.ctf.fs``.
        """
        found = self._classes.get(name)
        if found is None:
            return None
        return ComponentClass(
            name, description_of(found), {}, lane="messages", takes_anything=True
        )

    def make(self, spec: ComponentSpec, interruption: Any = None) -> Any:
        """Make a component.

        Args:
            spec: What is wanted.
            interruption: Tells when it is to stop.
        """
        from ..traces.native import Objects  # noqa: PLC0415 - as above
        from ..user.lane_component import LaneComponent  # noqa: PLC0415 - few are made
        from ..values.value import const_value  # noqa: PLC0415 - as above

        if self._objects is None:
            self._objects = Objects()
        level = spec.log_level or self._log_level
        return LaneComponent(
            self._classes[spec.class_name],
            spec.name,
            const_value(_signed(spec.params)),
            None,
            LOG_LEVELS[level],
            interruption,
            self._objects,
        )

    def query(self, name: str, question: str, params: Mapping[str, Any]) -> Any:
        """Ask a class.

        Args:
            name: The name of the class.
            question: What is asked.
            params: The parameters of the question.

        Raises:
            GraphError: It does not know, or raises an exception, which is the cause.
        """
        from ..errors import UnknownObject  # noqa: PLC0415 - as above
        from ..values.value import const_value, plain_value  # noqa: PLC0415 - as above

        asked: Any = self._classes[name]
        try:
            answer = asked._user_query(
                None, question, const_value(_signed(params)), None
            )
        except UnknownObject:
            raise GraphError(f"{name} does not know the object '{question}'") from None
        except (Exception, SystemExit) as error:
            raise GraphError(
                f"{name}: the object '{question}' cannot be told"
            ) from error
        try:
            return plain_value(const_value(answer))
        except TypeError as error:
            raise GraphError(
                f"{name}: the answer to '{question}' is no value"
            ) from error.with_traceback(None)


def _signed(value: Any) -> Any:
    """Return a value of parameters whose integers without a sign are such."""
    from ..values.value import UnsignedIntegerValue  # noqa: PLC0415 - as above

    if isinstance(value, UnsignedInteger):
        return UnsignedIntegerValue(int(value))
    if isinstance(value, Mapping):
        return {key: _signed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_signed(one) for one in value]
    return value
