"""``vestige open``: what it says, and to whom."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys

import pytest

from support.recordings import DATA
from vestige.cli.commands.open import has_display, tunnel_command
from vestige.cli.main import main


def test_a_trace_is_served_until_ctrl_c(tmp_path):
    """Its address is all that is on standard output."""
    environment = {"VESTIGE_CACHE_DIR": str(tmp_path), "SSH_CONNECTION": "a 1 b 2"}
    process = subprocess.Popen(
        [sys.executable, "-m", "vestige", "open", str(DATA / "recording-1")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        url = process.stdout.readline().strip()
        asked = http.client.HTTPConnection(url.split("/")[2], timeout=60)
        asked.request("GET", f"{url}api/meta")
        meta = json.load(asked.getresponse())
        asked.close()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)

    assert meta["title"] == "recording-1"
    assert sum(row["calls"] for row in meta["rows"]) > 0
    port = url.split(":")[2].partition("/")[0]
    assert f"'ssh -N -L {port}:127.0.0.1:{port} b'" in told
    assert process.returncode == 0


def test_each_time_there_is_one_index(tmp_path):
    """The next process reads the one that the first has made."""
    for _ in range(2):
        environment = {"VESTIGE_CACHE_DIR": str(tmp_path)}
        process = subprocess.Popen(
            [sys.executable, "-m", "vestige", "open", str(DATA / "recording-1")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        with process:
            assert process.stdout.readline()
            process.send_signal(signal.SIGINT)

    assert len(list(tmp_path.glob("intervals-*/*.index"))) == 1


@pytest.mark.parametrize("port", ["0", "65536", "x", "-1", "²"])
def test_a_port_is_a_number(port, capsys):
    """Before anything is read."""
    with pytest.raises(SystemExit) as status:
        main(["open", f"--port={port}", "nowhere"])

    assert status.value.code == 2
    assert "is not the number of a port" in capsys.readouterr().err


def test_over_ssh_it_says_what_to_forward():
    """With the name that the person has here; nothing without SSH."""
    connection = {"SSH_CONNECTION": "198.51.100.7 53210 203.0.113.9 22"}

    assert tunnel_command({}, 8123) is None
    assert (
        tunnel_command({**connection, "USER": "alice"}, 8123)
        == "ssh -N -L 8123:127.0.0.1:8123 alice@203.0.113.9"
    )
    assert tunnel_command(connection, 1) == "ssh -N -L 1:127.0.0.1:1 203.0.113.9"


@pytest.mark.parametrize(
    ("environment", "answer"),
    [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "w"}, True)],
)
@pytest.mark.skipif(sys.platform != "linux", reason="others have one always")
def test_no_browser_is_started_where_it_cannot_be_seen(environment, answer):
    """One that runs in a terminal shows no canvas."""
    assert has_display(environment) is answer
