"""Somebody puts links and other files into the directory of a running recording.

The recorder writes to files that it has made itself, and to no others; it ends in time.
"""

from __future__ import annotations

import shlex

import pytest

from support.judged_programs import build_judged
from support.recorded import run_recorded

PRECIOUS = "nobody may write to this\n"


@pytest.fixture(scope="module")
def intruded(tmp_path_factory):
    """A program that runs a command while it is recorded."""
    return build_judged(tmp_path_factory.mktemp("intruded"), "intruded")


@pytest.fixture
def victim(tmp_path):
    """A file that somebody else has."""
    path = tmp_path / "victim"
    path.write_text(PRECIOUS)
    return path


@pytest.mark.parametrize("name", ["metadata", "999-999", "1-1", ".open"])
def test_a_link_is_not_followed(tmp_path, intruded, victim, name):
    """Whatever file of a recording it stands for."""
    place = shlex.quote(str(tmp_path / "trace" / name))
    command = f"ln -sf {shlex.quote(str(victim))} {place}"
    run_recorded(tmp_path / "trace", [intruded, command])

    assert victim.read_text() == PRECIOUS


@pytest.mark.parametrize("name", ["metadata", "999-999", "999-999.1.open"])
def test_a_pipe_does_not_stop_the_recorder(tmp_path, intruded, name):
    """To open it would wait for a writer who never comes."""
    place = shlex.quote(str(tmp_path / "trace" / name))
    pipe = shlex.quote(str(tmp_path / "pipe"))
    command = f"mkfifo {pipe} && mv -f {pipe} {place}"
    done = run_recorded(tmp_path / "trace", [intruded, command])

    assert done.returncode in {0, 125}, done.stderr


def test_another_directory_in_its_place_stays_as_it_is(tmp_path, intruded):
    """The recorder goes on in the one that it has made, wherever that is now."""
    trace, aside, other = (tmp_path / name for name in ("trace", "aside", "other"))
    other.mkdir()
    command = f"mv {trace} {aside}; ln -s {other} {trace}"
    done = run_recorded(trace, [intruded, command])

    assert list(other.iterdir()) == []
    assert (aside / "metadata").stat().st_size > 0
    assert f"{trace}: another directory has taken the place" in done.stderr
    assert "LD_PRELOAD" not in done.stderr


def test_a_link_in_place_of_the_data_file_of_a_thread(tmp_path, intruded, victim):
    """The names of data files can be guessed from the numbers of threads."""
    trace = tmp_path / "trace"
    command = f"""
        cd {shlex.quote(str(trace))} || exit 1
        for data in [0-9]*; do rm "$data"; ln -s {shlex.quote(str(victim))} "$data"; done
        for number in $(seq $$ $(($$ + 50))); do
            ln -s {shlex.quote(str(victim))} "$number-$number"
        done"""
    run_recorded(trace, [intruded, command])

    assert victim.read_text() == PRECIOUS
