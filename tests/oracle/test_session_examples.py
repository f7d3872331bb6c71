"""What LTTng's documents show of sessions is so here, with their own examples.

Where daemons of several users or programs before any daemon matter, all of it runs in name
spaces, with the places that the documents name.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.live_sessions import begin, daemon_for_programs, end, lines, run
from support.lttng import can_use_name_spaces
from support.public_folder import public_folder
from support.recipes import Workshop
from support.session_daemon import SessionDaemon
from support.waiting import wait_until

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

SECONDS = 240.0
HELLO = PROGRAMS / "tracepoints"
ENTER = """
#include <stdio.h>
static __attribute__((constructor)) void wait_for_enter(void) { getchar(); }
"""


@pytest.fixture(scope="module")
def tools() -> Iterator[Path]:
    """The commands under LTTng's names, and the program of the document.

    All can be reached by other users.
    """
    with public_folder() as folder:
        make_tools(folder)
        yield folder


def make_tools(folder: Path) -> None:
    """Make them in a directory."""
    subprocess.run(
        [reachable_python(), "-m", "vestige", "commands", "install", str(folder)],
        env={**os.environ, "PYTHONPATH": str(Path(vestige.__file__).parents[1])},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # The traces are read by another tool than ours.
    (folder / "babeltrace2").unlink()
    (folder / "enter.c").write_text(ENTER)
    sources = [HELLO / "hello.c", HELLO / "hello-tp.c", folder / "enter.c"]
    words = ["gcc", f"-I{HELLO}", *sources, "-o", folder / "hello"]
    run_tool([*words, "-llttng-ust", "-ldl"])


def reachable_python() -> str:
    """Return an interpreter that others may run, if there is one."""
    if os.geteuid() != 0:
        return sys.executable
    # With one program between: setpriv itself still may do all.
    anybody = ["setpriv", "--reuid=61234", "--regid=61234", "--clear-groups", "env"]
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    for one in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run(
            [*anybody, one, "-c", check], stderr=subprocess.DEVNULL, check=False
        )
        if done.returncode == 0:
            return one
    return sys.executable


def in_name_spaces(tools: Path, script: str) -> dict[str, list[str]]:
    """Run a script where no daemon has ever been; return its lines after each ``== X``."""
    if not can_use_name_spaces():
        pytest.skip("name spaces cannot be made here")
    whole = f"""
        mount --make-rprivate /
        mount -t tmpfs -o mode=755 none /run
        mount -t tmpfs -o mode=1777 none /dev/shm
        mkdir -p /run/home
        unset VESTIGE_RUNDIR LTTNG_HOME
        export HOME=/run/home PATH={shlex.quote(str(tools))}:$PATH
        export LTTNG_SESSIOND_PATH={shlex.quote(str(tools / "lttng-sessiond"))}
        cd /run/home
        {script}
    """
    command = ["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child"]
    done = subprocess.run(
        [*command, "--mount-proc", "bash", "-c", whole],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    found: dict[str, list[str]] = {}
    current = found.setdefault("", [])
    for line in done.stdout.splitlines():
        if line.startswith("== "):
            current = found.setdefault(line.removeprefix("== "), [])
        else:
            current.append(line)
    return found


HELLO_SCRIPT = """
    mkfifo enter
    (hello world and beyond < enter) & exec 3> enter
    sleep 0.5
    lttng-sessiond --daemonize
    for _ in $(seq 300); do
        lttng list --userspace | grep -q my_first && break
        sleep 0.1
    done
    echo == list
    lttng list --userspace
    echo == create
    lttng create my-user-space-session
    lttng enable-event --userspace hello_world:my_first_tracepoint
    lttng start
    echo >&3; wait
    echo == destroy
    lttng destroy
    echo == trace
    babeltrace2 ~/lttng-traces/my-user-space-session*
    kill -TERM $(cat /run/lttng/lttng-sessiond.pid)
