"""The page as one file: its data is what the reports say, in blocks that fit."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from support.call_traces import enter, leave, packet, write_calls
from vestige.analysis.intervals import intervals_of
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.page.one_file import one_file

A, B = 0x1000, 0x2000
CALLS = 40
"""Of B, in A."""


@pytest.fixture
def source(tmp_path: Path) -> CtfFsSource:
    """Return a trace: A calls B again and again; the last B does not return."""
    events = [enter(1_000, A)]
    for number in range(CALLS):
        events += [enter(2_000 + 100 * number, B), leave(2_060 + 100 * number)]
    events += [enter(900_000, B)]
    path = write_calls(tmp_path / "trace", {"s": [packet(events)]})
    return CtfFsSource([str(path)])


def page_of(source: CtfFsSource, **options: Any) -> str:
    """Return the page of a trace."""
    intervals, calls = intervals_of(source, longest=3, needs_tree=True)
    assert calls is not None
    return "".join(one_file("x", intervals, calls, **options))


def facts_of(page: str) -> dict[str, Any]:
    """Return the data of a page that is JSON."""
    found = re.search(r'id="facts-of-trace">(.*?)</script>', page)
    assert found
    facts: dict[str, Any] = json.loads(found[1])
    return facts


def level_of(page: str, number: int) -> bytes:
    """Return the blocks of a level."""
    found = re.search(rf'id="level-{number}">(.*?)</script>', page)
    assert found
    return gzip.decompress(base64.b64decode(found[1]))


def test_sums_are_those_of_the_call_tree(source: CtfFsSource) -> None:
    """In the table, and in the tree."""
    facts = facts_of(page_of(source))
    _, calls = intervals_of(source, needs_tree=True)
    assert calls is not None
    names = [one["name"] for one in facts["functions"]]
    told = {
        names[int(number)]: (
            one["calls"],
            one["complete"],
            one["duration"],
            one["self"],
        )
        for number, one in facts["sums"].items()
    }
    assert told == {
        one.function.name: (one.calls, one.complete, one.total, one.self_time)
        for one in calls.functions()
    }
    rows = facts["tree"]["rows"]
    assert [(row[0], names[row[1]]) for row in rows] == [
        (-1, calls.root().by_time()[0].function.name),
        (0, calls.root().by_time()[0].by_time()[0].function.name),
    ]
    durations = next(one for one in facts["durations"].values() if len(one["longest"]))
    assert durations["longest"][0] == [0, 1_000, 60]
    assert durations["quantiles"][0] == [0.5, 60]


def test_each_call_of_a_short_trace_is_in_it(source: CtfFsSource) -> None:
    """The finest level has single calls, and the file says so."""
    page = page_of(source)
    assert facts_of(page)["levels"][0] == {"width": 0}
    blocks = level_of(page, 0)
    groups = struct.unpack_from("<7I", blocks)
    assert groups == (2, 0, 0, 1, 0, 1, CALLS + 1)


def test_a_page_is_no_larger_than_it_may_be(source: CtfFsSource) -> None:
    """The coarsest level is always there."""
    smallest = page_of(source, limit=0)
    assert len(facts_of(smallest)["levels"]) == 1
    assert level_of(smallest, 0)
    whole = page_of(source)
    assert len(page_of(source, limit=len(whole) - 10)) < len(whole)


def test_events_are_listed(source: CtfFsSource) -> None:
    """Text of strangers cannot end its element."""
    hostile = "</script><script>alert(1)</script>"
    events = [[5, None, hostile, "a = 1"]]
    page = page_of(source, events=events, has_more_events=True)
    facts = facts_of(page)
    assert facts["events"] == events
    assert facts["hasMoreEvents"] is True
    assert hostile not in page


@pytest.mark.parametrize("name", ["lost", "recording-1"])
def test_the_finest_level_has_other_events(name: str) -> None:
    """They are no calls, and are drawn from the same blocks."""
    source = CtfFsSource([str(Path(__file__).parents[2] / "data" / name)])
    page = page_of(source)
    assert facts_of(page)["trouble"] == ("165 events lost" if name == "lost" else "")
    assert facts_of(page)["levels"][0] == {"width": 0}
    blocks = level_of(page, 0)
    (count,) = struct.unpack_from("<I", blocks)
    groups = struct.unpack_from(f"<{3 * count}I", blocks, 4)
    assert set(groups[::3]) == set(range(len(facts_of(page)["rows"])))
