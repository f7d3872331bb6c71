"""Programs of other users, and ones that do not see the memory of the recording."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.compilers import run_tool
from support.instrumented import Sources
from support.peers import run_peer
from support.public_folder import public_folder
from support.recorded import SECONDS, counts, record_command, run_recorded
from support.waiting import wait_until
from vestige.record.backends.in_process.tracer import library_path

CALLS = 5_000
PROGRAM = f"""
#include <unistd.h>
static __attribute__((noinline)) void leaf(void) {{ __asm__ volatile(""); }}
int main(int count, char **words)
{{
    for (int i = 0; i < {CALLS}; i++)
        leaf();
    if (count > 1) {{
        sleep(1);
        leaf();
    }}
    return 0;
}}
"""
# As a program with the set-user-ID bit may do, whose own environment has no LD_PRELOAD.
HELPER = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words)
{
    if (count < 3 || setresuid(1, 1, 1) || setenv("LD_PRELOAD", words[1], 1))
        return 99;
    execv(words[2], words + 2);
    return 98;
}
"""
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes its user")


@pytest.fixture(scope="module")
def place():
    """A directory that all users can reach."""
    with public_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def app(place):
    """A program that calls a function."""
    source, program = place / "app.c", place / "app"
    source.write_text(PROGRAM)
    run_tool(["gcc", "-O1", "-finstrument-functions", "-o", program, source])
    return program


def check(trace, done, programs=1):
    """All calls are there, and nothing was lost."""
    assert done.returncode == 0, done.stderr
    assert "no events lost" in done.stderr
    assert "not recorded" not in done.stderr
    found = counts(trace)
    assert (found["func_entry"], found["func_exit"]) == (programs * (CALLS + 1),) * 2
    assert not (trace / ".arena").exists()


@needs_root
@pytest.mark.parametrize(
    "words",
    [
        [*AS_NOBODY, "{app}"],
        ["runuser", "-u", "nobody", "--", "{app}"],
        ["su", "nobody", "-s", "/bin/sh", "-c", "{app}"],
    ],
    ids=["setpriv", "runuser", "su"],
)
def test_a_program_of_another_user(tmp_path, app, words):
    """It gets memory of its own, over the socket."""
    trace = tmp_path / "trace"
    done = run_recorded(trace, [word.format(app=app) for word in words])

    check(trace, done)


@needs_root
def test_programs_of_many_users_at_once(tmp_path, app):
    """All of them are in one trace."""
    line = f'for u in 0 1 2 3 65534; do setpriv --reuid=$u "{app}" & done; wait'
    trace = tmp_path / "trace"
    done = run_recorded(trace, ["sh", "-c", line])

    check(trace, done, programs=5)


@needs_root
@pytest.mark.parametrize("user", ["0", "65534"])
def test_a_program_in_another_root(tmp_path, app, user):
    """The tracer's library is there; no path leads to the memory."""
    root = tmp_path / "root"
    libraries = [str(path) for path in Path(library_path()).parent.glob("*.so")]
    listed = subprocess.run(
        ["ldd", app, *libraries], capture_output=True, text=True, check=True
    ).stdout
    needed = {
        word for word in listed.split() if word.startswith("/") and word[-1] != ":"
    }
    for name in {*needed, *libraries, str(app)}:
        (root / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, root / name[1:])
    trace = tmp_path / "trace"
    for directory in (root, *root.parents[:-2]):
        directory.chmod(0o755)
    done = run_recorded(trace, ["chroot", f"--userspec={user}:{user}", root, app])

    check(trace, done)


@needs_root
def test_a_program_without_shared_memory(tmp_path, app):
    """Nothing is mounted there where the program runs."""
    trace = tmp_path / "trace"
    line = f"umount -l /dev/shm && exec {shlex.quote(str(app))}"
    if run_tool_quietly(["unshare", "-m", "umount", "-l", "/dev/shm"]):
        pytest.skip("needs a mount namespace")
    done = run_recorded(trace, ["unshare", "-m", "sh", "-c", line])

    check(trace, done)


