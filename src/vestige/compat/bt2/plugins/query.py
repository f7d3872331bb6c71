"""Asking component classes."""

from __future__ import annotations

import traceback
from typing import Any

from ....errors import GraphError, VestigeError
from ..checks import check_str, check_type
from ..errors import (
    KIND_NUMBERS,
    TryAgain,
    UnknownObject,
    _ComponentClassErrorCause,
    _Error,
    _ErrorCause,
)
from ..interrupter import Interrupter
from ..logging import LoggingLevel, check_log_level
from ..values.value import const_value, create_value, plain_value
from .component_classes import (
    _ComponentClassConst,
    is_user_class,
    kind_of,
    registry,
)

__all__ = ["QueryExecutor"]


class QueryExecutor:
    """A question to a component class.

    Args:
        component_class: The class.
        object_name: What is asked.
        params: The parameters of the question.
        method_obj: What a class in Python gets besides.

    Raises:
        TypeError: Something is of another type.
        ValueError: A class that is not in Python cannot get an object.
    """

    def __init__(
        self,
        component_class: Any,
        object_name: str,
        params: Any = None,
        method_obj: Any = None,
    ) -> None:
        if kind_of(component_class) is None:
            raise TypeError(f"'{component_class}' is not a component class object")
        check_str(object_name)
        if method_obj is not None and not is_user_class(component_class):
            raise ValueError(
                "cannot pass a Python object to a non-Python component class"
            )
        self._component_class = component_class
        self._object_name = object_name
        self._params = create_value(params)
        self._method_obj = method_obj
        self._logging_level = LoggingLevel.NONE
        self._default_interrupter = Interrupter()
        self._interrupters = [self._default_interrupter]

    @property
    def addr(self) -> int:
        """A number of its own among the executors that live."""
        return id(self)

    def add_interrupter(self, interrupter: Interrupter) -> None:
        """Add what asks it to stop.

        Args:
            interrupter: It.
        """
        check_type(interrupter, Interrupter)
        self._interrupters.append(interrupter)

    @property
    def default_interrupter(self) -> Interrupter:
        """What asks it to stop from the beginning."""
        return self._default_interrupter

    @property
    def is_interrupted(self) -> bool:
        """Whether it is asked to stop."""
        return any(one.is_set for one in self._interrupters)

    @property
    def logging_level(self) -> int:
        """How much the class says of what it does."""
        return self._logging_level

    @logging_level.setter
    def logging_level(self, level: int) -> None:
        check_log_level(level)
        self._logging_level = level

    def query(self) -> Any:
        """Ask.

        Returns:
            The answer.

        Raises:
            UnknownObject: The class does not know what is asked.
            TryAgain: It cannot tell now.
            _Error: It fails.
        """
        if is_user_class(self._component_class):
            return const_value(self._ask_user_class())
        return const_value(self._ask())

    def _ask(self) -> Any:
        found: _ComponentClassConst = self._component_class
        known = registry.find(found._full_name)
        if known is None or self._object_name not in known.queries:
            raise UnknownObject("cannot query component class: unknown object")
        params = plain_value(self._params) or {}
        try:
            return registry.query(found._full_name, self._object_name, params)
        except (GraphError, VestigeError, OSError) as error:
            raise _Error(
                "cannot query component class", self._causes(str(error))
            ) from error

    def _ask_user_class(self) -> Any:
        private = _PrivateQueryExecutor(self)
        try:
            return self._component_class._user_query(
                private, self._object_name, const_value(self._params), self._method_obj
            )
        except (UnknownObject, TryAgain):
            raise
        except Exception as error:
            raise _Error(
                "cannot query component class", self._causes(traceback.format_exc())
            ) from error
        finally:
            private._invalidate()

    def _causes(self, message: str) -> list[_ErrorCause]:
        kind = KIND_NUMBERS[kind_of(self._component_class) or "source"]
        name = self._component_class.name
        return [
            _ComponentClassErrorCause(message, kind, name),
            _ErrorCause(f"component class's query method failed: {name}"),
            _ErrorCause(f"cannot query `{self._object_name}`"),
        ]


class _PrivateQueryExecutor:
    """What a class in Python sees of a question, as long as it is asked.

    Args:
        executor: The question.
    """

    def __init__(self, executor: QueryExecutor) -> None:
        self._executor: QueryExecutor | None = executor

    def _invalidate(self) -> None:
        self._executor = None

    def _valid(self) -> QueryExecutor:
        if self._executor is None:
            raise RuntimeError("this object is not valid anymore")
        return self._executor

    @property
    def is_interrupted(self) -> bool:
        """Whether it is asked to stop."""
        return self._valid().is_interrupted

    @property
    def logging_level(self) -> int:
        """How much the class is to say of what it does."""
        return self._valid().logging_level
