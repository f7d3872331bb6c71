"""`--event`, `--begin`, `--end`, `--timerange`: the same in every verb that reads."""

from __future__ import annotations

import argparse
import json
import re

import pytest

from support.call_traces import enter, leave, packet, state, write_calls
from support.kernel_fixtures import format_text, write_trace
from support.recordings import DATA
from vestige.cli.parser import CommandParser
from vestige.cli.repeated_lists import AddToList
from vestige.cli.selection_arguments import add_selection_arguments
from vestige.cli.verbs import load_commands
from vestige.record.backends.kernel.formats import read_format

READERS = ["view", "export", "report", "debuginfo", "check"]
DUMP = [state(100, "start"), state(200, "bin_info", 0x1000, "/opt/app")]
"""What says that an object was loaded."""
SELECTING = ["--begin", "--end", "--event", "--stream-intersection", "--timerange"]


def words(verb, *more):
    """Return a command line."""
    return [verb, *(["--to", "csv"] if verb == "export" else []), *more]


@pytest.mark.parametrize("verb", [*READERS, "convert"])
def test_the_options_are_in_every_verb_that_reads(verb):
    """With the same help."""
    parser = CommandParser()
    load_commands([verb])[0].configure(parser)
    plain = CommandParser()
    add_selection_arguments(plain)
    helps = [
        {name: one._option_string_actions[name].help for name in SELECTING}
        for one in (parser, plain)
    ]

    assert helps[0] == helps[1]
    assert "--clock-gmt" in parser._option_string_actions
    short = parser._option_string_actions["-e"]
    assert short.dest == ("end" if verb == "convert" else "event")


def events(run, *more):
    """Return the names of the events that `vestige export` writes."""
    status, text, errors = run("export", "--to", "jsonl", *more, DATA / "fields")
    assert status == 0
    return [json.loads(line)["event"] for line in text.splitlines()], errors


def test_patterns_add_up(run):
    """With commas and repeated: an event is shown if any matches."""
    everything = set(events(run)[0])
    some = sorted(everything)[:3]
    assert len(everything) > 3

    for chosen in (
        ["-e", ",".join(some)],
        ["-e", some[0], f"--event={some[1]}", "-e", some[2]],
        ["-e", f"{some[0]}, {some[1]}", "-e", some[2], "-e", some[2]],
    ):
        found, errors = events(run, *chosen)
        assert set(found) == set(some)
        assert errors == ""


@pytest.mark.parametrize("verb", [*READERS, "convert"])
def test_a_pattern_that_nothing_matches_is_reported(run, verb, tmp_path):
    """With the nearest names; the status is as without."""
    calls = [*DUMP, enter(1000, 0x1000), leave(1100)]
    trace = write_calls(tmp_path / "trace", {"a": [packet(calls, vtid=5)]})
    right, wrong = "lttng_ust_cyg_profile_fast:*", "lttng_ust_cyg_profil_fast:*"

    status, _, errors = run(
        *words(verb, "--event", wrong, "--event", right, "--event", wrong, trace)
    )

    assert status == 0
    assert errors.startswith(
        f"vestige: warning: --event: no event is called '{wrong}'; "
        f"did you mean '{right}'"
    )
    assert errors.count("no event is called") == 1
    assert "no event is called" not in run(*words(verb, "--event", right, trace))[2]


def test_a_name_without_its_provider(run):
    """The short lines of `view` show it like that."""
    name = events(run)[0][0].rpartition(":")[2]

    _, errors = events(run, "-e", name)
    assert errors == (
        f"vestige: warning: --event: no event is called '{name}'; "
        f"did you mean '*:{name}'?\n"
    )


def test_a_name_that_nothing_has(run):
    """Where none is near, the line says what there is."""
    names, _ = events(run)
    provider = names[0].partition(":")[0]

    for pattern in (names[0][:-1], f"{provider[:-1]}:*", "xyz"):
        _, errors = events(run, "-e", pattern)
        start = f"vestige: warning: --event: no event is called '{pattern}'; "
        assert errors.startswith(start)
        assert f"'{provider}:*'" in errors or f"'{names[0]}'" in errors


def test_events_of_the_kernel_have_no_provider(run, tmp_path):
    """They are called by their names alone, which match as they are."""
    event = read_format("some", "event", format_text(3, ("int value", 8, 4, 1)))
    write_trace(tmp_path / "trace", [event], [])
    _, _, errors = run("view", "-e", "nothing_such", tmp_path / "trace")
    assert errors.startswith(
        "vestige: warning: --event: no event is called 'nothing_such'; the trace has "
        "'event'\n"
    )


def test_a_pattern_of_commas_only_is_wrong(run):
    """It chooses nothing."""
    status, _, errors = run("view", "--event", " , ", DATA / "hello")

    assert status == 2
    assert "--event: expected a pattern" in errors


