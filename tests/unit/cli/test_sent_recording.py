"""``vestige record --to``: what is sent, what is said, what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.relay_receiver import relay_receiver


def test_a_program_is_recorded_to_a_relay(run, tmp_path: Path):
    """Nothing of it is left here."""
    before = {*Path("/dev/shm").glob("vestige-relay-*")}
    with relay_receiver() as relay:
        url = f"net://127.0.0.1:{relay.control_port}:{relay.data_port}/d"
        program = tmp_path / ".program"
        program.symlink_to("/bin/true")
        status, out, said = run("record", "--to", url, "--", str(program))
        assert (status, out) == (0, "")
        [session] = relay.sessions
        assert (session.name, session.base_path) == ("program", "d")
        assert session.closed == [(0, 1)]
        assert "; no events lost\n" in said
        assert said.endswith(f"vestige: trace in {session.host}/program/0 at {url}\n")
        names = {one.name for one in session.streams.values()}
        assert "metadata" in names
    assert {*Path("/dev/shm").glob("vestige-relay-*")} == before


def test_a_program_whose_time_is_over_is_no_failure(run):
    """As without a relay daemon."""
    with relay_receiver() as relay:
        url = f"net://127.0.0.1:{relay.control_port}:{relay.data_port}"
        words = ["--duration=50ms", "--", "sleep", "100000"]
        status, _, said = run("record", "--to", url, *words)
    assert status == 0, said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--to bad://h", "--to: URI parse unknown protocol bad://h"),
        ("--to tcp://127.0.0.1", "--to: tcp://127.0.0.1: expected net://HOST"),
        ("--to file:///x", "--to: file:///x: expected net://HOST"),
        ("--to net://127.0.0.1 -o /x", "--to: not with --output"),
        ("--to net://127.0.0.1 --rotate 1G", "--to: not with --rotate"),
        ("--to net://127.0.0.1 --max-size 1G", "--to: not with --max-size"),
        ("--to net://127.0.0.1 --mode overwrite", "--to: not with --mode=overwrite"),
    ],
)
def test_what_does_not_fit_is_refused(run, words: str, said: str):
    """Before anything is started."""
    status, _, err = run("record", *words.split(), "--", sys.executable)
    assert (status, err) == (2, f"vestige: error: {said}\n")


def test_a_relay_that_is_not_there_is_told(run):
    """And nothing is started."""
    with relay_receiver() as relay:
        relay.close()
        url = f"net://127.0.0.1:{relay.control_port}:{relay.data_port}"
    status, _, err = run("record", "--to", url, "--", "/bin/true")
    assert status == 125
    assert "the relay daemon cannot be reached: Connection refused\n" in err
