"""Function calls of whole programs without hooks, counted by other tools as well."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import vestige
from support.executions import (
    callgrind_executions,
    planned_functions,
    recorded_calls,
    uftrace_calls,
)
from support.patched import build, called, needs_patching, output_of
from support.recorded import kill_all, run_recorded, start_traced
from support.waiting import wait_until
from vestige.record import RecordingOptions

pytestmark = needs_patching

LIBSQLITE = "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0"
STATEMENTS = """
create table t(a integer primary key, b text, c real);
with recursive n(x) as (select 1 union all select x+1 from n where x<200)
  insert into t select x, 'text '||x, x*1.5 from n;
create index i on t(b);
select count(*), sum(a), max(c) from t where b like 'text 1%';
select group_concat(b) from (select b from t order by c desc limit 5);
update t set c=c+1 where a%3=0; delete from t where a>150;
select json_extract('{"a":[1,2,3]}','$.a[1]'), upper('abc'), round(2.567,2), hex('q');
explain query plan select * from t where b='text 3';
pragma integrity_check;
"""
SCRIPT = """
f() { [ $1 -gt 0 ] && f $(($1-1)); echo -n "$1 "; }; f 10; echo
declare -A m; for i in {1..50}; do m[k$i]=$i; done; echo ${#m[@]} ${m[k7]^^}
case abc in a*) echo yes;; esac; x=hello; echo ${x/l/L} ${x:1:3} ${#x}
[[ $x =~ h(.)l ]] && echo ${BASH_REMATCH[1]}; printf '%5s|' a b; trap 'echo bye' EXIT
"""
PYTHON = """
import json, re
class Numbers:
    def get(self, n): return n if n < 2 else self.get(n - 1) + self.get(n - 2)
print(Numbers().get(10), json.dumps({"a": [1, 2.5, None]}), re.sub("a+", "b", "caat"))
print("%5.2f" % 3.14159, sum(x * x for x in range(100)), sorted("hello"), 2**200)
"""
PROGRAMS_OF_OTHERS = {
    "sqlite3": (LIBSQLITE, ["sqlite3", ":memory:", STATEMENTS]),
    "bash": ("/usr/bin/bash", ["/usr/bin/bash", "--norc", "-c", SCRIPT]),
}
"""An object of each, and what is run: the same functions as often, each time."""
SEARCHED = os.environ.get("PATH", os.defpath)
"""Where programs are."""
ENOUGH = 0.98
"""Of the functions that run."""
HOOKS = ["-finstrument-functions", "-fno-optimize-sibling-calls"]


def needs(*tools):
    """Skip a test where a tool is not installed."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {missing}")


def environment_of(directory, *wrapper):
    """Return how many variables a program has that is run by others."""
    command = [*wrapper, "/usr/bin/env"]
    done = subprocess.run(
        command, capture_output=True, env=bare(directory), timeout=60, check=True
    )
    return len(done.stdout.decode().splitlines())


def bare(directory, *more):
    """Return an environment with few variables, whose values are short."""
    return {
        "HOME": str(directory),
        # Else an interpreter, as the recorder's, sets another variable.
        "LC_ALL": "C.UTF-8",
        "PATH": SEARCHED,
        # A shell, as around valgrind, sets it.
        "PWD": str(Path.cwd()),
        "PYTHONHASHSEED": "0",
        **{f"MORE_{number}": "x" for number in more},
    }


def compare(directory, monkeypatch, path, command):
    """Record a program, and run it in callgrind; return both counts.

    Programs read their environment: both runs have as many variables.
    """
    for name in [*os.environ]:
        monkeypatch.delenv(name)
    for name, value in bare(directory).items():
        monkeypatch.setenv(name, value)
    options = ["--patch"]
    if ".so" in str(path):
        options.append(f"--patch-in={Path(path).name}")
    traced = run_recorded(directory / "env", ["/usr/bin/env"], *options)
    more = len(traced.stdout.splitlines()) - environment_of(
        directory, "valgrind", "-q", "--tool=none"
    )
    assert more >= 0, "the peer adds more variables"
    executed, text = callgrind_executions(
        directory, path, command, bare(directory, *range(more))
    )
    done = run_recorded(directory / "trace", command, *options)
    assert (done.returncode, done.stdout) == (0, text), done.stderr
    return executed, recorded_calls(directory / "trace", path)


@needs("valgrind")
@pytest.mark.parametrize("name", PROGRAMS_OF_OTHERS)
def test_all_counts_are_those_of_callgrind(tmp_path, monkeypatch, name):
    """Each function of a stripped program begins as often as its first instruction is executed."""
    path, command = PROGRAMS_OF_OTHERS[name]
    if shutil.which(command[0]) is None or not Path(path).exists():
        pytest.skip(f"not installed: {name}")
    executed, found = compare(tmp_path, monkeypatch, path, command)
    expected = {
        address: executed[address]
        for address, can_be in planned_functions(path).items()
        if can_be and executed[address]
    }
    assert len(expected) > 200
    assert found == expected


