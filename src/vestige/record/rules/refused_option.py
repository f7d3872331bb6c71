"""An option that is refused: Python and the command line have their names for it."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...errors import SelectionError

if TYPE_CHECKING:
    from typing import Any

__all__ = ["refused_option"]

_ON_COMMAND_LINE = {
    "contexts": "--context",
    "entries_only": "--entries",
    "events": "--event",
    "exclude": "--exclude-function",
    "include": "--include-function",
    "keep_archives": "--keep",
    "kernel_contexts": "--kernel-context",
    "kernel_probes": "--kernel-probe",
    "probes": "--probe",
    "rotate_seconds": "--rotate",
    "rotate_size": "--rotate",
    "timeout": "--mode=block",
}
"""Options that are called otherwise than their field in ``RecordingOptions``."""


class _Names(dict[str, "Any"]):
    # What stands in a text; names of fields stand for themselves.

    def __init__(self, values: dict[str, Any], *, on_command_line: bool) -> None:
        super().__init__(values)
        self._on_command_line = on_command_line

    def __missing__(self, field: str) -> str:
        if not self._on_command_line:
            return field
        return _ON_COMMAND_LINE.get(field) or "--" + field.replace("_", "-")


def refused_option(text: str, **values: Any) -> SelectionError:
    """Return an error of an option that has a wrong value, or lacks another one.

    Args:
        text: What is wrong, with ``{field}`` for each field of ``RecordingOptions``,
            and ``{name}`` for each of the values.
        values: What else stands in the text.
    """
    error = SelectionError(text.format_map(_Names(values, on_command_line=False)))
    error.on_command_line = text.format_map(_Names(values, on_command_line=True))
    return error
