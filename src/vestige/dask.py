"""Traces as Dask data frames: :func:`read`; needs the extra ``dask``.

A data frame has a partition for each part of the trace that
:meth:`~vestige.EventSelection.partitions` gives. A worker opens the trace by its path,
so the path must lead to the same files on all machines of a cluster.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from .columns import ColumnKeywords, EventColumns, require_extra, table_to_pandas
from .components.filters.debug_info import DebugInfoOptions
from .selection import EventSelection
from .trace import open as open_trace

if TYPE_CHECKING:
    import dask.dataframe as dd
    import pandas as pd

__all__ = ["read"]


def read(  # noqa: PLR0913 - what opening, selecting and columns need
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    pattern: str | None = None,
    *,
    npartitions: int | None = None,
    columns: Sequence[str] | None = None,
    debug_info: bool | DebugInfoOptions = False,
    strict: bool = False,
    **options: Unpack[ColumnKeywords],
) -> dd.DataFrame:
    """Return the events of a trace as a Dask data frame.

    Only metadata and packet headers are read here; events are read by the workers.

    Args:
        path: As for :func:`vestige.open`.
        pattern: Shell pattern of event names; all events by default.
        npartitions: How many partitions are wanted; one for each CPU by default. There
            are fewer when the trace has not enough packets.
        columns: Names of the wanted columns in order; all of them by default.
        debug_info: As for :func:`vestige.open`, but off by default: to know which
            objects were mapped, a worker reads the trace from its beginning.
        strict: As for :func:`vestige.open`.
        options: The other fields of :class:`~vestige.columns.ColumnOptions`.

    Returns:
        The data frame. Its index counts the rows of each partition; its partitions
        follow each other in time.

    Raises:
        MissingExtraError: Dask, pandas or pyarrow is not installed.
        SelectionError: A wanted column does not exist.

    Example:
        >>> frame = vestige.dask.read("my-trace", "sched_*", npartitions=16)
        >>> frame.groupby("event").size().compute()
    """
    library = require_extra("dask.dataframe", "dask")
    trace = open_trace(path, debug_info=debug_info, strict=strict)
    selection = trace.events(pattern)
    count = os.cpu_count() or 1 if npartitions is None else npartitions
    frame: dd.DataFrame = library.from_map(
        _read_partition,
        selection.partitions(count),
        columns=columns,
        options=dict(options),
        meta=_empty_frame(selection.to_arrow(columns, **options)),
        label="vestige",
    )
    return frame


def _read_partition(
    part: EventSelection, columns: Sequence[str] | None, options: dict[str, Any]
) -> pd.DataFrame:
    return _without_dictionaries(part.to_pandas(columns, **options))


def _empty_frame(columns: EventColumns) -> pd.DataFrame:
    arrow = require_extra("pyarrow", "dask")
    schema = arrow.schema(columns)
    frame: pd.DataFrame = _without_dictionaries(table_to_pandas(schema.empty_table()))
    return frame


def _without_dictionaries(frame: Any) -> Any:
    """Make categories of labels text: partitions would have different categories."""
    labels = {
        name: "string[pyarrow]"
        for name, kind in frame.dtypes.items()
        if kind.name == "category"
    }
    return frame.astype(labels)
