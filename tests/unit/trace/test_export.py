"""Files of other programs."""

from __future__ import annotations

import csv
import json
import math
import os
import threading

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import vestige
from support.column_rows import RECORDINGS, same, table
from support.ctf_writer import Event, Packet, Trace, numbered
from support.recordings import DATA, open_demo
from vestige import MissingExtraError, SelectionError
from vestige.export import FORMATS, export, export_each


def read(path):
    """Return a file as an Arrow table."""
    if path.suffix == ".parquet":
        return pa.parquet.read_table(path)
    return pa.feather.read_table(path)


def open_fields(directory, fields, events):
    """Write a trace of one class; return it opened."""
    packets = [Packet([Event(1 + n, payload) for n, payload in enumerate(events)])]
    return vestige.open(Trace([fields], streams={"s": packets}).write(directory))


class TestBinary:
    """Parquet and Arrow IPC, which pyarrow writes."""

    @pytest.mark.parametrize("name", RECORDINGS)
    @pytest.mark.parametrize("to", ["parquet", "arrow"])
    def test_they_hold_the_columns(self, tmp_path, to, name):
        """With their types and values."""
        trace = vestige.open(DATA / name)
        path = tmp_path / f"out.{to}"
        count = export(trace, path, to)

        assert count == len(trace)
        assert read(path).schema.names == trace.to_arrow().names
        assert same(read(path).to_pylist(), table(trace).to_pylist())

    @pytest.mark.parametrize("to", ["parquet", "arrow"])
    def test_other_libraries_read_them(self, tmp_path, to):
        """Polars, with source places in dictionaries."""
        path = tmp_path / "out"
        export(open_demo(), path, to)
        frame = pl.read_parquet(path) if to == "parquet" else pl.read_ipc(path)

        assert frame.height == len(open_demo())
        assert frame["debug_info"].struct.field("src").null_count() < frame.height

    @pytest.mark.parametrize("to", ["parquet", "arrow"])
    def test_dictionaries_that_grow(self, tmp_path, to):
        """From one part of the file to the next."""
        streams = {
            "s": [
                Packet([Event(n, n.to_bytes(4, "little"))]) for n in range(1000, 1200)
            ]
        }
        fields = "enum : uint32_t { ONE = 1001 } e;"
        trace = vestige.open(Trace([fields], streams=streams).write(tmp_path / "t"))
        path = tmp_path / "out"
        export(trace, path, to, batch_size=7)
        found = (pa.parquet if to == "parquet" else pa.feather).read_table(path)

        expected = ["ONE" if n == 1001 else str(n) for n in range(1000, 1200)]
        assert found["e"].to_pylist() == expected

    def test_parquet_has_no_structures_without_members(self, tmp_path):
        """Such columns are left out."""
        trace = open_fields(
            tmp_path / "t", "struct { } nothing; uint8_t some;", [b"\x05"]
        )
        export(trace, tmp_path / "out.parquet", "parquet")
        export(trace, tmp_path / "out.arrow", "arrow")

        assert read(tmp_path / "out.parquet").schema.names[-1] == "some"
        assert "nothing" not in read(tmp_path / "out.parquet").schema.names
        assert read(tmp_path / "out.arrow")["nothing"].to_pylist() == [{}]

    @pytest.mark.parametrize("to", ["parquet", "arrow"])
    @pytest.mark.filterwarnings("ignore:no event matches")
    def test_an_empty_selection(self, tmp_path, to):
        """A file with columns and no rows."""
        path = tmp_path / f"out.{to}"

        assert export(vestige.open(DATA / "hello").events("nothing"), path, to) == 0
        assert read(path).num_rows == 0

    def test_they_need_a_file(self):
        """Standard output cannot be gone back in."""
        with pytest.raises(SelectionError, match="parquet needs a file"):
            export(vestige.open(DATA / "hello"), None, "parquet")


