"""Writing columns to files of other programs: Parquet, Arrow IPC, CSV, JSON Lines.

Text is written by the Rust core; for the other two pyarrow does it, which the extra
``arrow`` brings. A file is complete or it is not there: it grows under another name and
gets its own when it is done.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol, Unpack

from ..core import Merge
from ..errors import SelectionError
from .columns import ColumnKeywords, EventColumns, require_extra

__all__ = ["FORMATS", "Format", "HasColumns", "Progress", "complete_file", "write_file"]

Format = Literal["parquet", "arrow", "csv", "jsonl"]
"""A file format."""
FORMATS: tuple[Format, ...] = ("parquet", "arrow", "csv", "jsonl")
"""All file formats."""
Progress = Callable[[int | None, int], None]
"""Called with the time of the last event that was read, and how many were read."""

ROW_GROUP_ROWS = 512 * 1024
"""Rows of a row group of Parquet, about."""
ROW_GROUP_BYTES = 64 * 1024 * 1024
"""Bytes in memory after which a row group ends earlier."""


class HasColumns(Protocol):
    """What can be written: a selection of events."""

    def to_arrow(
        self, columns: Sequence[str] | None = None, **options: Unpack[ColumnKeywords]
    ) -> EventColumns:
        """Return the events as columns.

        Args:
            columns: Names of the wanted columns in order; all of them by default.
            options: The other fields of :class:`~vestige.columns.ColumnOptions`.
        """


def write_file(
    selection: HasColumns,
    path: str | os.PathLike[str] | None,
    to: Format,
    *,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
    **options: Unpack[ColumnKeywords],
) -> int:
    """Write the events of a selection to a file, as one table.

    Args:
        selection: The events.
        path: The file; ``None`` for standard output, which takes CSV and JSON Lines.
        to: The format.
        columns: Names of the wanted columns in order; all of them by default.
        progress: Called after each part of the trace.
        options: The other fields of :class:`~vestige.columns.ColumnOptions`.

    Returns:
        The number of rows.

    Raises:
        MissingExtraError: pyarrow is needed and not installed.
        SelectionError: A column does not exist, or the format needs a file.
        OSError: The file cannot be written.
    """
    if to not in FORMATS:
        raise SelectionError(f"no format '{to}': expected one of {', '.join(FORMATS)}")
    wanted = selection.to_arrow(columns, **options)
    if to == "parquet":
        arrow = require_extra("pyarrow", "arrow")
        names = _parquet_names(arrow.schema(wanted))
        wanted = selection.to_arrow(names, **options)
    if progress is not None:
        wanted = wanted.watched(_watch(progress))
    if to in {"csv", "jsonl"}:
        form: Literal["csv", "jsonl"] = "csv" if to == "csv" else "jsonl"
        if path is None:
            # The descriptor is written to directly: what is buffered comes first.
            sys.stdout.flush()
            return wanted.write_text(form, sys.stdout.fileno())
        with complete_file(Path(path)) as place, place.open("wb", 0) as file:
            return wanted.write_text(form, file.fileno())
    if path is None:
        raise SelectionError(f"{to} needs a file: it cannot go to standard output")
    write = _write_parquet if to == "parquet" else _write_arrow
    return write(wanted, Path(path))


def _watch(progress: Progress) -> Callable[[Iterator[Merge]], Iterator[Merge]]:
    def watched(merges: Iterator[Merge]) -> Iterator[Merge]:
        events = 0
        for merge in merges:
            events += len(merge)
            span = merge.time_span
            progress(None if span is None else span[1], events)
            yield merge

    return watched


@contextmanager
def complete_file(path: Path) -> Iterator[Path]:
    """Give a place to write to, which becomes ``path`` unless something goes wrong.

    What is no regular file, such as a pipe or a device, is written to directly.

    Args:
        path: The file.

    Yields:
        Where to write.

    Raises:
        OSError: The file cannot be written, with ``path`` as its name.
    """
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        try:
            yield path
        except OSError as error:
            raise OSError(
                error.errno or 0, error.strerror or str(error), str(path)
            ) from error
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.replace(path)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            # The name that people gave says more than the one that nobody has seen.
            reason = error.strerror or str(error)
            raise OSError(error.errno or 0, reason, str(path)) from error
        raise


def _write_arrow(columns: EventColumns, path: Path) -> int:
    """Write an Arrow IPC file, also known as Feather version 2."""
    arrow = require_extra("pyarrow", "arrow")
    ipc = require_extra("pyarrow.ipc", "arrow")
    # A dictionary that has grown is written as what is new in it.
    options = ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    rows = 0
    with complete_file(path) as place, columns.reading():
        reader = arrow.RecordBatchReader.from_stream(columns)
        with ipc.new_file(str(place), reader.schema, options=options) as writer:
            for batch in reader:
                writer.write_batch(batch)
                rows += batch.num_rows
    return rows


def _write_parquet(columns: EventColumns, path: Path) -> int:
    arrow = require_extra("pyarrow", "arrow")
    parquet = require_extra("pyarrow.parquet", "arrow")
    rows = 0
    with complete_file(path) as place, columns.reading():
        reader = arrow.RecordBatchReader.from_stream(columns)
        with parquet.ParquetWriter(str(place), reader.schema) as writer:
            for table in _row_groups(arrow, reader):
                writer.write_table(table)
                rows += table.num_rows
    return rows


def _parquet_names(schema: Any) -> list[str]:
    """Return the names of the columns that Parquet can hold.

    It has no structures without a member.
    """

    def has_values(kind: Any) -> bool:
        children = [kind.field(index).type for index in range(kind.num_fields)]
        is_structure = str(kind).startswith("struct<")
        return (bool(children) or not is_structure) and all(map(has_values, children))

    return [field.name for field in schema if has_values(field.type)]


def _row_groups(arrow: Any, reader: Any) -> Iterator[Any]:
    """Join record batches to tables of the size of a row group."""
    batches: list[Any] = []
    rows = size = 0
    for batch in reader:
        batches.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= ROW_GROUP_ROWS or size >= ROW_GROUP_BYTES:
            yield arrow.Table.from_batches(batches)
            batches, rows, size = [], 0, 0
    if batches:
        yield arrow.Table.from_batches(batches)
