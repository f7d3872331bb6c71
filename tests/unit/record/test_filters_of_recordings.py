"""The same events are in a recording with a filter and in a filtered reading of all."""

from __future__ import annotations

import random
import re
import shutil

import pytest

import vestige
from support.chosen import POINTS, SAMPLES, build_chosen, record_with
from support.filter_model import FILTERS, random_filter
from support.recorded import run_recorded
from vestige import SelectionError

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

CONTEXTS = "vpid,vtid,procname,cpu_id,pthread_id,mnt_ns,vuid,veuid"
# Fields that a tracepoint has for its filter alone are not in the trace.
UNRECORDED = re.compile(r"\bhidden\b")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program with the samples."""
    return build_chosen(tmp_path_factory.mktemp("chosen"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, program):
    """A recording of all samples, with contexts."""
    trace = tmp_path_factory.mktemp("whole") / "trace"
    done = run_recorded(trace, [program], "-q", "-e", "chosen:p00", "-c", CONTEXTS)
    assert (done.returncode, done.stderr) == (0, "")
    return vestige.open(trace, debug_info=False).events("chosen:p00")


def read_with(whole, filters):
    """Return which samples pass each filter, by their numbers."""
    passed = {}
    for one in filters:
        try:
            passed[one] = [event["number"] for event in whole.events(where=one)]
        except SelectionError:
            passed[one] = []
    return passed


@pytest.mark.parametrize("start", range(0, len(FILTERS), POINTS))
def test_listed_filters(tmp_path, program, whole, start):
    """Each row of the grammar, and each kind of field."""
    batch = FILTERS[start : start + POINTS]
    filters = [one for one in batch if not UNRECORDED.search(one)]
    found = read_with(whole, filters)

    assert found == record_with(tmp_path / "trace", program, filters)
    assert sum(map(bool, found.values())) > len(filters) // 3


def test_random_filters(tmp_path, program, whole):
    """Of which nobody thought."""
    source = random.Random(77)  # noqa: S311 - no secrets
    made = (random_filter(source).text for _ in range(3 * POINTS))
    unique = dict.fromkeys(one for one in made if not UNRECORDED.search(one))
    filters = list(unique)[:POINTS]
    found = read_with(whole, filters)

    assert found == record_with(tmp_path / "trace", program, filters)
    assert sum(0 < len(one) < SAMPLES for one in found.values()) > POINTS // 4