class TestJsonLines:
    """An object a row."""

    def rows(self, selection, path, **options):
        """Return the parsed lines."""
        export(selection, path, "jsonl", **options)
        return [json.loads(line) for line in path.read_text().split("\n")[:-1]]

    @pytest.mark.parametrize("name", RECORDINGS)
    def test_the_values_are_those_of_the_columns(self, tmp_path, name):
        """What has no value is not there."""
        trace = vestige.open(DATA / name)
        found = self.rows(trace, tmp_path / "out")
        expected = [
            {key: clean(value) for key, value in row.items() if value is not None}
            for row in table(trace, trace.to_arrow().names[1:]).to_pylist()
        ]
        for row in found:
            time = row.pop("timestamp")
            assert len(time) == len("2026-11-21T07:20:27.871895064Z")
        for row in expected:
            for key, value in row.items():
                # A number of 32 bits has the digits that it needs, and no more.
                if isinstance(value, float) and key == "narrow":
                    row[key] = pa.scalar(value, pa.float32()).as_py()
        assert [row.keys() for row in found] == [row.keys() for row in expected]
        for one, other in zip(found, expected, strict=True):
            assert all(near(value, other[key]) for key, value in one.items())

    def test_integers_are_exact_and_text_is_escaped(self, tmp_path):
        """Nothing goes through a floating point number."""
        texts = ['"\\/\b\f\n\r\t\x01\x7f', "ü€😀\u2028", ""]
        events = [
            (lambda writer, text=text: writer.integer(2**64 - 1, 64).string(text))
            for text in texts
        ]
        trace = open_fields(tmp_path / "t", "uint64_t large; string text;", events)
        found = self.rows(trace, tmp_path / "out")

        assert [row["text"] for row in found] == texts
        assert {row["large"] for row in found} == {2**64 - 1}
        assert [row["timestamp"] for row in found] == [1, 2, 3]

    def test_numbers_that_are_none(self, tmp_path):
        """JSON has none of them: they are words."""
        field = "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } x;"
        values = [math.nan, math.inf, -math.inf, 0.1, 1e300, -0.0, 5e-324]
        events = [(lambda writer, value=value: writer.float(value)) for value in values]
        found = self.rows(open_fields(tmp_path / "t", field, events), tmp_path / "out")

        assert [row["x"] for row in found] == [
            "NaN",
            "Infinity",
            "-Infinity",
            *values[3:],
        ]

    def test_a_row_without_any_value(self, tmp_path):
        """Is an object without a member."""
        trace = vestige.open(DATA / "fields")
        found = self.rows(trace, tmp_path / "out", columns=["u64"])

        assert len(found) == 114
        assert found.count({}) == 114 - 2 * 14


def clean(value):
    """Drop what is missing from nested values."""
    if isinstance(value, dict):
        return {key: clean(inner) for key, inner in value.items() if inner is not None}
    return [clean(inner) for inner in value] if isinstance(value, list) else value


def near(found, expected):
    """Compare; numbers that are none are words in JSON."""
    if isinstance(expected, float):
        return math.isclose(float(found), expected, rel_tol=1e-7) or (
            str(float(found)) == str(expected)
        )
    return found == expected


class TestCsv:
    """Fields between commas."""

    def rows(self, selection, path, **options):
        """Return the parsed lines."""
        export(selection, path, "csv", **options)
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    @pytest.mark.parametrize("name", RECORDINGS)
    def test_every_row_has_every_column(self, tmp_path, name):
        """Numbers and texts read back."""
        trace = vestige.open(DATA / name)
        found = self.rows(trace, tmp_path / "out")
        whole = table(trace)

        assert list(found[0]) == whole.schema.names
        assert len(found) == whole.num_rows
        for field in whole.schema:
            texts = [row[field.name] for row in found]
            expected = whole[field.name].to_pylist()
            if pa.types.is_integer(field.type):
                assert [int(text) if text else None for text in texts] == expected
            elif pa.types.is_string(field.type) or pa.types.is_dictionary(field.type):
                assert texts == [text or "" for text in expected]
            elif pa.types.is_nested(field.type):
                assert [json.loads(text) if text else None for text in texts] == [
                    None if value is None else clean(value) for value in expected
                ]

    def test_what_needs_quotes_has_them(self, tmp_path):
        """An empty text is not the same as none."""
        texts = ["plain", "a,b", 'a "b"', "a\nb", "", " a "]
        events = [(lambda writer, text=text: writer.string(text)) for text in texts]
        trace = open_fields(tmp_path / "t", "string text;", events)
        path = tmp_path / "out"

        assert [
            row["text"] for row in self.rows(trace, path, columns=["text"])
        ] == texts
        assert path.read_bytes() == (
            b'text\nplain\n"a,b"\n"a ""b"""\n"a\nb"\n""\n a \n'
        )

    @pytest.mark.filterwarnings("ignore:no event matches")
    def test_an_empty_selection_has_the_names(self, tmp_path):
        """And no row."""
        nothing = vestige.open(DATA / "hello").events("nothing")

        assert export(nothing, tmp_path / "out", "csv", columns=["event"]) == 0
        assert (tmp_path / "out").read_text() == "event\n"


