"""Words that options take, for type checkers: nothing here is needed to record."""

from __future__ import annotations

from typing import Literal

__all__ = ["FunctionTracing", "Mode", "PythonFunctions"]

FunctionTracing = Literal["fast", "verbose", "off"]
PythonFunctions = Literal["python", "all"]
Mode = Literal["block", "discard", "overwrite"]
