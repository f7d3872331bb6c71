"""Reading goes on in a forked process, whose threads are not those of its parent."""

from __future__ import annotations

import io
import os
import signal

import pytest

import vestige
from support.recordings import DATA, open_demo
from vestige.ctf import Writer


def events():
    """Return all events of a trace as values."""
    return [(event.timestamp, event.name) for event in open_demo()]


def rows():
    """Return how many rows the columns of a trace have."""
    trace = vestige.open(DATA / "reload", debug_info=False)
    return sum(batch.num_rows for batch in to_batches(trace))


def to_batches(trace):
    """Read columns with pyarrow."""
    arrow = pytest.importorskip("pyarrow")
    return list(arrow.RecordBatchReader.from_stream(trace.to_arrow()))


def event_iterator(trace):
    """Return an iterator that has begun."""
    iterator = iter(trace)
    next(iterator)
    return iterator


def batch_reader(trace):
    """Return a reader of columns that has begun."""
    arrow = pytest.importorskip("pyarrow")
    columns = trace.to_arrow(batch_size=100)
    reader = arrow.RecordBatchReader.from_stream(columns)
    next(reader)
    return reader


def outcome_in_child(iterator):
    """Return what a forked child says that going on with an iterator ended with."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        try:
            said = f"read {sum(1 for _ in iterator)}"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            said = f"{type(error).__name__}: {error}"
        os.write(sink, said.encode())
        os._exit(0)
    os.close(sink)
    with io.FileIO(source) as answer:
        said = answer.read(4000).decode()
    assert os.waitpid(child, 0)[1] == 0
    return said


@pytest.fixture(scope="module")
def long_trace(tmp_path_factory):
    """A trace that is read in many parts."""
    path = tmp_path_factory.mktemp("fork") / "trace"
    with Writer(path) as writer:
        stream = writer.stream("s")
        tick = writer.event_class("tick", {"n": "u64"})
        for number in range(400_000):
            stream.write(tick, number, n=number)
    return path


@pytest.mark.parametrize("begin", [event_iterator, batch_reader])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_that_goes_on_with_an_iterator_of_its_parent_is_refused(
    begin, long_trace
):
    """It must not wait for threads that only the parent has."""
    for _ in range(5):
        iterator = begin(vestige.open(long_trace))
        said = outcome_in_child(iterator)
        assert "made before fork()" in said
        assert sum(1 for _ in iterator) > 0, "the parent goes on"


@pytest.mark.parametrize("read", [events, rows])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_reads_what_its_parent_read(read):
    """Both have used threads."""
    expected = read()
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        # A child that waits forever must not hold up the tests.
        signal.alarm(120)
        os.write(sink, b"same" if read() == expected else b"other")
        os._exit(0)
    os.close(sink)
    with io.FileIO(source) as answer:
        assert answer.read(16) == b"same"
    assert os.waitpid(child, 0)[1] == 0
