"""Writing selections to files of other programs: Parquet, Arrow IPC, CSV, JSON Lines.

One file is written by :mod:`.column_files`; here are those for each event name.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Unpack

from .column_files import FORMATS, Format, Progress, write_file
from .columns import ColumnKeywords
from .selection import EventSelection

__all__ = ["FORMATS", "Format", "Progress", "export", "export_each"]

LONGEST_NAME = 200
"""Most bytes of the name of an event in the name of its file."""


export = write_file
"""Write one file: see :func:`vestige.trace.column_files.write_file`."""


def export_each(
    selection: EventSelection,
    directory: str | os.PathLike[str],
    to: Format,
    *,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
    **options: Unpack[ColumnKeywords],
) -> dict[Path, int]:
    """Write the events of a selection to a file for each name.

    Each file has the columns of its own events. The trace is read once for each.

    Args:
        selection: The events.
        directory: Where the files go; it is made if need be.
        to: The format, which is the suffix of the files.
        columns: Names of the wanted columns in order. A file has those that its events
            have; all of them by default.
        progress: As for :func:`export`.
        options: As for :func:`export`.

    Returns:
        The number of rows of each file.

    Raises:
        MissingExtraError: pyarrow is needed and not installed.
        OSError: A file cannot be written.
    """
    place = Path(directory)
    is_new = not place.exists()
    place.mkdir(parents=True, exist_ok=True)
    try:
        return _export_names(selection, place, to, columns, progress, **options)
    except BaseException:
        if is_new:
            with suppress(OSError):  # It holds files that are complete.
                place.rmdir()
        raise


def _export_names(
    selection: EventSelection,
    place: Path,
    to: Format,
    columns: Sequence[str] | None,
    progress: Progress | None,
    **options: Unpack[ColumnKeywords],
) -> dict[Path, int]:
    written: dict[Path, int] = {}
    for name in selection.counts():
        # An event without a name has no file of its own: no pattern selects it.
        if name is None:
            continue
        events = selection.events(glob.escape(name))
        known = events.to_arrow(**options).names
        chosen = None if columns is None else [c for c in columns if c in known]
        path = place / _file_name(name, to, written)
        written[path] = export(
            events, path, to, columns=chosen, progress=progress, **options
        )
    return written


def _file_name(event: str, suffix: str, taken: dict[Path, int]) -> str:
    """Return a name that any file system takes: ``provider.event.suffix``."""
    safe = "".join(c if c.isalnum() or c in "._-+" else "." for c in event)
    stem = safe.encode()[:LONGEST_NAME].decode(errors="ignore").lstrip(".") or "event"
    names = {path.name for path in taken}
    number = 1
    name = f"{stem}.{suffix}"
    while name in names:
        number += 1
        name = f"{stem}-{number}.{suffix}"
    return name
