"""The list of the event classes that programs add to the metadata of a recording.

``tracer/src/event_class.c`` writes it, and holds a lock on it. It does not make it: a
process that outlives its recording unseen must not begin again with the first ID.
"""

from __future__ import annotations

import os
from pathlib import Path

from ._agreement import CLASS_LIST_FILE

__all__ = ["CLASS_LIST", "make_class_list"]

CLASS_LIST = CLASS_LIST_FILE


def make_class_list(directory: Path) -> None:
    """Make the file, empty.

    Args:
        directory: The trace.

    Raises:
        OSError: The file cannot be made.
    """
    with (directory / CLASS_LIST).open("xb") as file:
        os.fchmod(file.fileno(), 0o600)
