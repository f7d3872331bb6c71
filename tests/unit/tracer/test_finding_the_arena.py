"""How programs find the arena, and which they take."""

from __future__ import annotations

import os
import secrets
import shutil
import sys

import pytest

from support.arena import collect
from support.public_folder import public_folder

CALLS = 20_000

LIMITED = """
import ctypes, os, resource, sys
bytes_ = int(sys.argv[1]) * 1024
call = ctypes.CDLL(None).syscall
limit = (ctypes.c_uint64 * 2)(bytes_, bytes_)
if call(ctypes.c_long(302), 0, resource.RLIMIT_AS, ctypes.byref(limit), None):
    sys.exit("prlimit64 failed")
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Limits the address space by the system call: the tracer does not see it."""


@pytest.fixture
def found(collector, steps, tmp_path):
    """Collect some calls."""

    def run(*options, prefix=()):
        return collect(
            collector,
            tmp_path / "trace",
            [*prefix, steps, "calls", str(CALLS)],
            *options,
        )

    return run


@pytest.fixture
def found_by_another(collector, steps):
    """Collect some calls of another user's program."""
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with public_folder() as folder:
        program = [shutil.copy(steps, folder), "calls", str(CALLS)]

        def run(*options):
            return collect(collector, folder / "trace", [*user, *program], *options)

        yield run


def test_a_program_opens_it_by_its_path(found):
    """The file is in /dev/shm, or elsewhere."""
    assert found().calls == 2 * CALLS


def test_one_that_may_not_open_it_asks_the_collector(found):
    """Over a socket, with the token of the recording."""
    name = f"vestige-test-{secrets.token_hex(8)}"

    assert found("path=/nowhere", f"socket={name}").calls == 2 * CALLS


def test_another_token_gets_nothing(found):
    """And the program runs as it would without the tracer."""
    name = f"vestige-test-{secrets.token_hex(8)}"
    got = found("path=/nowhere", f"socket={name}", f"token={'0f' * 16}")

    assert (got.status, got.facts["slots"], got.counted) == (0, 0, 0)


def test_nobody_waits_for_a_socket_that_is_not_there(found):
    """The program runs to its end, as it would without the tracer."""
    got = found("path=/nowhere")

    assert (got.status, got.facts["slots"], got.counted) == (0, 0, 0)


def test_another_file_in_its_place_is_refused(found, tmp_path):
    """Its inode is not the one that was told."""
    other = tmp_path / "other"
    other.write_bytes(bytes(1 << 20))

    assert found(f"path={other}").counted == 0


def test_another_agreement_is_refused(found):
    """Nothing is recorded then, rather than something wrong."""
    got = found("fingerprint=4711")

    assert (got.status, got.facts["slots"], got.counted) == (0, 0, 0)


@pytest.mark.parametrize(("kilobytes", "is_recorded"), [(48_000, True), (8_000, False)])
def test_a_program_with_little_address_space(found, kilobytes, is_recorded):
    """It maps fewer chunks, or none."""
    got = found("chunks=4096", prefix=[sys.executable, "-c", LIMITED, str(kilobytes)])

    assert got.status == 0
    assert got.counted == (2 * CALLS if is_recorded else 0)


def test_a_limit_of_a_shell_leaves_room_for_the_tracer(found):
    """What a recorded program sets is for what comes after it, without the tracer."""
    limit = ["sh", "-c", 'ulimit -v 8000; exec "$@"', "sh"]
    got = found("chunks=4096", prefix=limit)

    assert (got.status, got.counted) == (0, 2 * CALLS)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its user")
def test_a_program_that_is_started_as_another_user(found_by_another):
    """It may not open the file, and asks."""
    name = f"vestige-test-{secrets.token_hex(8)}"

    assert found_by_another(f"socket={name}").calls == 2 * CALLS


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its user")
def test_what_is_given_must_be_the_users_own(found_by_another):
    """Whoever listens there could give memory that others can change."""
    name = f"vestige-test-{secrets.token_hex(8)}"
    got = found_by_another(f"socket={name}", "keep=1")

    assert (got.status, got.counted) == (0, 0)


def test_a_file_in_its_place_sends_a_program_to_the_socket(found, tmp_path):
    """As a file that it may not open does."""
    other = tmp_path / "other"
    other.write_bytes(bytes(1 << 20))
    name = f"vestige-test-{secrets.token_hex(8)}"

    assert found(f"path={other}", f"socket={name}").calls == 2 * CALLS
