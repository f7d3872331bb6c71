"""Babeltrace 2 reads copies as it reads what they are copies of."""

from __future__ import annotations

import pytest

from support.peers import babeltrace
from support.recordings import DATA
from support.vestige_command import convert

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

DETAILS = ("-c", "sink.text.details", "-p", "with-trace-name=no,with-stream-name=no")


@pytest.mark.parametrize("name", ["fields", "lost", "threads-pid"])
@pytest.mark.parametrize("version", ["1", "2"])
def test_every_message_of_a_copy_is_that_of_the_trace(tmp_path, name, version):
    """Packets, losses and the time of each are the same; by way of CTF 2, too."""
    source = DATA / name
    for step in [version] if version == "1" else [version, "1"]:
        target = tmp_path / step
        params = f'path="{target}",ctf-version="{step}"'
        done = convert(source, "-c", "sink.ctf.fs", "-p", params)
        assert (done.status, done.stderr) == (0, b"")
        source = target

    def details(trace):
        shown = babeltrace(trace, *DETAILS, "-p", "with-metadata=no")
        assert shown.status == 0
        return shown.stdout

    assert details(source) == details(DATA / name)
