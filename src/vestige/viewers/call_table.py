"""Calls as rows of a table: Parquet, Arrow IPC, CSV, JSON Lines.

Rows stand in the order in which calls ended, and nothing is kept of rows that were
written. Parquet and Arrow need pyarrow, which the extra ``arrow`` brings.
"""

from __future__ import annotations

import csv
import json

from .. import core
from .._typing import TYPE_CHECKING
from ..analysis.each_call import EachCall, Wanted
from ..analysis.ended_calls import CallColumns, take_calls
from ..analysis.functions import MERGED_FUNCTION
from ..debuginfo import Place, Resolver
from ..plain_text import plain
from ..trace import require_extra
from . import arrow_arrays

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import IO, Any

    from ..graph import Stream

__all__ = ["COLUMNS", "ArrowCalls", "TextCalls"]

COLUMNS = (
    "function", "object", "file", "line", "begin", "end", "duration", "self_time",
    "depth", "thread", "process", "process_name", "state",
)  # fmt: skip
"""The columns, in their order."""
STATES = ("complete", "across a loss", "no exit", "no entry", "", "cut by the range")
"""What is known of the ends of calls, by their numbers in the core."""
ROW_GROUP_ROWS = 128 * 1024
"""Rows of a row group of Parquet, about."""
TIMES = ("begin", "end", "duration", "self_time")
"""Columns of which each value is near the one before, and few are the same: they are
written as differences, in less than half of the bytes, the memory and the time."""


class _Calls(EachCall):
    """Takes calls, with their names."""

    def __init__(
        self, resolver: Resolver, streams: Sequence[Stream], *, wanted: Wanted
    ) -> None:
        super().__init__(resolver, streams, wanted=wanted)
        self.fold.keep_all_calls()
        self.rows = 0
        """How many calls were written."""
        self._waiting_calls: list[CallColumns] = []

    def take(self, merge: core.Merge | None) -> None:
        """Write what is new, as soon as it has names."""
        found = take_calls(self.fold)
        if found.row:
            self._waiting_calls.append(found)
        if self.all_are_named:
            for columns in self._waiting_calls:
                self.rows += len(columns.row)
                self.put(columns)
            self._waiting_calls.clear()
        if merge is None:
            self.end()

    def put(self, columns: CallColumns) -> None:
        """Write some calls.

        Args:
            columns: They.
        """
        raise NotImplementedError

    def end(self) -> None:
        """Write what is at the end of the file."""

    def function_facts(
        self, index: int
    ) -> tuple[str, str | None, str | None, int | None]:
        """Return name, object, file and line of a function; -1 is none."""
        function = self.function(index) if index >= 0 else MERGED_FUNCTION
        place = function.place
        file = line = None
        if isinstance(place, Place) and place.line:
            file, line = place.source_path, place.line
        texts = (None if one is None else plain(one) for one in (function.object, file))
        return plain(function.name), *texts, line  # type: ignore[return-value] # two texts

    def thread_facts(
        self, row: tuple[Any, ...]
    ) -> tuple[int | None, int | None, str | None]:
        """Return thread ID, process ID and process name of a row of the fold."""
        space, vpid, vtid = row[:3]
        name = self.process_name(space, vpid)
        thread, process = (None if one < 0 else one for one in (vtid, vpid))
        return thread, process, plain(name) if name else None


class TextCalls(_Calls):
    """Writes calls as CSV or JSON Lines.

    Args:
        resolver: Names functions.
        streams: The data streams.
        file: Where to.
        form: ``csv`` or ``jsonl``.
        wanted: Which part of the traces is read.
    """

    def __init__(
        self,
        resolver: Resolver,
        streams: Sequence[Stream],
        file: IO[str],
        form: str,
        *,
        wanted: Wanted,
    ) -> None:
        super().__init__(resolver, streams, wanted=wanted)
        self._file = file
        self._csv = csv.writer(file, lineterminator="\n") if form == "csv" else None
        if self._csv is not None:
            self._csv.writerow(COLUMNS)

    def put(self, columns: CallColumns) -> None:
        """Write some calls."""
        rows = self._rows(columns)
        if self._csv is not None:
            self._csv.writerows(rows)
            return
        for row in rows:
            facts = zip(COLUMNS, row, strict=True)
            known = {name: value for name, value in facts if value is not None}
            self._file.write(json.dumps(known, separators=(",", ":")) + "\n")

    def _rows(self, columns: CallColumns) -> Iterator[tuple[Any, ...]]:
        threads = [self.thread_facts(row) for row in self.fold.threads()]
        functions: dict[int, tuple[Any, ...]] = {}
        for thread, depth, _, number, begin, time, own, _, end in zip(
            *columns, strict=True
        ):
            function = functions.get(number)
            if function is None:
                function = functions[number] = self.function_facts(number)
            times = begin, begin + time, time, own, depth
            yield *function, *times, *threads[thread], STATES[end]