@needs("valgrind")
@pytest.mark.parametrize("name", ["entries", "open_calls", "thrown"])
def test_counts_of_compiled_programs_are_those_of_callgrind(
    tmp_path, monkeypatch, name
):
    """Also with functions that end by a jump, longjmp() and exceptions."""
    if name == "thrown" and shutil.which("g++") is None:
        pytest.skip("not installed: g++")
    program = build(tmp_path, name)
    executed, found = compare(tmp_path, monkeypatch, program, [program])
    expected = {
        address: executed[address]
        for address, can_be in planned_functions(program).items()
        if can_be and executed[address]
    }
    assert len(expected) > 3
    assert found == expected


@needs("valgrind", "python3.11")
def test_nearly_all_functions_that_run_are_recorded(tmp_path, monkeypatch):
    """Of Python, whose counts are not the same each time."""
    path = os.path.realpath(shutil.which("python3.11", path="/usr/bin") or "")
    if not Path(path).is_file():
        pytest.skip("not installed: /usr/bin/python3.11")
    command = [path, "-I", "-S", "-c", PYTHON]
    executed, found = compare(tmp_path, monkeypatch, path, command)
    planned = planned_functions(path)
    ran = {address for address in planned if executed[address]}
    assert len(ran) > 1000
    assert len(ran & found.keys()) >= ENOUGH * len(ran)


@needs("uftrace")
@pytest.mark.parametrize(
    "words",
    ["entries", "called tree", "called recursion 50", "called mutual 50"],
)
def test_counts_are_those_of_uftrace(tmp_path, words):
    """Of each function that both can rewrite."""
    name, *arguments = words.split()
    command = [build(tmp_path, name), *arguments]
    expected = uftrace_calls(tmp_path, command, "-P", ".")
    if expected is None:
        pytest.skip("uftrace does not record it")
    done = run_recorded(tmp_path / "trace", command, "--patch")
    assert done.returncode == 0, done.stderr
    found = called(tmp_path / "trace")
    both = found.keys() & expected.keys()
    assert len(both) > 1
    assert {name: found[name] for name in both} == {
        name: expected[name] for name in both
    }


@pytest.mark.parametrize("name", ["entries", "open_calls", "thrown"])
def test_counts_are_those_of_hooks(tmp_path, name):
    """Where nothing is inlined and nothing ends by a jump, compilers and we see the same."""
    plain = build(tmp_path, name, "-O1", HOOKS[1])
    done = run_recorded(tmp_path / "patched", [plain], "--patch")
    assert done.returncode == 0, done.stderr
    counts = called(tmp_path / "patched")
    hooked = build(tmp_path, name, "-O1", *HOOKS)
    assert output_of(hooked) == done.stdout
    run_recorded(tmp_path / "hooked", [hooked])
    assert counts == called(tmp_path / "hooked")


NGINX = """
daemon off; worker_processes 2; user root; pid {0}/pid; error_log {0}/errors;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {0}/bodies; proxy_temp_path {0}/proxied;
  fastcgi_temp_path {0}/fast; uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
  server {{
    listen unix:{0}/socket;
    location / {{ return 200 "$uri\\n"; }}
    location /files {{ root {0}; }}
  }}
}}
"""
CLIENTS, REQUESTS = 8, 100
"""At once, and of each."""


def ask(socket_path, number):
    """Be a client: ask for a text, a file and what is not there, in turn."""
    pages = ["/text", "/files/page", "/files/none"]
    found = Counter()
    for request in range(REQUESTS):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(socket_path))
            page = pages[(number + request) % len(pages)]
            client.sendall(f"GET {page} HTTP/1.0\r\n\r\n".encode())
            answer = b"".join(iter(partial(client.recv, 65536), b""))
        found[answer.split()[1]] += 1
    return found


@needs("nginx")
def test_requests_to_a_server_are_counted(tmp_path):
    """Under load, in two workers: as many calls as clients have had answers."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files/page").write_text("x" * 100_000)
    (tmp_path / "conf").write_text(NGINX.format(tmp_path))
    options = RecordingOptions(patch=(), patch_wait=30.0)
    command = [shutil.which("nginx"), "-c", tmp_path / "conf"]
    recorder = start_traced(tmp_path / "trace", command, options)
    try:
        wait_until(
            lambda: (tmp_path / "socket").exists() and (tmp_path / "pid").exists(),
            "the server",
            60.0,
        )
        with ThreadPoolExecutor(CLIENTS) as pool:
            clients = [
                pool.submit(ask, tmp_path / "socket", one) for one in range(CLIENTS)
            ]
            answers = sum((one.result() for one in clients), Counter())
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGQUIT)
        recorder.communicate(timeout=60)
    finally:
        if recorder.poll() is None:
            kill_all(recorder)
    asked = CLIENTS * REQUESTS
    assert set(answers) == {b"200", b"404"}
    assert answers.total() == asked
    tree = vestige.open(tmp_path / "trace").call_tree()
    calls = {one.function.name: one.calls for one in tree.functions()}
    assert calls["ngx_http_process_request"] == asked
    assert calls["ngx_http_init_connection"] == asked
    assert not tree.losses
