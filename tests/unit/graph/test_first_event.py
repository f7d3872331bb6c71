"""When a trace begins, from which relative times count."""

from __future__ import annotations

import re

from support.ctf_writer import Packet, Trace, numbered
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import first_event_time


def test_what_has_no_time_does_not_hide_the_first_time(tmp_path):
    """Such event records come first in a merge."""
    paths = [
        Trace(streams={"stream": [Packet(numbered(times))]}).write(tmp_path / str(name))
        for name, times in enumerate([3, 2])
    ]
    metadata = paths[0] / "metadata"
    text = metadata.read_text()
    text = text.replace(" map = clock.monotonic.value;", "").replace("timestamp", "n")
    metadata.write_text(re.sub(r"clock \{.*?\};\n", "", text))
    streams = [
        stream
        for index, path in enumerate(paths)
        for stream in CtfFsSource([path], first_index=index).streams
    ]
    assert [stream.handle.has_clock for stream in streams] == [False, True]
    known = streams[1]
    assert first_event_time([known]) is not None
    assert first_event_time(streams) == first_event_time([known])
    assert first_event_time(streams[:1]) is None
