"""Event records as columns: :class:`EventColumns`, which other libraries read.

The Rust core makes the columns in the memory layout of Apache Arrow and hands them over
through the Arrow PyCapsule interface: Vestige itself needs no library for them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ..core import ColumnLayout, Merge
from ..errors import MissingExtraError, SelectionError
from ..graph import Selection, Stream

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = [
    "ColumnKeywords",
    "ColumnOptions",
    "EventColumns",
    "column_layout",
    "require_extra",
]


BATCH_SIZE = 65_536
"""Most rows of a record batch by default; the reader makes them of some 33,000."""
LARGEST_BATCH = 2**31 - 1
"""Most rows that any reader of Arrow takes."""
INTEGER_TYPES = (
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
)
"""Integer types as pandas names those that may be missing."""


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """Which columns there are, and what they hold."""

    columns: tuple[str, ...] | None = None
    """The wanted columns in order; all of them by default."""
    batch_size: int = BATCH_SIZE
    """Most rows of a record batch."""
    enumerations: Literal["labels", "values"] = "labels"
    """Whether enumerations become their labels or their numbers."""
    strings: Literal["plain", "dictionary"] = "plain"
    """Whether strings are stored one by one, or once with an index for each row."""
    times: Literal["auto", "timestamp", "duration", "integer"] = "auto"
    """What ``timestamp`` holds; by default a timestamp, or a duration for a clock that
    does not count from the Unix epoch."""

    def __post_init__(self) -> None:
        """Refuse values that no option has."""
        for name, choices in (
            ("enumerations", ("labels", "values")),
            ("strings", ("plain", "dictionary")),
            ("times", ("auto", "timestamp", "duration", "integer")),
        ):
            value = getattr(self, name)
            if value not in choices:
                raise SelectionError(
                    f"{name}={value!r}: expected one of {', '.join(choices)}"
                )
        if not 0 < self.batch_size <= LARGEST_BATCH:
            raise SelectionError(
                f"batch_size={self.batch_size!r}: expected 1 to {LARGEST_BATCH}"
            )


class ColumnKeywords(TypedDict, total=False):
    """The options other than the names of columns, as keyword arguments."""

    batch_size: int
    enumerations: Literal["labels", "values"]
    strings: Literal["plain", "dictionary"]
    times: Literal["auto", "timestamp", "duration", "integer"]


class EventColumns:
    """The event records of a selection as columns.

    An object of the Arrow PyCapsule interface, which is a stream of record batches for
    ``polars.DataFrame(columns)``, ``pyarrow.table(columns)`` and others. Each of them
    reads the trace anew, so it can be read any number of times.

    Args:
        layout: The columns.
        read: Begins to read; returns the merges of the selection.
    """

    def __init__(
        self, layout: ColumnLayout, read: Callable[[], Iterator[Merge]]
    ) -> None:
        self._layout = layout
        self._read = read
        self._error: BaseException | None = None

    @property
    def names(self) -> list[str]:
        """The names of the columns in order."""
        return self._layout.names

    def __arrow_c_schema__(self) -> object:
        """Return the schema as a capsule, for other libraries."""
        return self._layout.schema()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a stream of record batches as a capsule, for other libraries.

        Args:
            requested_schema: Ignored, as the interface allows: the types are those of
                the trace.
        """
        self._error = None
        return self._layout.stream(self._read(), self._failed)

    def write_text(self, form: Literal["jsonl", "csv"], descriptor: int) -> int:
        """Write all rows as text; needs no other library.

        Args:
            form: JSON Lines, which is an object a row, or CSV with a line of names.
            descriptor: An open file descriptor.

        Returns:
            The number of rows.

        Raises:
            OSError: The text cannot be written.
        """
        return self._layout.write_text(self._read(), form, descriptor)

    def drain(self) -> int:
        """Decode all columns and drop them; return the number of rows.

        For measuring, and for checking that a selection can be decoded.
        """
        return self._layout.drain(self._read())

    def to_polars(self) -> pl.DataFrame:
        """Return a Polars data frame; needs the extra ``polars``.

        Raises:
            MissingExtraError: Polars is not installed.
        """
        library = require_extra("polars", "polars")
        with self.reading():
            frame: pl.DataFrame = library.DataFrame(self)
        return frame

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame; needs the extra ``pandas``.

        Integers that may be missing become pandas' nullable integers, since floating
        point numbers could not hold all of them. Lists and structures stay what they
        are in Arrow (``pandas.ArrowDtype``).

        Raises:
            MissingExtraError: pandas or pyarrow is not installed.
        """
        require_extra("pandas", "pandas")
        arrow = require_extra("pyarrow", "pandas")
        with self.reading():
            table = arrow.table(self)
        frame: pd.DataFrame = table_to_pandas(table)
        return frame

    def _failed(self, error: BaseException) -> None:
        self._error = error

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let an error of ours stay what it is while another library reads.

        The stream interface passes on no more of it than its text.

        Yields:
            Nothing.

        Raises:
            VestigeError: The trace cannot be read any further.
        """
        try:
            yield
        except Exception as error:
            if self._error is not None:
                raise self._error from error
            raise

    def watched(
        self, watch: Callable[[Iterator[Merge]], Iterator[Merge]]
    ) -> EventColumns:
        """Return the same columns, whose merges pass through a function.

        Args:
            watch: Takes an iterator over merges and returns one over the same.
        """
        return EventColumns(self._layout, lambda: watch(self._read()))

    def __repr__(self) -> str:
        """Show the names of the columns."""
        return f"<EventColumns {', '.join(self.names)}>"