"""


def test_the_first_example_of_the_document(tools: Path):
    """A program that ran before the daemon, from ``create`` to ``destroy``."""
    said = in_name_spaces(tools, HELLO_SCRIPT)
    assert any(
        "hello_world:my_first_tracepoint (loglevel" in one for one in said["list"]
    )
    assert said["create"] == [
        "Session my-user-space-session created.",
        said["create"][1],
        "ust event hello_world:my_first_tracepoint created in channel channel0",
        "Tracing started for session my-user-space-session",
    ]
    assert re.fullmatch(
        r"Traces will be output to /run/home/lttng-traces/"
        r"my-user-space-session-\d{8}-\d{6}",
        said["create"][1],
    )
    assert said["destroy"][-1] == "Session my-user-space-session destroyed"
    fields = r'my_string_field = "([^"]*)", my_integer_field = (-?\d+)'
    events = re.findall(fields, "\n".join(said["trace"]))
    assert [(number, text) for text, number in events] == [
        ("23", "hi there!"),
        ("0", "hello"),
        *[("1", "world"), ("2", "and"), ("3", "beyond"), ("16", "i^2")],
    ]


USERS_SCRIPT = """
    (cat /etc/passwd
     for u in jane:61234 tom:61235 eve:61236; do
        echo "${u%:*}:x:${u#*:}:${u#*:}::/run/${u%:*}:/bin/bash"
     done) > /run/passwd
    mount --bind /run/passwd /etc/passwd
    (grep -v ^tracing: /etc/group; echo "tracing:x:61299:tom") > /run/group
    mount --bind /run/group /etc/group
    for u in jane tom eve; do mkdir /run/$u; chown $u /run/$u; done
    as() {
        local u=$1; shift
        setpriv --reuid=$u --regid=$(id -u $u) --init-groups env HOME=/run/$u "$@"
    }
    there() { for _ in $(seq 600); do "$@" | grep -q my_first && return; sleep 0.1; done; }
    mkfifo enter; chmod 666 enter
    # Jane's program is there before any daemon.
    (as jane hello < enter) & exec 3> enter
    sleep 0.5
    lttng create of-root -o /run/home/out > /dev/null
    as jane lttng create of-jane -o /run/jane/out > /dev/null
    for u in "" "as jane"; do
        there $u lttng list -u
        $u lttng enable-event -u hello_world:* > /dev/null
        $u lttng start > /dev/null
    done
    echo == root; lttng list
    echo == jane; as jane lttng list
    echo == tom; as tom lttng create of-tom -o /run/tom/out; as tom lttng list
    as tom lttng enable-event -u hello_world:*; as tom lttng start
    as tom hello < /dev/null
    echo == eve; as eve lttng list; echo status $?
    echo >&3; wait
    for u in "" "as tom" "as jane"; do $u lttng destroy > /dev/null; done
    for one in home jane tom; do
        echo == trace of $one
        babeltrace2 /run/$one/out | grep -c my_first
        find /run/$one/out -type f -printf '%u\\n' | sort -u
        find /run/$one/out/ust/uid -mindepth 1 -maxdepth 1 -printf '%f\\n' | sort
    done
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: several users")
def test_daemons_of_several_users(tools: Path):
    """Root's and a user's at once; who is in ``tracing`` uses root's, others none."""
    said = in_name_spaces(tools, USERS_SCRIPT)
    names = {who: re.findall(r"\d\) (\S+)", "\n".join(said[who])) for who in said}
    assert names["root"] == ["of-root"]
    assert names["jane"] == ["of-jane"]
    # Of root's daemon, and nobody else's sessions.
    assert "Spawning a session daemon" not in said["tom"]
    assert names["tom"] == ["of-tom"]
    assert said["eve"] == ["Error: No session daemon is available", "status 1"]
    # A program registers with root's daemon and its user's: both of root's programs and
    # hers are in root's trace; files belong to who has the session.
    assert said["trace of home"] == ["6", "root", "61234", "61235"]
    assert said["trace of jane"] == ["3", "jane", "61234"]
    assert said["trace of tom"] == ["3", "tom", "61235"]


def test_an_event_is_recorded_once_in_each_channel(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path
):
    """Whatever rules of the channel match it."""
    begin(
        *(daemon, tmp_path),
        "enable-channel -u one",
        "enable-channel -u two",
        "enable-event -u -c one greeting:said",
        "enable-event -u -c one greet*",
        "enable-event -u -c one * --loglevel=DEBUG",
        "enable-event -u -c two greeting:said -f number==1",
    )
    run(daemon, workshop.program("greeting"), "you")
    end(daemon)
    texts = [re.findall('"(.*)"', one)[0] for one in lines(tmp_path) if "said" in one]
    assert sorted(texts) == ["good morning", "good night", "you", "you"]


@pytest.mark.parametrize("first", ["program", "session"])
def test_the_state_is_dumped_at_the_start_and_again(
    workshop: Workshop, tmp_path: Path, first: str
):
    """Of an application, of a session, and by ``regenerate statedump``."""
    program = [workshop.program("flood"), "1", "100000", "20000"]
    rules = "enable-event -u lttng_ust_statedump:*"
    with daemon_for_programs() as daemon:
        if first == "session":
            begin(daemon, tmp_path, rules)
        variables = {**os.environ, **daemon.environment}
        with subprocess.Popen([*map(str, program)], env=variables) as started:
            try:
                listed = f"PID: {started.pid} "
                wait_until(
                    lambda: listed in daemon.lttng("list", "-u").out,
                    "it registers",
                    SECONDS,
                )
                if first == "program":
                    begin(daemon, tmp_path, rules)
                wait_until(
                    lambda: any(
                        b"lttng_ust_statedump:end" in one.read_bytes()
                        for one in tmp_path.rglob("metadata")
                    ),
                    "it has the rules",
                    SECONDS,
                )
                assert daemon.lttng("regenerate", "statedump").status == 0
                end(daemon)
            finally:
                started.kill()
    found = [one.split(": ")[0] for one in lines(tmp_path)]
    assert found.count("lttng_ust_statedump:start") == 2
    assert found.count("lttng_ust_statedump:end") == 2
    own = f'path = "{workshop.program("flood")}"'
    assert sum(own in one for one in lines(tmp_path)) == 2
