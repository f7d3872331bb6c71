"""Sessions that LTTng split into chunks, files and snapshots are read as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.lttng import Channel, Program
from support.peers import Output, run_peer
from support.recipes import Workshop
from support.vestige_command import convert

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

SMALL = "4096"
"""Size of a sub-buffer and of a file: LTTng's smallest."""


def compare(*paths: Path | str) -> Output:
    """Compare the text and the warnings of some paths; return what the peer printed."""
    words = [str(path) for path in paths]
    theirs = run_peer(["babeltrace2", *words])
    ours = convert(Path(words[-1]), *words[:-1])
    assert ours.stdout == theirs.stdout
    assert sorted(ours.warnings) == sorted(theirs.warnings)
    assert (ours.status, theirs.status) == (0, 0)
    return theirs


def flood(workshop: Workshop, events: int = 200) -> Program:
    """Return a program that records many events in a few bursts."""
    return Program([workshop.program("flood"), str(events), "2", "3000"])


def channel(**options: object) -> Channel:
    """Return a channel with buffers so small that every burst fills packets."""
    sizes = {"sub_buffer_size": SMALL, "sub_buffer_count": 4}
    return Channel(contexts=("vpid",), events=["flood:*"], **{**sizes, **options})


@pytest.fixture(scope="module")
def rotated(workshop: Workshop) -> Path:
    """A session that was rotated twice."""
    output = workshop.directory / "rotated"
    with workshop.lttng.session(output, [channel()]) as session:
        for _ in range(2):
            workshop.lttng.run_program(flood(workshop))
            workshop.lttng.run(["lttng", "rotate", session])
        workshop.lttng.run_program(flood(workshop))
    return output


def test_the_chunks_of_a_rotated_session_are_one_trace(rotated):
    """Found below the session's directory."""
    assert len(list(rotated.rglob("metadata"))) == 3
    assert len(compare(rotated).stdout.splitlines()) > 100


def test_chunks_can_be_given_in_any_order(rotated):
    """What is lost between two of them is counted as within one."""
    chunks = sorted({path.parents[3] for path in rotated.rglob("metadata")})

    assert len(chunks) == 3
    for order in (chunks, chunks[::-1], chunks[:2], chunks[1:], [chunks[0], chunks[2]]):
        compare(*order)


@pytest.mark.parametrize("words", [("--stream-intersection",), ("--clock-seconds",)])
def test_options_hold_for_the_joined_trace(rotated, words):
    """The packets of all chunks are those of one stream."""
    compare(*words, rotated)


@pytest.mark.parametrize("count", [0, 2])
def test_rotated_files_are_one_data_stream(workshop, count):
    """Also when the oldest ones are overwritten."""
    output = workshop.directory / f"files-{count}"
    channels = [channel(file_size=SMALL, file_count=count)]
    with workshop.lttng.session(output, channels):
        workshop.lttng.run_program(flood(workshop, 400))

    assert len([path for path in output.rglob("channel0_?_?") if path.is_file()]) > 2
    compare(output)


def test_overlapping_snapshots_give_each_packet_once(workshop):
    """Two snapshots of the same buffers."""
    output, lttng = workshop.directory / "snapshots", workshop.lttng
    lttng.run(["lttng", "create", "overlap", "--snapshot", f"--output={output}"])
    try:
        lttng._enable("overlap", channel(overwrite=True))
        lttng.run(["lttng", "start", "overlap"])
        for _ in range(2):
            lttng.run_program(flood(workshop, 40))
            lttng.run(["lttng", "snapshot", "record", "--session=overlap"])
        lttng.run(["lttng", "stop", "overlap"])
    finally:
        lttng.run(["lttng", "destroy", "overlap"])

    assert len(list(output.rglob("metadata"))) == 2
    compare(output)
