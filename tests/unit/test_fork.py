"""Reading goes on in a forked process, whose threads are not those of its parent."""

from __future__ import annotations

import io
import os
import signal

import pytest

import vestige
from support.recordings import DATA, open_demo


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


@pytest.mark.parametrize("read", [events, rows])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_reads_what_its_parent_read(read):
    """Both have used threads."""
    expected = read()
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        # A child that waits forever must not hold up the tests.
        signal.alarm(20)
        os.write(sink, b"same" if read() == expected else b"other")
        os._exit(0)
    os.close(sink)
    with io.FileIO(source) as answer:
        assert answer.read(16) == b"same"
    assert os.waitpid(child, 0)[1] == 0
