"""The relay daemon's command line."""

from __future__ import annotations

import grp
import os
import socket
import stat
import struct

import pytest

from support.ports import free_ports
from support.relay_daemon import RunningRelay
from support.relay_peer import INVALID_PROTOCOL, OK, SECONDS
from vestige.cli.relayd import main
from vestige.errors import VestigeError
from vestige.relay.paths import session_date
from vestige.relay.sockets import KeepAlive

DELETE = 2


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Start a relay daemon with more words; it ends with the test."""
    monkeypatch.setenv("LTTNG_HOME", str(tmp_path))
    running = []

    def start(*words):
        running.append(RunningRelay(tmp_path, *words))
        return running[-1]

    yield start
    for one in running:
        one.disconnect()
        assert one.end()[0] == 0


def test_directories_are_those_of_sessions(started):
    """The host and the date come below, and then the path that was chosen."""
    relay = started("--group-output-by-session")
    control, _ = relay.connect()
    _, status, path = control.create_session("web", "there", "my/path")

    assert status == OK
    assert path == f"web/there-{session_date(1_700_000_000)}/my/path"
    assert (relay.output / path).is_dir()


def test_a_configuration_says_what_the_command_line_does_not(started, tmp_path):
    """No peer clears a session then; what is said of itself is told."""
    path = tmp_path / "relay.conf"
    path.write_text("[relayd]\ndisallow-clear=yes\nfd-pool-size=200\nno-such=1\n")
    relay = started("--config", str(path), "--working-dir", str(tmp_path), "-v")
    control, _ = relay.connect()
    control.create_session("s")
    control.create_chunk(0)

    assert control.ask(22, struct.pack(">Q", 0), ">IQ") == (OK, 0)
    assert control.close_chunk(0, action=DELETE) == (INVALID_PROTOCOL, "")
    relay.disconnect()
    status, said = relay.end()
    assert status == 0
    assert "host/s: a session of host begins" in said
    assert 'Unrecognized option "no-such" in daemon configuration file' in said


@pytest.mark.parametrize(("value", "flags"), [("1", 0), ("on", 0), ("0", 1)])
def test_the_environment_says_whether_sessions_are_cleared(
    started, monkeypatch, value, flags
):
    """As a number, or a word."""
    monkeypatch.setenv("LTTNG_RELAYD_DISALLOW_CLEAR", value)
    control, _ = started().connect()
    control.create_session("s")
    assert control.ask(22, struct.pack(">Q", 0), ">IQ") == (OK, flags)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--control-port=localhost"], "expected tcp://HOST:PORT"),
        (["--data-port=tcp://localhost:65536"], "expected tcp://HOST:PORT"),
        (["--fd-pool-size=99"], "expected a number from 100"),
        (["--config=/nowhere"], "Error: /nowhere: No such file"),
        (["-w", "/nowhere"], 'Failed to change working directory to "/nowhere": No'),
        (["--output=/proc/nowhere"], "/proc/nowhere"),
    ],
)
def test_what_makes_no_sense_is_said(words, why, capsys):
    """In one line; nothing is listened on."""
    assert main(words) == 1
    assert why in capsys.readouterr().err


def test_a_port_that_is_taken_is_said(capsys, tmp_path):
    """And which it is."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        address = f"--control-port=tcp://127.0.0.1:{port}"
        assert main([address, f"--output={tmp_path}"]) == 1
    assert f"cannot listen on 127.0.0.1, port {port}" in capsys.readouterr().err


def test_health_is_told(started, tmp_path, monkeypatch):
    """To the user and a group, at a socket that goes with the daemon."""
    path = tmp_path / "health"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    monkeypatch.setenv("LTTNG_RELAYD_HEALTH", str(path))
    group = grp.getgrgid(os.getgid()).gr_name
    relay = started("--group", group)
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(SECONDS)
        asking.connect(str(path))
        for _ in range(2):
            asking.sendall(bytes(4))
            assert asking.recv(8, socket.MSG_WAITALL) == bytes(8)
    relay.disconnect()
    assert relay.end() == (0, "")
    assert not path.exists()


def test_a_file_is_no_health_socket(tmp_path, monkeypatch, capsys):
    """It stays."""
    path = tmp_path / "file"
    path.write_text("mine")
    monkeypatch.setenv("LTTNG_RELAYD_HEALTH", str(path))
    ports = zip("CDL", free_ports(3), strict=True)
    words = [f"-{name}tcp://127.0.0.1:{port}" for name, port in ports]
    assert main([*words, f"--output={tmp_path}"]) == 1
    assert f"cannot answer at {path}" in capsys.readouterr().err
    assert path.read_text() == "mine"


def test_silent_peers_are_asked():
    """As LTTng's environment variables say; what they do not is the system's."""
    prefix = "LTTNG_RELAYD_TCP_KEEP_ALIVE"
    environment = {prefix: "1", f"{prefix}_IDLE_TIME": "7"}
    environment |= {f"{prefix}_MAX_PROBE_COUNT": "-1", f"{prefix}_PROBE_INTERVAL": "3"}
    asked = KeepAlive.from_environment(environment)
    with socket.socket() as connection:
        default = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT)
        asked.apply(connection)
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        found = [connection.getsockopt(socket.IPPROTO_TCP, one) for one in options]
    assert found == [7, 3, default]

    assert not KeepAlive.from_environment({}).is_on
    with pytest.raises(VestigeError, match="IDLE_TIME = soon"):
        KeepAlive.from_environment({prefix: "1", f"{prefix}_IDLE_TIME": "soon"})