def column_layout(
    streams: Iterable[Stream],
    selection: Selection,
    options: ColumnOptions,
    *,
    debug_info: str | None,
) -> ColumnLayout:
    """Lay out the columns of a selection.

    Args:
        streams: The data streams.
        selection: Which event records are wanted.
        options: Which columns are wanted.
        debug_info: Name of the column of source places, when there are any.

    Raises:
        SelectionError: A wanted column does not exist.
    """
    wanted = [
        (stream.handle, stream.id, classes)
        for stream in sorted(streams, key=Stream.order_key)
        if (classes := selection.wanted_classes(stream)) is None or any(classes)
    ]
    try:
        return ColumnLayout(
            wanted,
            columns=None if options.columns is None else list(options.columns),
            labels=options.enumerations == "labels",
            dictionary=options.strings == "dictionary",
            time=None if options.times == "auto" else options.times,
            added=[] if debug_info is None else [debug_info],
            batch_size=options.batch_size,
        )
    except KeyError as error:
        name, known = error.args
        raise SelectionError(_unknown_column(name, known)) from None


def _unknown_column(name: str, known: list[str]) -> str:
    # Only a mistake needs it, and it takes time to import.
    difflib = importlib.import_module("difflib")
    close = difflib.get_close_matches(name, known, n=3) or known[:10]
    return f"there is no column '{name}' here; there are {', '.join(close)}"


def require_extra(module: str, extra: str) -> ModuleType:
    """Import a library that an extra of the package brings.

    Args:
        module: The library.
        extra: The extra.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(module, extra) from error


def table_to_pandas(table: Any) -> Any:
    """Convert an Arrow table to a pandas data frame, without a loss.

    Args:
        table: The table.
    """
    pandas = require_extra("pandas", "pandas")
    arrow = require_extra("pyarrow", "pandas")
    integers = {
        getattr(arrow, name.lower())(): getattr(pandas, f"{name}Dtype")()
        for name in INTEGER_TYPES
    }

    def mapper(field: Any) -> Callable[[Any], Any] | None:
        if arrow.types.is_nested(field.type):
            kind: Callable[[Any], Any] = pandas.ArrowDtype
            return kind
        return integers.get if field.nullable else None

    columns = {
        field.name: column.to_pandas(types_mapper=mapper(field))
        for field, column in zip(table.schema, table.columns, strict=True)
    }
    return pandas.DataFrame(columns, columns=table.schema.names)
