"""Selections as Dask data frames: a partition for each part in time.

The workers open the trace by its path, so the path must lead to the same files on all
machines of a cluster.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from .columns import ColumnKeywords, EventColumns, require_extra, table_to_pandas

if TYPE_CHECKING:
    import dask.dataframe as dd
    import pandas as pd

__all__ = ["Partitioned", "data_frame"]


class Partitioned(Protocol):
    """What becomes a data frame: a selection of events."""

    def partitions(self, count: int) -> Sequence[Partitioned]:
        """Cut it into parts that can be read apart.

        Args:
            count: How many parts are wanted.
        """

    def to_arrow(
        self, columns: Sequence[str] | None = None, **options: Unpack[ColumnKeywords]
    ) -> EventColumns:
        """Return the events as columns.

        Args:
            columns: Names of the wanted columns in order; all of them by default.
            options: The other fields of :class:`~vestige.columns.ColumnOptions`.
        """

    def to_pandas(
        self, columns: Sequence[str] | None = None, **options: Unpack[ColumnKeywords]
    ) -> pd.DataFrame:
        """Return the events as a pandas data frame.

        Args:
            columns: As above.
            options: As above.
        """


def data_frame(
    selection: Partitioned,
    columns: Sequence[str] | None = None,
    *,
    npartitions: int | None = None,
    **options: Unpack[ColumnKeywords],
) -> dd.DataFrame:
    """Return a selection as a Dask data frame.

    Args:
        selection: The events.
        columns: Names of the wanted columns in order; all of them by default.
        npartitions: How many partitions are wanted; one for each CPU by default. There
            are fewer when the trace has not enough packets.
        options: The other fields of :class:`~vestige.columns.ColumnOptions`.

    Raises:
        MissingExtraError: Dask, pandas or pyarrow is not installed.
        SelectionError: A wanted column does not exist.
    """
    library = require_extra("dask.dataframe", "dask")
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
    part: Partitioned, columns: Sequence[str] | None, options: dict[str, Any]
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
