"""What is done in each recorded Python program before its own code runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from ._agent import add_agent
from ._extension import is_recorded, native
from ._functions import trace_functions
from ._wanted import wanted_words

TYPE_CHECKING = False
if TYPE_CHECKING:  # To import them takes longer than all else.
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

__all__ = ["start"]


def start() -> None:
    """Attach what the recorder asks for."""
    wanted = wanted_words()
    if not wanted or not is_recorded():
        return
    if "logging" in wanted:
        add_agent()
        _when_imported("logging", _attach_logging)
    if "gc" in wanted:
        from ._pauses import record_collections  # noqa: PLC0415 - not all need it

        record_collections(native)
    if "functions" in wanted:
        trace_functions(native, wanted)
        _when_imported("greenlet", _follow_greenlets)


def _attach_logging() -> None:
    import_module("._logging", __package__).attach()


def _follow_greenlets() -> None:
    native.follow_greenlets(sys.modules["greenlet"])


def _when_imported(name: str, action: Callable[[], None]) -> None:
    """Do something once a module is there: most programs never import it."""
    if name in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _Finder(name, action))


class _Finder:
    # Finds one module, once, as the other finders do.

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self._name = name
        self._action = action

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
        # A loader that is a class serves other modules, too.
        if spec is not None and not isinstance(spec.loader, type):
            _run_after(spec.loader, self._action)
        return spec


def _run_after(loader: Any, action: Callable[[], None]) -> None:
    """Let a loader, which serves one module, do something when it has run it."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        execute(module)
        action()

    loader.exec_module = exec_module
