"""Recording programs: what is asked of the tracer, starting it, and closing the trace.

The tracer is a C library that the recorder puts into the program with ``LD_PRELOAD``.
It writes to memory, and a collector in the recorder from there to a CTF trace.
:mod:`.rules` says what is wanted, :mod:`.backends` does it, driven by :mod:`.session`,
and :mod:`.summary` says what became of it.

The package can be called: ``vestige.record(["./app"], "app-trace")`` is :func:`record`.
"""

from __future__ import annotations

import sys

from .._lazy import lazy_names
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    from .recorder import Recording, record
    from .rules.contexts import CONTEXTS
    from .rules.event_rules import EventRule
    from .rules.options import RecordingOptions
else:
    ModuleType = type(sys)

__all__ = ["CONTEXTS", "EventRule", "Recording", "RecordingOptions", "record"]

_HOMES = {
    "CONTEXTS": "rules.contexts",
    "EventRule": "rules.event_rules",
    "Recording": "recorder",
    "RecordingOptions": "rules.options",
    "record": "recorder",
}
"""The module of each public name, imported when the name is first used."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)


class _CallableModule(ModuleType):
    """A package that is a function, too.

    ``vestige.record`` is this package as soon as anything in it is imported, whatever
    else had that name before.
    """

    def __call__(
        self,
        command: Sequence[str | os.PathLike[str]],
        directory: str | os.PathLike[str],
        options: RecordingOptions | None = None,
        **fields: Any,
    ) -> Recording:
        """Run a program and record it: see :func:`record`."""
        from .recorder import record  # noqa: PLC0415 - as all names here

        return record(command, directory, options, **fields)


sys.modules[__name__].__class__ = _CallableModule