@pytest.fixture
def trace(tmp_path):
    """Return a trace of three calls, with a state dump before."""
    calls = [
        *DUMP,
        enter(1_000_000_000, 0x1000),
        leave(1_100_000_000),
        enter(2_000_000_000, 0x1000),
        leave(2_100_000_000),
        enter(3_000_000_000, 0x1000),
        leave(3_100_000_000),
    ]
    return write_calls(tmp_path / "trace", {"a": [packet(calls, vtid=5)]})


@pytest.mark.parametrize(
    ("chosen", "calls"),
    [
        ([], 3),
        (["--begin=1.5"], 2),
        (["--end=2.5"], 2),
        (["--timerange=1.5,2.5"], 1),
        (["-t", "[1.5,2.5]"], 1),
        (["--event=*:func_*"], 3),
        (["--begin=1.5", "--event=*:func_entry"], 2),
    ],
)
def test_a_report_of_a_part(run, trace, chosen, calls):
    """Calls that begin before it are not in it; names are known all the same."""
    _, text, _ = run("report", "--json", *chosen, trace)
    facts = json.loads(text)
    _, text, _ = run("report", "--json", trace)

    [function] = facts["functions"]
    assert function["calls"] == calls
    assert function["function"] == json.loads(text)["functions"][0]["function"]


@pytest.mark.parametrize("chosen", ["--event=*:start", "--begin=9"])
def test_a_report_of_nothing(run, trace, chosen):
    """The line does not advise to record anew: it is the choice that has no calls."""
    status, text, errors = run("report", chosen, trace)
    assert (status, errors) == (0, "")
    assert re.match(r"(1 event|no events)\b", text)
    assert "record" not in text

    status, text, errors = run("report", "--tree", chosen, trace)
    assert (status, text) == (3, "")
    assert errors == (
        f"vestige: error: {trace}: no entries or exits of functions among the chosen "
        "events\n"
    )


@pytest.mark.parametrize(
    ("chosen", "count"),
    [([], 6), (["--begin=1.5"], 4), (["--event=*:func_entry", "--end=2.5"], 2)],
)
def test_a_debug_information_report_of_a_part(run, trace, chosen, count):
    """Events count that were chosen; loaded objects are known all the same."""
    _, text, _ = run("debuginfo", "--json", *chosen, trace)
    _, whole, _ = run("debuginfo", "--json", trace)
    objects, known = (
        [
            (one["path"], one["events"])
            for one in json.loads(each)["processes"][0]["objects"]
        ]
        for each in (text, whole)
    )

    assert [path for path, _ in objects] == [path for path, _ in known]
    if chosen:
        assert sum(events for _, events in objects) == count
    else:
        assert sum(events for _, events in objects) >= count


def test_a_check_of_a_part(run, trace):
    """It counts what was chosen."""
    _, text, _ = run("check", "--json", "--begin=1.5", "--event=*:func_entry", trace)

    assert json.loads(text)["traces"][0]["events"] == 2


@pytest.mark.parametrize("verb", READERS)
def test_a_time_that_is_none(run, verb):
    """Wrong usage, before anything is read."""
    status, text, errors = run(*words(verb, "--begin=soon", DATA / "hello"))

    assert (status, text) == (2, "")
    assert "--begin: " in errors


def test_a_list_that_adds_up():
    """The first value takes the place of the default."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", action=AddToList, default="a,b")

    assert parser.parse_args([]).c == "a,b"
    assert parser.parse_args(["-c", "x"]).c == "x"
    assert parser.parse_args(["-c", "x", "-c", "y,z"]).c == "x,y,z"


def test_columns_add_up(run):
    """In the order in which they were given."""
    _, text, _ = run(
        "export", "--to=csv", "-c", "event", "-c", "timestamp", DATA / "hello"
    )

    assert text.splitlines()[0] == "event,timestamp"


def test_contexts_add_up(run, tmp_path):
    """`record -c vtid -c procname` records both, and only these."""
    run("record", "-q", "-o", tmp_path / "t", "-c", "vtid", "-c", "procname", "true")
    text = (tmp_path / "t" / "metadata").read_bytes().decode(errors="replace")
    contexts = text.partition("event.context")[2].partition("};")[0]

    assert "procname" in contexts
    assert "_ip" not in contexts


def test_names_of_a_trace_do_not_steer_the_terminal(run, tmp_path):
    """They are not suggested."""
    trace = write_calls(tmp_path / "trace", {"a": [packet([enter(1, 2)], vtid=5)]})
    metadata = trace / "metadata"
    text = metadata.read_text().replace("func_entry", "func\\x1b[2J_entry")
    metadata.write_text(text)

    _, _, errors = run("check", "--event", "lttng_ust_cyg_profile:func_entrx", trace)

    assert "no event is called" in errors
    assert "\x1b" not in errors
