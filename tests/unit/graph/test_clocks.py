"""Data streams whose times cannot be compared are not merged by `convert`."""

from __future__ import annotations

import pytest

from support.ctf_writer import Packet, Trace, numbered
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.errors import GraphError
from vestige.graph import check_correlation

EPOCH = "absolute = true;"
ONE = 'uuid = "00000000-0000-0000-0000-000000000001";'
TWO = 'uuid = "00000000-0000-0000-0000-000000000002";'


def streams(directory, *clocks, force=False):
    """Write a trace for each clock; return the data streams of all."""
    found = []
    for index, clock in enumerate(clocks):
        path = Trace(streams={"stream": [Packet(numbered(1))]}).write(
            directory / str(index)
        )
        metadata = path / "metadata"
        text = metadata.read_text()
        head, tail = text.split("clock {", 1)
        metadata.write_text(f"{head}clock {{ {clock} {tail}")
        source = CtfFsSource([path], first_index=index, force_epoch_origin=force)
        found += source.streams
    return found


@pytest.mark.parametrize(
    "clocks", [(), (ONE,), (EPOCH, EPOCH + ONE), (ONE, ONE), ("", "")]
)
def test_clocks_with_one_origin_can_be_merged(tmp_path, clocks):
    """The Unix epoch, one clock, or nothing known of either."""
    check_correlation(streams(tmp_path, *clocks))


@pytest.mark.parametrize("clocks", [(ONE, TWO), (EPOCH, ONE), (EPOCH, ""), ("", ONE)])
def test_other_clocks_are_refused_unless_forced(tmp_path, clocks):
    """The message names both."""
    with pytest.raises(GraphError, match="cannot merge by time: the clock"):
        check_correlation(streams(tmp_path / "a", *clocks))

    check_correlation(streams(tmp_path / "b", *clocks, force=True))
