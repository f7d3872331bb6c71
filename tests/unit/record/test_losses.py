"""What was read and what is told to be lost are what the program made.

Each seed is a recording where something is short, somebody is killed, or both. A failure
says how to run its seed again. ``make torture`` runs 500 of them.
"""

from __future__ import annotations

import os
import shutil

import pytest

from support.numbered import Case, build_numbered, run_case
from support.peers import missing_babeltrace
from support.surroundings import UnavailableError
from support.tortured import IS_LONG

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

VARIABLE = "VESTIGE_TESTS_SEED"
SEEDS = (
    [int(os.environ[VARIABLE])]
    if VARIABLE in os.environ
    else range(500 if IS_LONG else 100)
)
ASKED = 4
"""One seed in so many is read by Babeltrace 2, too."""
UNTROUBLED = Case(0, "plain", "nobody", 1, 1, 0, False, 0, 0, 0, 0, (), 0, None)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose threads number their events."""
    return build_numbered(tmp_path_factory.mktemp("numbered"))


@pytest.fixture(scope="module")
def others(program, tmp_path_factory):
    """How many records the first thread makes besides those of its event."""
    found = run_case(program, UNTROUBLED, tmp_path_factory.mktemp("untroubled"))
    assert not found.counts.lost, found.output
    return found.counts.records.total() - len(found.accounts)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_event_is_there_or_counted(tmp_path, program, others, seed):
    """Of each thread, whatever happens."""
    case = Case.of(seed)
    asks_peer = seed % ASKED == 0 and missing_babeltrace() is None
    try:
        found = run_case(program, case, tmp_path, asks_peer=asks_peer)
    except UnavailableError as error:
        pytest.skip(str(error))

    problems = list(found.problems(others))
    again = f"{VARIABLE}={seed} .venv/bin/python -m pytest {__file__}"
    assert not problems, "\n".join(
        [*problems, str(case), found.output, f"again: {again}"]
    )
    # Hundreds of them would fill a disk.
    shutil.rmtree(tmp_path)
