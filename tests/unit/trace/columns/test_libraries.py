"""Columns in other libraries: who reads them, who owns them, and damage."""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import vestige
from support.column_rows import RECORDINGS, same, table
from support.ctf_writer import (
    Packet,
    Trace,
    numbered,
)
from support.recordings import DATA
from vestige import MissingExtraError, TraceDamageWarning


class TestDamage:
    """What comes before the damage is given, and the damage is reported."""

    @pytest.fixture
    def cut(self, tmp_path):
        """A trace whose second packet ends in the middle of an event."""
        packets = [Packet(numbered(5)), Packet(numbered(5, start=5))]
        directory = Trace(streams={"s": packets}).write(tmp_path)
        with (directory / "s").open("r+b") as file:
            file.truncate((directory / "s").stat().st_size - 3)
        return directory

    def test_a_warning(self, cut):
        """The same rows as when iterating."""
        trace = vestige.open(cut)
        with pytest.warns(TraceDamageWarning, match="packet cut"):
            wanted = [event["value"] for event in trace]
        with pytest.warns(TraceDamageWarning, match="packet cut"):
            found = pa.table(trace.to_arrow())

        assert found["value"].to_pylist() == wanted == list(range(9))

    def test_an_error_when_strict(self, cut):
        """It comes behind the rows; other libraries tell its text."""
        reader = pa.RecordBatchReader.from_stream(
            vestige.open(cut, strict=True).to_arrow()
        )
        seen = reader.read_next_batch()["value"].to_pylist()
        with pytest.raises(OSError, match="packet cut"):
            reader.read_next_batch()

        assert seen[:5] == list(range(5))

    def test_our_own_error_where_we_call_the_library(self, cut):
        """Not one of the library."""
        trace = vestige.open(cut, strict=True)
        for convert in (trace.to_polars, trace.to_pandas):
            with pytest.raises(vestige.TraceFormatError, match="packet cut"):
                convert()
        with pytest.raises(vestige.TraceFormatError, match="packet cut"):
            trace.to_arrow().drain()


class TestLibraries:
    """Everybody reads the same."""

    @pytest.mark.parametrize("name", RECORDINGS)
    def test_polars(self, name):
        """As from pyarrow."""
        trace = vestige.open(DATA / name)
        frame = trace.to_polars()

        assert frame.columns == trace.to_arrow().names
        assert same(frame.drop("timestamp").to_dicts(), self.rows(trace))

    def rows(self, trace):
        """Return the rows by way of pyarrow."""
        return table(trace).drop_columns(["timestamp"]).to_pylist()

    @pytest.mark.parametrize("name", RECORDINGS)
    def test_pandas_keeps_every_integer(self, name):
        """Where values are missing, no floating point number stands in."""
        trace = vestige.open(DATA / name)
        frame, made = trace.to_pandas(), table(trace)

        assert list(frame.columns) == made.schema.names
        assert len(frame) == made.num_rows
        for field in made.schema:
            if pa.types.is_integer(field.type):
                values = [
                    None if value is pd.NA else int(value)
                    for value in frame[field.name].tolist()
                ]
                assert values == made[field.name].to_pylist()

    def test_duckdb(self):
        """A query over a stream."""
        columns = vestige.open(DATA / "hello").to_arrow(["event", "text"])
        query = "select text from columns where text like '%night'"

        assert duckdb.sql(query).fetchall() == [("good night",)]
        assert columns.names == ["event", "text"]

    def test_a_missing_library_is_named_with_its_extra(self, monkeypatch):
        """The error says what to install."""
        trace = vestige.open(DATA / "hello")
        monkeypatch.setitem(sys.modules, "polars", None)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingExtraError, match=r"needs polars.*vestige\[polars\]"):
            trace.to_polars()
        with pytest.raises(ImportError, match=r"needs pyarrow.*vestige\[pandas\]"):
            trace.to_pandas()


class TestLifetimes:
    """Who owns the memory."""

    def test_a_stream_that_nobody_reads(self):
        """Its capsule releases it."""
        columns = vestige.open(DATA / "fields").to_arrow()
        for _ in range(50):
            columns.__arrow_c_stream__()
            columns.__arrow_c_schema__()
        gc.collect()

        assert pa.table(columns).num_rows == 114

    def test_a_capsule_is_read_once(self):
        """Whoever has taken it over leaves nothing for others."""
        capsule = vestige.open(DATA / "hello").to_arrow().__arrow_c_stream__()
        holder = type("Holder", (), {"__arrow_c_stream__": lambda *_: capsule})()
        first = pa.table(holder)

        assert first.num_rows == 4
        with pytest.raises(ValueError, match="released"):
            pa.table(holder)

    def test_columns_are_read_again_and_again(self):
        """Each time anew."""
        columns = vestige.open(DATA / "hello").to_arrow()

        assert pa.table(columns) == pa.table(columns)

    def test_a_stream_that_is_left_early(self):
        """What is being decoded ahead is dropped."""
        columns = vestige.open(DATA / "lost").to_arrow(batch_size=3)
        for _ in range(20):
            reader = pa.RecordBatchReader.from_stream(columns)
            assert reader.read_next_batch().num_rows == 3
            del reader
        gc.collect()

    def test_arrays_outlive_the_stream_and_the_trace(self):
        """They own their memory."""
        reader = pa.RecordBatchReader.from_stream(
            vestige.open(DATA / "hello").to_arrow(["text"])
        )
        batch = reader.read_next_batch()
        del reader
        gc.collect()

        assert batch["text"].to_pylist()[0] == "good morning"

    def test_other_threads(self):
        """A stream may be read by another thread than the one that asked for it."""
        found = []
        reader = pa.RecordBatchReader.from_stream(
            vestige.open(DATA / "fields").to_arrow()
        )
        threads = [
            threading.Thread(target=lambda: found.append(reader.read_all().num_rows))
        ]
        for thread in threads:
            thread.start()
            thread.join()

        assert found == [114]

    def test_memory_is_given_back(self):
        """Reading again and again takes no more memory."""
        trace = vestige.open(DATA / "fields", debug_info=False)
        columns = trace.to_arrow()
        before = None
        for round_ in range(300):
            pa.table(columns)
            if round_ == 100:
                gc.collect()
                before = resident()
        gc.collect()

        assert resident() - before < 8 << 20


def resident():
    """Return the memory of this process, bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096