def run_tool_quietly(words):
    """Return its exit status."""
    return subprocess.run(words, capture_output=True, check=False).returncode


@needs_root
def test_a_program_of_another_user_in_the_background(tmp_path, app):
    """Another process takes over its memory, too."""
    trace = tmp_path / "trace"
    user = shlex.join(AS_NOBODY)
    line = f'{user} "{app}" later > /dev/null 2>&1 & {user} "{app}"'
    done = run_recorded(trace, ["sh", "-c", line])
    wait_until(lambda: not (trace / ".arena").exists(), "the end", SECONDS)

    assert done.returncode == 0, done.stderr
    found = counts(trace)
    assert (found["func_entry"], found["func_exit"]) == (2 * CALLS + 3,) * 2


@needs_root
def test_tracepoints_of_two_users_have_different_classes(tmp_path, place):
    """Each has a block of IDs; other readers find no gap between them."""
    sources = Sources(place)
    program = sources.build("threads", "threads.c", flags=["-pthread"])
    trace = tmp_path / "trace"
    line = shlex.join([str(program), "2", "100"])
    done = run_recorded(
        trace,
        ["sh", "-c", f"{line} && {shlex.join(AS_NOBODY)} {line}"],
        "-e",
        "threads:*",
    )

    assert done.returncode == 0, done.stderr
    opened = vestige.open(trace, debug_info=False)
    found = Counter(event.name for event in opened)
    assert not opened.damage
    assert found["threads:step"] == 2 * 2 * 100
    words = ["babeltrace2", trace, "--component=filter.lttng-utils.debug-info"]
    if shutil.which(words[0]) is not None:
        text = run_peer(words).stdout
        assert text.count(b" threads:step:") == 2 * 2 * 100


def test_who_does_not_say_the_token_gets_nothing(tmp_path):
    """The name of the socket is no secret, the token is."""
    script = (
        "import os, socket, time\n"
        "words = dict(w.split('=', 1) for w in os.environ['VESTIGE_TRACER'].split(' ')[1:]"
        " if '=' in w)\n"
        "def ask(token):\n"
        "    with socket.socket(socket.AF_UNIX) as c:\n"
        "        c.connect('\\0' + words['socket'])\n"
        "        c.sendall(token)\n"
        "        return len(socket.recv_fds(c, 1, 4)[1])\n"
        "silent = socket.socket(socket.AF_UNIX)\n"
        "silent.connect('\\0' + words['socket'])\n"
        "right = bytes.fromhex(words['token'])\n"
        "print(ask(bytes(16)), ask(right), ask(right[::-1]))\n"
    )
    done = run_recorded(
        tmp_path / "trace", ["python3", "-c", script], "-e", "fgtrace:func_entry"
    )

    assert done.stdout == "0 1 0\n", done.stderr


@needs_root
def test_a_recorder_that_is_not_root_says_whom_it_cannot_record(place, app):
    """It cannot make memory for another user."""
    source, helper = place / "helper.c", place / "helper"
    source.write_text(HELPER)
    run_tool(["gcc", "-o", helper, source])
    helper.chmod(0o4755)
    if run_tool_quietly([*AS_NOBODY, helper, "", "/bin/true"]):
        pytest.skip("needs a file system with the set-user-ID bit")
    home = place / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    trace = home / "trace"
    line = f'"{helper}" "$LD_PRELOAD" "{app}"; "{app}"'
    done = subprocess.run(
        [*AS_NOBODY, *record_command(trace, ["sh", "-c", line])],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=home,
        env={**os.environ, "HOME": str(home)},
    )

    assert done.returncode == 0, done.stderr
    assert "of user 1 cannot be recorded: Vestige is not root" in done.stderr
    assert counts(trace)["func_entry"] == CALLS + 1