class ArrowCalls(_Calls):
    """Writes calls as a file of Parquet or Arrow IPC.

    Args:
        resolver: Names functions.
        streams: The data streams.
        path: The file.
        form: ``parquet`` or ``arrow``.
        wanted: Which part of the traces is read.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """

    def __init__(
        self,
        resolver: Resolver,
        streams: Sequence[Stream],
        path: Path,
        form: str,
        *,
        wanted: Wanted,
    ) -> None:
        super().__init__(resolver, streams, wanted=wanted)
        arrow = self._arrow = require_extra("pyarrow", "arrow")
        self._compute = require_extra("pyarrow.compute", "arrow")
        label = arrow.dictionary(arrow.int32(), arrow.string())
        time = arrow.timestamp("ns", "UTC")
        kinds = (
            label, label, label, arrow.int32(), time, time,
            arrow.int64(), arrow.int64(), arrow.int32(), arrow.int32(), arrow.int32(),
            label, label,
        )  # fmt: skip
        self.schema = arrow.schema(list(zip(COLUMNS, kinds, strict=True)))
        if form == "parquet":
            parquet = require_extra("pyarrow.parquet", "arrow")
            self._writer = parquet.ParquetWriter(
                str(path),
                self.schema,
                use_dictionary=[name for name in COLUMNS if name not in TIMES],
                column_encoding=dict.fromkeys(TIMES, "DELTA_BINARY_PACKED"),
            )
        else:
            ipc = require_extra("pyarrow.ipc", "arrow")
            # A dictionary that has grown is written as what is new in it.
            options = ipc.IpcWriteOptions(emit_dictionary_deltas=True)
            self._writer = ipc.new_file(str(path), self.schema, options=options)
        self._functions = [_Labels() for _ in range(3)]
        self._function_codes: list[tuple[int | None, ...]] = []
        self._process_names = _Labels()
        self._batches: list[Any] = []
        self._batched = 0

    def put(self, columns: CallColumns) -> None:
        """Write some calls."""
        arrow = self._arrow
        count = len(columns.row)

        def column(data: memoryview[int], kind: Any) -> Any:
            return arrow.Array.from_buffers(kind, count, [None, arrow.py_buffer(data)])

        begin, duration, own = (
            column(data, arrow.int64())
            for data in (columns.begin, columns.duration, columns.self_time)
        )
        thread, number = (
            column(data, arrow.int32()) for data in (columns.row, columns.function)
        )
        end = arrow.Array.from_buffers(
            arrow.int64(),
            count,
            [None, self._compute.add(begin, duration).buffers()[1]],
        )
        time = self.schema.field("begin").type
        batch = [
            *self._function_columns(number),
            begin.cast(time),
            end.cast(time),
            duration,
            own,
            column(columns.depth, arrow.uint16()).cast(arrow.int32()),
            *self._thread_columns(thread),
            arrow.DictionaryArray.from_arrays(
                column(columns.state, arrow.uint8()).cast(arrow.int32()),
                arrow_arrays.texts(arrow, STATES),
            ),
        ]
        self._batches.append(arrow.RecordBatch.from_arrays(batch, schema=self.schema))
        self._batched += count
        if self._batched >= ROW_GROUP_ROWS:
            self._flush()

    def end(self) -> None:
        """Write the last rows, and what is at the end of the file."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._batches:
            table = self._arrow.Table.from_batches(self._batches)
            self._writer.write_table(table)
        self._batches, self._batched = [], 0

    def _function_columns(self, number: Any) -> Iterator[Any]:
        """Yield name, object, file and line of functions by their indexes."""
        arrow = self._arrow
        known = self._function_codes
        # What is no function, and negative as a signed number, is the first one here.
        none, one = arrow_arrays.numbers(arrow, [-1, 1])
        number = self._compute.add(self._compute.max_element_wise(number, none), one)
        for index in range(len(known), len(self.named) + 1):
            *texts, line = self.function_facts(index - 1)
            codes = [
                labels.code(text)
                for labels, text in zip(self._functions, texts, strict=True)
            ]
            known.append((*codes, line))
        for place, column in enumerate(zip(*known, strict=True)):
            values = arrow_arrays.numbers(arrow, column).take(number)
            if place == len(self._functions):
                yield values
            else:
                yield self._labelled(values, self._functions[place])

    def _thread_columns(self, thread: Any) -> Iterator[Any]:
        arrow = self._arrow
        facts = [self.thread_facts(row) for row in self.fold.threads()]
        threads = [tid for tid, _, _ in facts]
        processes = [pid for _, pid, _ in facts]
        for ids in (threads, processes):
            yield arrow_arrays.numbers(arrow, ids).take(thread)
        codes = [self._process_names.code(one[2]) for one in facts]
        yield self._labelled(
            arrow_arrays.numbers(arrow, codes).take(thread), self._process_names
        )

    def _labelled(self, codes: Any, labels: _Labels) -> Any:
        words = arrow_arrays.texts(self._arrow, list(labels.codes))
        return self._arrow.DictionaryArray.from_arrays(codes, words)


class _Labels:
    """Texts, each with a number that it keeps."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def code(self, text: str | None) -> int | None:
        return None if text is None else self.codes.setdefault(text, len(self.codes))
