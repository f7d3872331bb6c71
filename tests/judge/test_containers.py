"""Programs in namespaces of their own: recorded, or reported as out of reach."""

from __future__ import annotations

import re
import shlex
from collections import Counter

import pytest

from support.call_counts import Counted, differing, run_counted
from support.debian_sources import MEMCACHED, NGINX
from support.judged_programs import build_judged, confined_calls
from support.servers import memcached, nginx

CALLS = 100_000
SHARED_ROOT = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid"]
# A user who is root within; numbers of processes from 1; addresses that are not random.
CONTAINER = ["unshare", "-Upfrm", "--mount-proc", "setarch", "-R"]
OWN_MEMORY = ["sh", "-c", 'mount -t tmpfs none /dev/shm && exec "$0" "$@"']


@pytest.fixture(scope="module")
def confined(tmp_path_factory):
    """A program that is compiled with calls of the hooks."""
    return build_judged(tmp_path_factory.mktemp("confined"), "confined")


@pytest.mark.short
def test_a_sandbox_that_shares_the_root(tmp_path, confined):
    """Bubblewrap starts it with numbers of processes of its own."""
    counted = run_counted(
        [*SHARED_ROOT, "--unshare-user", confined, "free", str(CALLS)],
        tmp_path / "trace",
    )

    assert (counted.status, counted.output) == (0, "done\n")
    assert counted.calls == confined_calls(CALLS)
    assert (counted.lost, counted.damage) == (0, ())


@pytest.mark.short
def test_a_sandbox_with_a_root_of_its_own(tmp_path, confined):
    """The tracer is not in it: the program runs as ever, and the recorder says why."""
    root = ["--tmpfs", "/", "--ro-bind", "/usr", "/usr", "--proc", "/proc"]
    links = [
        word for name in ("lib", "lib64") for word in ("--symlink", f"usr/{name}", name)
    ]
    program = ["--ro-bind", confined, "/confined", "/confined", "free", str(CALLS)]
    counted = run_counted(
        ["bwrap", *root, *links, "--unshare-pid", *program], tmp_path / "trace"
    )

    assert (counted.status, counted.output) == (0, "done\n")
    own = [line for line in counted.errors.splitlines() if line.startswith("vestige:")]
    assert any(re.search(r"\breach", line) for line in own), counted.errors
    assert not any("is instrumented" in line for line in own), counted.errors


@pytest.mark.parametrize(
    "memory",
    [
        pytest.param([], id="shared-memory"),
        pytest.param(OWN_MEMORY, id="own-memory", marks=pytest.mark.short),
    ],
)
def test_two_containers_at_once(tmp_path, built, peer, requests_sent, memory):
    """Each has a process 1, and other functions at the same addresses.

    With shared memory of their own, as most containers have, they do not see the
    recorder's.
    """
    web = nginx(built(NGINX), tmp_path / "web", "root root")
    store = memcached(built(MEMCACHED), user="root")
    lines = [
        shlex.join([*CONTAINER, *memory, *map(str, server.command)])
        for server in (web, store)
    ]

    def serve():
        return web.serve(requests_sent) + store.serve(requests_sent)

    script = f"{lines[0]} & {lines[1]} & wait"
    counted = run_counted(["sh", "-c", script], tmp_path / "trace", serve)
    peers = [
        peer("nginx", lambda directory: nginx(built(NGINX), directory)),
        peer("memcached", lambda _: memcached(built(MEMCACHED))),
    ]

    assert "still recorded" not in counted.errors
    assert "no events lost" in counted.errors
    assert (counted.lost, counted.damage, counted.nameless) == (0, (), ())
    assert counted.calls[web.request] == requests_sent
    assert counted.calls[store.request] == requests_sent
    both = sum((one.calls for one in peers), Counter())
    chance = (*web.chance, *store.chance)
    assert differing(counted, Counted(both, served=2 * requests_sent), chance) == {}
