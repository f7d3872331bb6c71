"""Calls as columns of Arrow, made of the core's columns without a step in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from ..ended_calls import CallColumns
from ..functions import Function
from .intervals import Intervals, Row

__all__ = ["reader"]

_INCOMPLETE = 1 | 2 | 8
_WORD = pa.dictionary(pa.int32(), pa.string())
_SCHEMA = pa.schema(
    [
        ("function", _WORD),
        ("begin", pa.int64()),
        ("end", pa.int64()),
        ("duration", pa.int64()),
        ("self_time", pa.int64()),
        ("depth", pa.uint16()),
        ("caller", _WORD),
        ("pid", pa.int64()),
        ("tid", pa.int64()),
        ("process", _WORD),
        ("is_complete", pa.bool_()),
    ]
)
_TYPES = (
    pa.uint32(),
    pa.uint16(),
    pa.uint8(),
    pa.uint32(),
    pa.int64(),
    pa.int64(),
    pa.int64(),
    pa.uint32(),
    pa.uint8(),
)


def reader(
    intervals: Intervals, parts: Iterator[CallColumns], below: int
) -> pa.RecordBatchReader:
    """Return calls as record batches, which are made when they are asked for.

    Args:
        intervals: What the calls refer to.
        parts: The core's columns of calls, a part at a time.
        below: How many calls are around each at least, less one.
    """
    words = _Words(intervals.functions, intervals.rows)
    batches = (words.batch(part, below) for part in parts)
    return pa.RecordBatchReader.from_batches(_SCHEMA, batches)


class _Dictionary:
    """Words by number; several numbers may have the same one, or none."""

    def __init__(self, words: Iterable[str | None]) -> None:
        codes: dict[str, int] = {}
        numbers = [
            None if word is None else codes.setdefault(word, len(codes))
            for word in words
        ]
        self._codes = pa.array(numbers, pa.int32())
        self._words = pa.array(list(codes), pa.string())

    def column(self, numbers: Any) -> Any:
        """Return the words of some numbers."""
        return pa.DictionaryArray.from_arrays(self._codes.take(numbers), self._words)


class _Words:
    """The words that columns of numbers stand for."""

    def __init__(self, functions: Sequence[Function], rows: Sequence[Row]) -> None:
        self._count = len(functions)
        self._functions = _Dictionary(one.name for one in functions)
        self._processes = _Dictionary(row.process.name for row in rows)
        self._pids = pa.array([row.process.pid for row in rows], pa.int64())
        self._tids = pa.array([row.tid for row in rows], pa.int64())

    def batch(self, part: CallColumns, below: int) -> pa.RecordBatch:
        """Return a part of the calls."""
        import pyarrow.compute as pc  # noqa: PLC0415 - takes long

        row, depth, flags, number, begin, duration, own, caller, _ = (
            pa.Array.from_buffers(form, len(column), [None, pa.py_buffer(column)])
            for form, column in zip(_TYPES, part, strict=True)
        )
        known = pc.less(caller, self._count)
        columns = [
            self._functions.column(number),
            begin,
            pc.add(begin, duration),
            duration,
            own,
            depth,
            self._functions.column(pc.if_else(known, caller, None)),
            self._pids.take(row),
            self._tids.take(row),
            self._processes.column(row),
            pc.equal(pc.bit_wise_and(flags, _INCOMPLETE), 0),
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)
        return batch if below < 0 else batch.filter(pc.greater(depth, below))
