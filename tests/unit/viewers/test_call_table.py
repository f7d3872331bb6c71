"""Calls as rows: the same in each format, and the sums of the report."""

from __future__ import annotations

import csv
import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet
import pytest

from support.call_traces import HOSTILE_NAME
from vestige.cli.main import main
from vestige.plain_text import plain
from vestige.viewers.call_table import COLUMNS


def rows_of(path, to):
    """Return the rows of a file, as dictionaries with numbers as numbers."""
    if to == "parquet":
        table = pyarrow.parquet.read_table(path)
    elif to == "arrow":
        table = pa.ipc.open_file(path).read_all()
    elif to == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return [{name: row.get(name) for name in COLUMNS} for row in rows]
    else:
        with path.open(newline="") as file:
            rows = [
                {name: value or None for name, value in row.items()}
                for row in csv.DictReader(file)
            ]
        numbers = set(COLUMNS) - {
            "function", "object", "file", "process_name", "state",
        }  # fmt: skip
        return [
            {
                name: int(value) if name in numbers and value else value
                for name, value in row.items()
            }
            for row in rows
        ]
    for name in ("begin", "end"):
        place = table.column_names.index(name)
        column = table.column(name).cast(pa.int64())
        table = table.set_column(place, name, column)
    return table.to_pylist()


def test_all_formats_have_the_same_rows(calls, export):
    """With everything that is known of each call, and nothing for what is not."""
    found = [
        rows_of(export(calls, to, "--calls")[0], to)
        for to in ("jsonl", "csv", "parquet", "arrow")
    ]

    assert found[0]
    assert list(found[0][0]) == list(COLUMNS)
    assert all(one == found[0] for one in found[1:])
    assert plain(HOSTILE_NAME) in {row["function"] for row in found[0]}


def test_sums_are_those_of_the_report(calls, export, report):
    """Calls, own times and states by function."""
    rows = rows_of(export(calls, "parquet", "--calls")[0], "parquet")
    counts, own, complete = Counter(), Counter(), Counter()
    for row in rows:
        counts[row["function"]] += 1
        own[row["function"]] += row["self_time"]
        complete[row["function"]] += row["state"] == "complete"
        assert row["end"] - row["begin"] == row["duration"]

    for one in report(calls)["functions"]:
        name = plain(one["function"])
        assert counts[name] == one["calls"]
        assert own[name] == one["self_ns"]
        assert complete[name] == one["complete"]


def test_what_makes_no_sense_is_refused(calls, tmp_path, capsys):
    """Formats of viewers have calls anyway, and some options are for events."""
    for words in (
        ["--calls", "--to", "perfetto", "-o", str(tmp_path / "x")],
        ["--calls", "--to", "parquet"],
        ["--calls", "--to", "csv", "--split", "-o", str(tmp_path / "x")],
        ["--to", "csv", "--min-duration=1us"],
    ):
        assert main(["export", *words, str(calls)]) == 2
        assert "vestige: error: " in capsys.readouterr().err


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_no_call_is_no_row(spans, export, to):
    """And is said."""
    path, said = export(spans, to, "--calls")

    assert rows_of(path, to) == []
    assert "holds nothing" in said
