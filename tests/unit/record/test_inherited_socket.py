"""Programs in a network namespace of their own: they reach the recorder if asked for."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.recorded import SECONDS, counts, run_recorded
from support.waiting import wait_until

CALLS = 5_000
PROGRAM = f"""
#include <unistd.h>
static __attribute__((noinline)) void leaf(void) {{ __asm__ volatile(""); }}
int main(int count, char **words)
{{
    if (count > 1)
        sleep(1);
    for (int i = 0; i < {CALLS}; i++)
        leaf();
    return 0;
}}
"""
NOTHING_IN_MEMORY = "mount -t tmpfs tmpfs /dev/shm"
ALONE = ["unshare", "--net", "--map-root-user", "--mount"]


def is_possible(words):
    """Tell whether a command works here."""
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(
    not is_possible([*ALONE, "sh", "-c", NOTHING_IN_MEMORY]),
    reason="needs namespaces of users, networks and mounts",
)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """A program that calls a function."""
    place = tmp_path_factory.mktemp("inherited")
    source, program = place / "app.c", place / "app"
    source.write_text(PROGRAM)
    run_tool(["gcc", "-O1", "-finstrument-functions", "-o", program, source])
    return program


def alone(line):
    """Return a command in namespaces where neither path nor name lead to the recorder."""
    return [*ALONE, "sh", "-c", f"{NOTHING_IN_MEMORY} && {line}"]


def test_it_is_reached_over_the_socket(tmp_path, app):
    """Through exec, and in namespaces of networks, users and mounts."""
    trace = tmp_path / "trace"
    done = run_recorded(trace, alone(f"exec {app}"), "--inherit-socket")

    assert done.returncode == 0, done.stderr
    assert "no events lost" in done.stderr
    assert counts(trace)["func_exit"] == CALLS + 1


def test_it_is_not_reached_without(tmp_path, app):
    """No descriptor of ours stays open in a program that was not to have one."""
    trace = tmp_path / "trace"
    done = run_recorded(trace, alone(f"{app} && ls -l /proc/self/fd"))

    assert done.returncode == 0, done.stderr
    assert "socket:" not in done.stdout
    assert counts(trace)["func_exit"] == 0


def test_many_programs_ask_at_the_same_time(tmp_path, app):
    """More than fit into the queue of a socket."""
    trace = tmp_path / "trace"
    line = f"for n in $(seq 40); do {app} & done; wait"
    done = run_recorded(trace, alone(line), "--inherit-socket")

    assert done.returncode == 0, done.stderr
    assert counts(trace)["func_exit"] == 40 * (CALLS + 1)


def test_another_root_directory_there(tmp_path, app):
    """And another PID namespace."""
    if not is_possible(["bwrap", "--unshare-all", "--bind", "/", "/", "true"]):
        pytest.skip("needs bubblewrap")
    trace = tmp_path / "trace"
    sandbox = ["bwrap", "--unshare-all", "--bind", "/", "/", "--tmpfs", "/dev/shm"]
    done = run_recorded(trace, [*sandbox, app], "--inherit-socket")

    assert done.returncode == 0, done.stderr
    assert counts(trace)["func_exit"] == CALLS + 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes its user")
def test_another_user_there(tmp_path, app):
    """The kernel says who asks: the memory is that of the user."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    program = shutil.copy(app, place)
    try:
        trace = tmp_path / "trace"
        words = ["unshare", "--net", "setpriv", "--reuid=65534", program]
        done = run_recorded(trace, words, "--inherit-socket")
    finally:
        shutil.rmtree(place)

    assert done.returncode == 0, done.stderr
    assert counts(trace)["func_exit"] == CALLS + 1


def test_what_begins_when_another_process_collects(tmp_path, app):
    """The socket is handed over with the memory."""
    trace, gate = tmp_path / "trace", tmp_path / "gate"
    os.mkfifo(gate)
    line = f"(sh -c 'read line < {gate}; exec {app}' > /dev/null 2>&1 &)"
    done = run_recorded(trace, alone(line), "--inherit-socket")
    assert "still recorded" in done.stderr
    gate.write_text("go on\n")
    wait_until(lambda: not (trace / ".arena").exists(), "the end", SECONDS)

    assert counts(trace)["func_exit"] == CALLS + 1


def test_a_descriptor_that_the_program_has_closed(tmp_path, app):
    """And whose number is another file's by now: nothing is sent there."""
    trace = tmp_path / "trace"
    line = (
        "exec python3 -c 'import os, sys; os.closerange(3, 2048);"
        " [os.dup2(1, n) for n in range(1000, 1024)];"
        f' os.execv("{app}", ["app"])\''
    )
    done = run_recorded(trace, alone(line), "--inherit-socket", "-e", "*:func_*")

    assert (done.returncode, done.stdout) == (0, "")
    assert counts(trace)["func_exit"] == 0


def test_who_sends_something_else_harms_nobody(tmp_path, app):
    """Files, ends that say nothing, and many of them."""
    trace = tmp_path / "trace"
    script = (
        "import os, socket, subprocess, sys\n"
        "words = dict(w.split('=', 1) for w in os.environ['VESTIGE_TRACER'].split(' ')"
        " if '=' in w)\n"
        "number = int(words['inherited'].split(',')[0])\n"
        "out = socket.socket(fileno=number)\n"
        "null = os.open('/dev/null', os.O_RDWR)\n"
        "tcp = socket.socket()\n"
        "for files in ([null], [tcp.fileno()], [null] * 100, []):\n"
        "    for _ in range(50):\n"
        "        socket.send_fds(out, [b'+' * 10], files)\n"
        "kept = [socket.socketpair() for _ in range(100)]\n"
        "for _, end in kept:\n"
        "    socket.send_fds(out, [b'+'], [end.fileno()])\n"
        "subprocess.run(sys.argv[1:], check=True, pass_fds=[number])\n"
    )
    words = ["unshare", "--net", "--map-root-user", "--mount", "sh", "-c"]
    line = f'{NOTHING_IN_MEMORY} && exec python3 -c "$0" "$@"'
    done = run_recorded(
        trace, [*words, line, script, app], "--inherit-socket", "--functions=fast"
    )

    assert done.returncode == 0, done.stderr
    assert counts(trace)["func_exit"] == CALLS + 1


@pytest.mark.parametrize(
    ("deed", "is_told"),
    [
        ("out.shutdown(socket.SHUT_WR)", True),
        ("own.bind(''); out.connect(own.getsockname())", True),
        ("out.setblocking(False)", False),
    ],
)
def test_who_cuts_the_others_off_is_told_of(tmp_path, deed, is_told):
    """What begins later cannot say so itself."""
    script = (
        "import os, socket\n"
        "words = dict(w.split('=', 1) for w in os.environ['VESTIGE_TRACER'].split(' ')"
        " if '=' in w)\n"
        "out = socket.socket(fileno=int(words['inherited'].split(',')[0]))\n"
        "own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        f"{deed}\n"
    )
    words = ["python3", "-c", script]
    done = run_recorded(tmp_path / "trace", words, "--inherit-socket", "-e", "*:func_*")

    assert done.returncode == 0, done.stderr
    text = "has shut down the socket that all inherit, or connected it elsewhere"
    assert (text in done.stderr) == is_told
