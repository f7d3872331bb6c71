"""Traces as Dask data frames: :func:`read`; needs the extra ``dask``.

A data frame has a partition for each part of the trace that
:meth:`~vestige.EventSelection.partitions` gives. A worker opens the trace by its path,
so the path must lead to the same files on all machines of a cluster.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from ..components.filters.debug_info import DebugInfoOptions
from .columns import ColumnKeywords, require_extra
from .dask_frame import data_frame
from .trace import open as open_trace

if TYPE_CHECKING:
    import dask.dataframe as dd

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
    require_extra("dask.dataframe", "dask")
    trace = open_trace(path, debug_info=debug_info, strict=strict)
    return data_frame(
        trace.events(pattern), columns, npartitions=npartitions, **options
    )
