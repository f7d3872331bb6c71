"""Parts of a selection that are read apart from each other."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pyarrow as pa
import pytest

import vestige
from support.column_rows import RECORDINGS, same
from support.ctf_writer import Packet, Trace, numbered
from support.recordings import DATA, RELOAD_DEBUG_INFO
from vestige import SelectionError


def identities(selection):
    """Return what tells event records apart."""
    return [
        (event.stream.name, event.file_offset, event.timestamp) for event in selection
    ]


def again(selection):
    """Return what another process would get."""
    return pickle.loads(pickle.dumps(selection))  # noqa: S301 - it is ours


@pytest.fixture
def packets(tmp_path):
    """Two data streams of ten packets each that overlap in time."""
    streams = {
        name: [Packet(numbered(10, start=10 * n + shift)) for n in range(10)]
        for name, shift in (("a", 0), ("b", 5))
    }
    return vestige.open(Trace(streams=streams).write(tmp_path))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("name", RECORDINGS)
def test_together_they_are_the_whole(name, count):
    """No event is missing, none is there twice, and the order is kept."""
    trace = vestige.open(DATA / name)
    parts = trace.partitions(count)

    assert 1 <= len(parts) <= count
    assert [one for part in parts for one in identities(part)] == identities(trace)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 10])
def test_they_are_of_about_the_same_size(packets, count):
    """As far as packets allow."""
    sizes = [len(part) for part in packets.partitions(count)]

    assert len(sizes) == count
    assert sum(sizes) == len(packets) == 200
    assert max(sizes) - min(sizes) <= 20


@pytest.mark.filterwarnings("ignore:no event matches")
def test_of_a_selection(packets):
    """Pattern and times hold in each part."""
    selection = packets.events("event_*", begin=1_013_000, end=1_072_000)
    parts = selection.partitions(3)

    assert len(parts) == 3
    assert [one for part in parts for one in identities(part)] == identities(selection)
    assert not any(part.events("other") for part in parts)


@pytest.mark.filterwarnings("ignore:no event matches")
def test_one_packet_is_one_part(tmp_path):
    """It cannot be cut."""
    trace = vestige.open(Trace(streams={"s": [Packet(numbered(9))]}).write(tmp_path))

    assert [len(part) for part in trace.partitions(4)] == [9]
    assert [len(part) for part in trace.events("nothing").partitions(4)] == [0]


def test_events_without_a_time_are_in_the_first_part(tmp_path):
    """As they come first in the whole."""
    metadata = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };"
    metadata += "event { name = x; fields := struct { integer { size = 8; } x; }; };"
    (tmp_path / "metadata").write_text(metadata)
    (tmp_path / "stream").write_bytes(b"abc")
    trace = vestige.open([tmp_path, DATA / "lost"])
    parts = trace.partitions(3)

    assert parts[0].counts()["x"] == 3
    assert [one for part in parts for one in identities(part)] == identities(trace)


def test_less_than_one_part():
    """Is no request."""
    with pytest.raises(SelectionError, match="0 parts: expected at least one"):
        vestige.open(DATA / "hello").partitions(0)


def test_debug_information_is_that_of_the_whole():
    """Also for objects that were mapped before the part begins."""
    trace = vestige.open(DATA / "reload", debug_info=RELOAD_DEBUG_INFO)
    events = list(trace)
    whole = trace.to_arrow(["debug_info"])
    halves = [
        trace[: events[50].timestamp],
        trace[events[50].timestamp :],
    ]
    found = [
        row
        for half in halves
        for row in pa.table(half.to_arrow(["debug_info"])).to_pylist()
    ]
    assert same(found, pa.table(whole).to_pylist())
    assert again(halves[1]).to_arrow().names == trace.to_arrow().names


class TestPickle:
    """Selections in other processes."""

    def test_it_opens_the_trace_again(self, packets):
        """With pattern and times."""
        part = packets.events("event_*").partitions(4)[2]
        copy = again(part)

        assert identities(copy) == identities(part)
        assert len(again(packets)) == 200

    def test_options_go_with_it(self):
        """Where debug information is found, too."""
        trace = vestige.open(DATA / "reload", debug_info=RELOAD_DEBUG_INFO)
        copy = again(trace.events("reload:*"))

        assert [str(event.debug_info) for event in copy] == [
            str(event.debug_info) for event in trace.events("reload:*")
        ]

    def test_a_relative_path_means_the_same_in_another_directory(
        self, tmp_path, monkeypatch
    ):
        """A worker runs wherever it likes."""
        monkeypatch.chdir(DATA)
        data = pickle.dumps(vestige.open("hello").events("greeting:*"))
        (tmp_path / "part").write_bytes(data)
        program = "import pickle, sys; print(len(pickle.load(open('part', 'rb'))))"
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            capture_output=True,
            check=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

        assert run.stdout == "4\n"

    def test_a_trace_made_by_hand_cannot_be_pickled(self, packets):
        """Nobody knows how to open it again."""
        made = vestige.Trace(packets._source, None, strict=False)
        with pytest.raises(pickle.PicklingError, match=r"vestige\.open"):
            pickle.dumps(made)
