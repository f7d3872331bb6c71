"""Streams of record batches in the hands of other libraries."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.recordings import DATA

pytest.importorskip("pyarrow")

PROGRAM = """
import sys
import pyarrow
import vestige
from vestige import core

events = vestige.open(sys.argv[1]).events()

def merges():
    for batches in range(2):
        for _ in range(20):
            reader = pyarrow.RecordBatchReader.from_stream(events.to_arrow())
            for _ in range(batches):
                reader.read_next_batch()
            del reader
    yield from ()

assert list(core.EventIterator(merges())) == []
"""


def test_a_stream_is_given_back_by_code_that_holds_no_lock():
    """That of pyarrow lets go of it first, whoever called the code around it."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", PROGRAM, DATA / "hello"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
