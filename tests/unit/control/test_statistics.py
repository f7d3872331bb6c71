"""What a channel has recorded is counted in the trace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import vestige
from support.recordings import DATA
from vestige.control import statistics
from vestige.control.statistics import channel_of_file, channel_statistics


@pytest.fixture
def output(tmp_path):
    """The trace of a program with Vestige's own tracer, where a session has it."""
    folder = tmp_path / "out/ust/uid/0/64-bit-vestige"
    shutil.copytree(DATA / "recording-1", folder)
    return str(tmp_path / "out")


def described(output, *channels):
    """Return what a daemon says of a session."""
    losses = {"discarded_events": 0, "lost_packets": 0}
    return {"output": output, "channels": dict.fromkeys(channels, losses)}


def test_threads_of_programs_with_the_own_tracer_count_for_the_only_channel(output):
    """Their files are not named for it."""
    found = channel_statistics(described(output, "ch"))["ch"]
    assert found.events == vestige.open(output).events().count() > 0
    assert found.packets > 0


@pytest.mark.parametrize(("folder", "channel"), [("a", "a"), ("b-2", "b")])
def test_channels_of_programs_with_the_own_tracer_have_directories(
    tmp_path, folder, channel
):
    """Each counts for itself; where one is in use, the next has a number."""
    path = tmp_path / "ust/uid/0/64-bit-vestige" / folder
    shutil.copytree(DATA / "recording-1", path)
    found = channel_statistics(described(str(tmp_path), "a", "b"))
    other = {"a": "b", "b": "a"}[channel]
    assert found[channel].events == vestige.open(path).events().count() > 0
    assert found[other].events == 0


@pytest.mark.parametrize(
    ("name", "channel"),
    [("ch_0", "ch"), ("ch_0_12", "ch"), ("ch_2_0", "ch_2"), ("ch_2_0_1", "ch_2")],
)
def test_names_of_channels_may_end_with_a_number(name, channel):
    """As names of files do, with the CPU and the number of the file."""
    channels = [channel, "other"]
    assert channel_of_file(Path(name), channels, is_own=False) == channel


def test_of_several_channels_nobody_knows_which_it_was(output):
    """No number is better than a wrong one; a directory of all has no channel's name."""
    found = channel_statistics(described(output, "a", "b"))
    assert [one.events for one in found.values()] == [None, None]


def test_a_chunk_that_is_archived_meanwhile_is_looked_for_again(output, monkeypatch):
    """It is in another directory a moment later."""
    opens = []

    def moved_once(*words, **options):
        opens.append(words)
        if len(opens) == 1:
            raise vestige.NotATraceError("moved", path=output)
        return vestige.open(*words, **options)

    monkeypatch.setattr(statistics, "open_trace", moved_once)
    assert channel_statistics(described(output, "ch"))["ch"].packets > 0
