"""``vestige export``."""

from __future__ import annotations

import json
import sys

import pyarrow.parquet
import pytest

import vestige
from support.ctf_writer import Packet, Trace, numbered
from support.recordings import DATA
from vestige.cli.commands import export as command
from vestige.trace import column_files


def test_json_lines_go_to_standard_output(run):
    """A line for each event, with the columns in their order."""
    status, text, errors = run("export", "--to", "jsonl", DATA / "hello")
    rows = [json.loads(line) for line in text.splitlines()]

    assert (status, errors) == (0, "")
    assert [row["text"] for row in rows] == [
        "good morning",
        "hello",
        "wide world",
        "good night",
    ]
    assert list(rows[0])[:3] == ["timestamp", "event", "stream_id"]


def test_a_dash_is_standard_output(run, tmp_path, monkeypatch):
    """As with other filters: no file gets that name."""
    monkeypatch.chdir(tmp_path)
    status, text, errors = run("export", "--to=jsonl", "-w-", DATA / "hello")

    assert (status, errors, text.count("\n")) == (0, "", 4)
    assert not list(tmp_path.iterdir())


def test_events_and_columns_can_be_chosen(run):
    """In the order of the wish."""
    status, text, errors = run(
        "export",
        "--to=csv",
        "--event=fields:int*",
        "--columns=u8, event",
        DATA / "fields",
    )

    assert (status, errors) == (0, "")
    assert text.splitlines()[0] == "u8,event"
    assert len(text.splitlines()) == 15
    assert text.splitlines()[1].endswith(",fields:integers")


def test_a_range_of_time(run):
    """Both ends belong to it."""
    status, text, errors = run(
        "export",
        "--to=csv",
        "--columns=text",
        "--clock-gmt",
        "--begin=07:20:27.871897527",
        "--end=07:20:27.871897778",
        DATA / "hello",
    )

    assert (status, errors) == (0, "")
    assert text.splitlines() == ["text", "hello", "wide world"]


def test_a_file(run, tmp_path):
    """Nothing is printed."""
    path = tmp_path / "out.parquet"
    status, text, errors = run("export", "--to", "parquet", "-w", path, DATA / "hello")

    assert (status, text, errors) == (0, "", "")
    assert pyarrow.parquet.read_table(path).num_rows == 4


def test_a_file_for_each_name(run, tmp_path):
    """In a directory."""
    status, _, errors = run(
        "export", "--to", "csv", "--split", "-w", tmp_path / "out", DATA / "fields"
    )

    assert (status, errors) == (0, "")
    assert len(list((tmp_path / "out").iterdir())) == 12


def test_enumerations_as_numbers(run):
    """On request."""
    words = ["export", "--to=csv", "-e", "fields:enum*", "-c", "state", DATA / "fields"]
    labels, numbers = run(*words)[1], run(*words, "--values")[1]

    assert labels.splitlines()[0] == numbers.splitlines()[0] == "state"
    assert all(number.lstrip("-").isdigit() for number in numbers.splitlines()[1:])
    assert labels != numbers


def test_debug_information(run):
    """With the options of the other verbs."""
    reload = DATA / "reload"
    status, text, _ = run(
        "export",
        "--to=jsonl",
        "--event=reload:*",
        "--columns=debug_info",
        "--debug-info",
        f"--debug-info-dir={DATA / 'reload-debug'}",
        f"--debug-info-target-prefix={DATA / 'reload-root'}",
        reload,
    )

    assert status == 0
    assert '"bin":"libalpha.so+' in text


def test_losses_are_told(run):
    """They are not in the output."""
    status, _, errors = run("export", "--to=csv", "--columns=event", DATA / "lost")

    assert status == 0
    assert errors == (
        "vestige: warning: the tracer discarded 165 events, which are not in the output\n"
        "vestige: warning: the tracer discarded 2 packets, which are not in the output\n"
    )


class TestDamage:
    """What is intact is exported."""

    @pytest.fixture
    def cut(self, tmp_path):
        """A trace that ends in the middle of its tenth event."""
        directory = Trace(streams={"s": [Packet(numbered(10))]}).write(tmp_path / "t")
        with (directory / "s").open("r+b") as file:
            file.truncate((directory / "s").stat().st_size - 3)
        return directory

    def test_the_file_has_what_is_intact(self, run, cut, tmp_path):
        """And the exit status tells."""
        path = tmp_path / "out"
        status, _, errors = run("export", "--to=csv", "-c", "value", "-w", path, cut)

        assert status == 1
        assert errors.startswith(f"vestige: error: {cut / 's'}, byte ")
        assert errors.count("\n") == 1
        assert path.read_text().split() == ["value", *map(str, range(9))]

    def test_strict_leaves_no_file(self, run, cut, tmp_path):
        """It stops."""
        path = tmp_path / "out"
        status, _, errors = run("export", "--to=csv", "--strict", "-w", path, cut)

        assert status == 1
        assert "packet cut" in errors
        assert not path.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "parquet"], "--to parquet needs a file: -o FILE"),
        (["--to", "csv", "--split"], "--split needs a directory: -o DIRECTORY"),
        (["--to", "xml"], "invalid choice: 'xml'"),
        ([], "required: --to"),
    ],
)
def test_wrong_usage(run, words, message):
    """Has exit status 2."""
    status, text, errors = run("export", *words, DATA / "hello")

    assert (status, text) == (2, "")
    assert message in errors


def test_an_unknown_column(run):
    """The error names what is meant."""
    status, text, errors = run("export", "--to=csv", "-c", "evnt", DATA / "hello")

    assert (status, text) == (2, "")
    assert errors == "vestige: error: there is no column 'evnt' here; there are event\n"


def test_without_pyarrow(run, monkeypatch, tmp_path):
    """The error names the extra."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, _, errors = run(
        "export", "--to=arrow", "-w", tmp_path / "out", DATA / "hello"
    )

    assert status == 3
    assert "pip install vestige[arrow]" in errors


def test_progress_is_a_share_of_the_time(tmp_path):
    """From the first event to the last."""
    streams = {"s": [Packet(numbered(11))]}
    trace = vestige.open(Trace(streams=streams).write(tmp_path))
    seen = []

    class Bar:
        enabled = True

        def update(self, fraction, events):
            seen.append((fraction, events))

    progress = command._progress(trace, Bar())
    for time, events in [(1_000_000, 1), (1_005_000, 6), (1_010_000, 11), (None, 12)]:
        progress(time, events)

    assert seen == [(0.0, 1), (0.5, 6), (1.0, 11), (None, 12)]


def test_the_formats_are_those_of_the_library():
    """The command names them without importing it."""
    assert command.FORMATS == column_files.FORMATS
