"""The tunnel of the guide: a session is sent through SSH."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.child_relay import ChildRelay, child_relay
from support.live_sessions import lines
from support.lttng import can_use_name_spaces
from support.own_programs import build_ordered, ordered
from support.ports import free_ports
from support.session_daemon import say, session_daemon
from support.waiting import wait_until

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer", "relay_peer"),
    pytest.mark.skipif(
        shutil.which("sshd", path="/usr/sbin:/sbin") is None,
        reason="not installed: sshd",
    ),
    pytest.mark.skipif(
        os.geteuid() != 0 or not can_use_name_spaces(),
        reason="its directory below /run is made in a namespace",
    ),
]

GUIDE = Path(__file__).parents[3] / "docs/guide/network.md"
SECONDS = 60.0
CONFIGURATION = """
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
"""


def listens(port: int) -> bool:
    """Tell whether somebody listens."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@contextmanager
def ssh_daemon(folder: Path) -> Iterator[int]:
    """Have an SSH daemon; yield its port."""
    [port] = free_ports(1)
    for name in ("host", "user"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f"]
        subprocess.run([*make, str(folder / name)], check=True)
    configuration = folder / "configuration"
    configuration.write_text(CONFIGURATION.format(folder=folder))
    begin = "mount -t tmpfs none /run && mkdir /run/sshd && exec"
    command = f"{begin} /usr/sbin/sshd -D -p {port} -f {configuration}"
    words = ["unshare", "--mount", "--kill-child", "--fork", "sh", "-c", command]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: listens(port), "the SSH daemon listens", SECONDS)
            yield port
        finally:
            process.kill()


@contextmanager
def tunnel(folder: Path, port: int, relay: ChildRelay) -> Iterator[str]:
    """Have the tunnel of the guide; yield the URL of its end here."""
    [line] = [one for one in GUIDE.read_text().splitlines() if one.startswith("ssh -N")]
    control, data = free_ports(2)
    line = line.removesuffix(" &").replace("receiver.example", "127.0.0.1")
    line = line.replace("5342:127.0.0.1:5342", f"{control}:127.0.0.1:{relay.control}")
    line = line.replace("5343:127.0.0.1:5343", f"{data}:127.0.0.1:{relay.data}")
    options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"]
    words = [*shlex.split(line), "-p", str(port), "-i", str(folder / "user")]
    for one in options:
        words += ["-o", one]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: listens(data), "the tunnel is there", SECONDS)
            yield f"net://localhost:{control}:{data}"
        finally:
            process.kill()


def test_a_session_is_sent_through_a_tunnel(tmp_path: Path):
    """With the command of the guide; the relay daemon listens on the machine itself."""
    program = build_ordered(tmp_path)
    with (
        child_relay(tmp_path / "relay") as relay,
        ssh_daemon(tmp_path) as port,
        tunnel(tmp_path, port, relay) as url,
        session_daemon() as daemon,
    ):
        assert daemon.start().returncode == 0
        say(daemon, f"create s --set-url={url}", "enable-event -u ordered:*", "start")
        with ordered(daemon, program) as one:
            one.do("3000")
            say(daemon, "stop")
            one.end()
        say(daemon, "destroy")
        [trace] = relay.sessions("s")
        assert sum(one.startswith("ordered:step:") for one in lines(trace)) == 3000
