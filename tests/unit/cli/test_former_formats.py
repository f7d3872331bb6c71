"""Recordings of each format there was: what is printed of them stays the same."""

from __future__ import annotations

import pytest

import vestige
from support.recordings import DATA, RECORDINGS, SHOWN


def stored(name, what):
    """Return a text that tools/record_own_data.py has written."""
    return (DATA / f"{name}.{what}").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RECORDINGS)
@pytest.mark.parametrize("verb", SHOWN)
@pytest.mark.usefixtures("utc")
def test_its_events_calls_and_state_are_shown(name, verb, run, monkeypatch):
    """By each command that reads a trace, with the names that are packed with it."""
    monkeypatch.chdir(DATA)
    status, text, _ = run(verb, *SHOWN[verb], name)

    assert text == stored(name, f"{verb}.txt")
    assert status == 0


@pytest.mark.parametrize("name", RECORDINGS)
@pytest.mark.usefixtures("utc")
def test_it_is_converted_as_by_the_peer(name, run):
    """Without source lines, whose places Babeltrace does not find."""
    status, text, errors = run("convert", DATA / name)

    assert text == stored(name, "txt")
    assert errors == stored(name, "stderr")
    assert status == 0


@pytest.mark.parametrize("name", RECORDINGS)
def test_it_has_all_that_a_recording_can_have(name):
    """Two processes, two threads in one of them, an object that came and went."""
    events = list(vestige.open(DATA / name))
    names = {event.name for event in events}
    threads = {(event["vpid"], event.stream) for event in events}

    assert {
        "lttng_ust_cyg_profile_fast:func_entry",
        "lttng_ust_lib:load",
        "lttng_ust_lib:unload",
        "lttng_ust_statedump:bin_info",
        "outing:walked",
    } <= names
    assert len({process for process, _ in threads}) == 2
    assert len(threads) == 3
    assert {"procname", "cpu_id", "vuid", "perf_thread_page_fault"} <= set(
        events[0].keys()
    )
