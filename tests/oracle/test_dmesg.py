"""Lines that ``dmesg`` prints are the events that Babeltrace 2 makes of them."""

from __future__ import annotations

import pytest

from support.peers import run_peer
from support.vestige_command import vestige

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

BOOT = (
    "[    0.000000] Linux version\n[    1.5] five\n\n[    2.000001][T1] two  \n[3.0]no"
)
DATES = "[2020-01-02 03:04:05.678] dated\n[2020-01-02 03:04:06.9] 'nine' \\ \x01\n"
NO_TIMES = "no time first\n[    1.5] text is cut all the same\nlast"


@pytest.mark.parametrize("text", [BOOT, DATES, NO_TIMES, "", "\n \n"])
@pytest.mark.parametrize("params", ["", ",no-extract-timestamp=yes"])
def test_lines_are_those_of_babeltrace(tmp_path, text, params):
    """With times since the boot, with dates, without any, and without lines."""
    path = tmp_path / "kernel.txt"
    path.write_text(text)
    words = [
        "--clock-seconds",
        "-c",
        "source.text.dmesg",
        "-p",
        f'path="{path}"{params}',
    ]
    peer = run_peer(["babeltrace2", *words])
    ours = vestige("convert", *words)
    assert (ours.status, ours.stdout) == (peer.status, peer.stdout)