class TestEach:
    """A file for each event name."""

    @pytest.mark.parametrize("to", FORMATS)
    def test_each_has_its_own_columns(self, tmp_path, to):
        """And all of its events."""
        trace = vestige.open(DATA / "fields")
        written = export_each(trace, tmp_path / "deep" / "out", to)

        assert sum(written.values()) == 114
        assert {path.name for path in written} == {
            f"{name.replace(':', '.')}.{to}" for name in trace.counts()
        }
        assert sorted(written) == sorted((tmp_path / "deep" / "out").iterdir())
        if to == "parquet":
            strings = read(tmp_path / "deep" / "out" / "fields.strings.parquet")
            assert strings.num_rows == 10
            assert "u64" not in strings.schema.names

    def test_columns_that_a_class_has_not_are_left_out(self, tmp_path):
        """Of the wanted ones it has those that it can."""
        trace = vestige.open(DATA / "fields").events("fields:[in]*")
        export_each(trace, tmp_path, "csv", columns=["vpid", "u64"])

        assert (tmp_path / "fields.integers.csv").read_text().startswith("vpid,u64\n")
        assert (tmp_path / "fields.nothing.csv").read_text().startswith("vpid\n")

    def test_names_that_are_no_file_names(self, tmp_path):
        """They are made to be, and kept apart."""
        events = [Event(n, id=n) for n in range(4)]
        directory = Trace(["", "", "", ""], streams={"s": [Packet(events)]}).write(
            tmp_path / "t"
        )
        text = (directory / "metadata").read_text()
        for number, name in enumerate(["../a*[b]", "...a..b.", "x" * 300, ":"]):
            text = text.replace(f'"event_{number}"', f'"{name}"')
        (directory / "metadata").write_text(text)
        written = export_each(vestige.open(directory), tmp_path / "out", "jsonl")

        assert sorted(path.name for path in written) == [
            "a..b.-2.jsonl",
            "a..b..jsonl",
            "event.jsonl",
            "x" * 200 + ".jsonl",
        ]
        assert list(written.values()) == [1] * 4


class TestFiles:
    """A file is complete or it is not there."""

    def interrupt(self, *_):
        """Stop."""
        raise KeyboardInterrupt

    @pytest.mark.parametrize("to", FORMATS)
    @pytest.mark.parametrize("before", [None, b"old"])
    def test_what_is_interrupted_leaves_nothing_behind(self, tmp_path, to, before):
        """A file that was there before stays as it was."""
        path = tmp_path / "out"
        if before is not None:
            path.write_bytes(before)
        with pytest.raises(KeyboardInterrupt):
            export(vestige.open(DATA / "hello"), path, to, progress=self.interrupt)

        assert [file.read_bytes() for file in tmp_path.iterdir()] == (
            [] if before is None else [before]
        )

    @pytest.mark.parametrize("to", FORMATS)
    def test_an_existing_file_is_replaced(self, tmp_path, to):
        """As a whole."""
        (tmp_path / "out").write_bytes(b"x" * 100_000)
        export(vestige.open(DATA / "hello"), tmp_path / "out", to)

        assert 0 < (tmp_path / "out").stat().st_size < 10_000
        assert len(list(tmp_path.iterdir())) == 1

    def test_a_pipe_is_written_to(self, tmp_path):
        """It is not replaced by a file."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        found = []
        reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
        reader.start()
        export(vestige.open(DATA / "hello"), pipe, "csv", columns=["number"])
        reader.join()

        assert found == ["number\n-1\n1\n2\n9\n"]
        assert pipe.is_fifo()

    def test_progress_is_told(self, tmp_path):
        """The time of the last event and the number of events."""
        seen = []
        streams = {"s": [Packet(numbered(5))]}
        trace = vestige.open(Trace(streams=streams).write(tmp_path / "t"))
        export(
            trace, tmp_path / "out", "csv", progress=lambda *state: seen.append(state)
        )

        assert seen == [(1_004_000, 5)]

    @pytest.mark.parametrize("to", ["parquet", "arrow"])
    def test_without_pyarrow(self, tmp_path, monkeypatch, to):
        """The error names the extra; the others need none."""
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
        trace = vestige.open(DATA / "hello")
        with pytest.raises(MissingExtraError, match=r"vestige\[arrow\]"):
            export(trace, tmp_path / "out", to)

        assert list(tmp_path.iterdir()) == []
        assert export(trace, tmp_path / "out", "jsonl") == 4


class TestFilesThatCannotBe:
    """Errors name the file that was asked for, and nothing is left behind."""

    @pytest.mark.parametrize("to", FORMATS)
    def test_a_directory_that_is_missing(self, tmp_path, to):
        """Not the name under which the file would have grown."""
        path = tmp_path / "nowhere" / f"out.{to}"
        with pytest.raises(OSError, match="No such file") as caught:
            export(vestige.open(DATA / "hello"), path, to)
        assert caught.value.filename == str(path)

    def test_a_full_device(self):
        """The kernel names no file, so we do."""
        with pytest.raises(OSError, match="No space left") as caught:
            export(vestige.open(DATA / "hello"), "/dev/full", "csv")
        assert caught.value.filename == "/dev/full"

    def test_a_directory_that_was_made_for_nothing(self, tmp_path):
        """A failed export takes it away again."""
        trace = vestige.open(DATA / "hello")

        def interrupt(_time, _events):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            export_each(trace.events(), tmp_path / "out", "csv", progress=interrupt)
        assert not (tmp_path / "out").exists()
