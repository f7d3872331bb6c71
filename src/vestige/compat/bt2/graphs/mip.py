"""Versions of the protocol of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..checks import check_type
from ..logging import LoggingLevel, check_log_level
from ..plugins.component_classes import kind_of
from ..values.integer_ranges import UnsignedIntegerRangeSet
from ..values.value import create_value

__all__ = [
    "ComponentDescriptor",
    "get_greatest_operative_mip_version",
    "get_maximal_mip_version",
]


class ComponentDescriptor:
    """A component that would be made.

    Args:
        component_class: Its class.
        params: Its parameters.
        obj: What a component in Python gets besides.

    Raises:
        TypeError: The class is none.
    """

    def __init__(
        self, component_class: Any, params: Any = None, obj: Any = None
    ) -> None:
        if kind_of(component_class) is None:
            raise TypeError(f"'{component_class}' is not a component class")
        self._component_class = component_class
        self._params = create_value(params)
        self._obj = obj

    @property
    def component_class(self) -> Any:
        """Its class."""
        return self._component_class

    @property
    def params(self) -> Any:
        """Its parameters, or ``None``."""
        return self._params

    @property
    def obj(self) -> Any:
        """What a component in Python gets besides."""
        return self._obj


def get_maximal_mip_version() -> int:
    """Return the newest version that there is."""
    return 0


def get_greatest_operative_mip_version(
    component_descriptors: Sequence[Any],
    log_level: int = LoggingLevel.NONE,
) -> int | None:
    """Return the newest version that components have in common.

    Args:
        component_descriptors: The components.
        log_level: Of no effect.

    Raises:
        TypeError: A descriptor is none.
        ValueError: There is no descriptor.
    """
    check_log_level(log_level)
    if not component_descriptors:
        raise ValueError("no component descriptors")
    for one in component_descriptors:
        check_type(one, ComponentDescriptor)
        kind = one.component_class
        ask = getattr(kind, "_user_get_supported_mip_versions", None)
        if ask is not None:
            versions = UnsignedIntegerRangeSet(ask(one.params, one.obj, log_level))
            if not versions.contains_value(0):
                return None
    return get_maximal_mip_version()
