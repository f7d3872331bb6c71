"""Babeltrace 2 reads what the writer writes, without a word, and prints the same."""

from __future__ import annotations

import pytest

from support.peers import babeltrace
from support.random_classes import write_random
from support.vestige_command import convert

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]


@pytest.mark.parametrize("seed", range(15))
def test_random_traces_print_alike(tmp_path, seed):
    """Classes and values of all kinds that CTF 1.8 has, in many packets."""
    written = write_random(tmp_path / "trace", seed, "1.8", empty_texts=False)

    expected, actual = babeltrace(tmp_path / "trace"), convert(tmp_path / "trace")

    assert (expected.status, expected.stderr) == (0, b"")
    assert actual.stdout == expected.stdout
    assert actual.stdout.count(b" class ") >= len(written)
