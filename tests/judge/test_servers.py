"""Servers that give up their rights: what the client got is what the recording has.

Each response stands for one call of the function that handles a request. All calls are
there, under the names that uftrace gives them.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from support.call_counts import count_calls, differing, run_counted
from support.debian_sources import MEMCACHED, NGINX, REDIS
from support.servers import memcached, nginx, redis
from support.waiting import DeadlineExpiredError, wait_until

SECONDS = 30.0


def record(server, trace, requests):
    """Record a server while it serves."""
    return run_counted(
        server.command, trace, lambda: server.serve(requests), server.directory
    )


def has_no_loss(counted):
    """Tell whether the recorder says that nothing was lost."""
    return "no events lost" in counted.errors


def check(counted, server, peer):
    """All of a server's calls must be in its recording."""
    assert counted.lost == 0, counted.errors
    assert not counted.damage
    assert not counted.nameless
    assert counted.calls[server.request] == counted.served
    assert peer.calls[server.request] == peer.served == counted.served
    assert differing(counted, peer, server.chance) == {}


@pytest.mark.short
def test_nginx_as_nobody(tmp_path, built, peer, requests_sent):
    """Its worker changes its user, and serves."""
    program = built(NGINX)
    server = nginx(program, tmp_path / "server")
    expected = peer("nginx", lambda directory: nginx(program, directory))
    counted = record(server, tmp_path / "trace", requests_sent)

    assert (counted.status, has_no_loss(counted)) == (0, True), counted.errors
    check(counted, server, expected)


@pytest.mark.short
def test_nginx_as_a_daemon(tmp_path, built, peer, requests_sent):
    """The process that was started ends at once, and so may the recorder."""
    program = built(NGINX)
    server = nginx(program, tmp_path / "server", is_daemon=True)
    expected = peer("nginx", lambda directory: nginx(program, directory))
    trace = tmp_path / "trace"
    counted = record(server, trace, requests_sent)

    def is_whole():
        return count_calls(trace).calls[server.request] == requests_sent

    # If that is never so, the numbers say more than a deadline does.
    with suppress(DeadlineExpiredError):
        wait_until(is_whole, "the recording is whole", SECONDS)
    assert counted.status == 0
    check(count_calls(trace, counted), server, expected)


@pytest.mark.short
def test_memcached_as_nobody(tmp_path, built, peer, requests_sent):
    """It changes its user before it makes its threads."""
    program = built(MEMCACHED)
    server = memcached(program)
    expected = peer("memcached", lambda _: memcached(program))
    counted = record(server, tmp_path / "trace", requests_sent)

    assert (counted.status, has_no_loss(counted)) == (0, True), counted.errors
    check(counted, server, expected)


@pytest.mark.short
def test_memcached_with_few_system_calls(tmp_path, built, peer, requests_sent):
    """Its threads may not open, map nor unmap files, nor ask for their own number."""
    program = built(MEMCACHED)
    server = memcached(program, "-o", "drop_privileges")
    # The peer itself makes system calls that are forbidden then.
    expected = peer("memcached", lambda _: memcached(program))
    counted = record(server, tmp_path / "trace", requests_sent)

    assert "Seccomp policy failure" not in counted.errors
    assert (counted.status, has_no_loss(counted)) == (0, True), counted.errors
    check(counted, server, expected)


@pytest.mark.short
def test_redis_saves_in_a_child(tmp_path, built, peer, requests_sent):
    """Each key is saved once, by a process that was forked with all the keys."""
    program = built(REDIS)
    server = redis(program, tmp_path / "server")
    expected = peer("redis", lambda directory: redis(program, directory))
    counted = record(server, tmp_path / "trace", requests_sent)

    assert (counted.status, has_no_loss(counted)) == (0, True), counted.errors
    assert counted.calls["rdbSaveKeyValuePair"] == requests_sent
    check(counted, server, expected)
