"""What `view` is asked for, as a plan."""

from __future__ import annotations

import argparse
from itertools import pairwise

import pytest

from vestige.cli.commands.view import ViewCommand
from vestige.cli.viewing import view_plan
from vestige.components.registry import Registry
from vestige.errors import CommandError
from vestige.graph.plan_check import check_plan


def plan(*words):
    """Return the plan of a command line."""
    parser = argparse.ArgumentParser()
    ViewCommand().configure(parser)
    options = parser.parse_args(words)
    return view_plan(options, options.paths, options.event, recorder_events=False)


def test_options_are_components():
    """In the order of a pipe, each with its parameters."""
    found = plan(
        *("trace", "--begin=1", "--clock-gmt", "--event=a:*,b:*", "--filter=x > 1"),
        *("--min-duration=2us", "--debug-info-dir=/debug", "--stream-intersection"),
        *("--indent", "--thread=4,5", "--process=shop"),
    )
    params = {one.class_name: one.params for one in found.components}
    names = [one.name for one in found.components]

    assert params == {
        "source.ctf.fs": {"inputs": ["trace"]},
        "filter.utils.muxer": {},
        "filter.utils.trimmer": {"begin": "1", "gmt": True},
        "filter.vestige.events": {
            "recorder-events": False,
            "names": ["a:*", "b:*"],
            "expressions": ["x > 1"],
            "threads": ["4", "5"],
            "processes": ["shop"],
        },
        "filter.lttng-utils.debug-info": {
            "debug-info-dir": "/debug",
            "debug-info-field-name": "debug_info",
            "full-path": False,
            "debuginfod": False,
            "demangle": True,
        },
        "filter.vestige.calls": {"least-ns": 2000},
        "filter.vestige.call-marks": {"indent": True},
        "sink.vestige.short": {},
    }
    assert [str(one) for one in found.connections] == [
        f"{one}:{other}" for one, other in pairwise(names)
    ]
    assert found.stream_intersection
    check_plan(found, Registry())


def test_what_is_not_asked_for_is_not_there():
    """The layout chooses the sink."""
    found = plan("trace", "--no-debug-info", "--layout=babeltrace")

    assert [one.class_name for one in found.components] == [
        "source.ctf.fs",
        "filter.utils.muxer",
        "filter.vestige.events",
        "sink.text.pretty",
    ]


@pytest.mark.parametrize(
    ("word", "begin", "end"),
    [
        ("--around=+10.2s", "+10.2s-5ms", "+10.2s+5ms"),
        ("--around=17:48:17,1.5us", "17:48:17-1.5us", "17:48:17+1.5us"),
        ("--timerange=+1s,+2s", "+1s", "+2s"),
    ],
)
def test_a_range_has_two_ends(word, begin, end):
    """Of whatever option it is."""
    [trimmer] = [one for one in plan("t", word).components if one.name == "trimmer"]

    assert trimmer.params == {"begin": begin, "end": end}


@pytest.mark.parametrize("word", ["--around=,5ms", "--around=1,x", "--around="])
def test_around_needs_a_time(word):
    """A width alone is none."""
    with pytest.raises(CommandError, match="expected TIME or TIME,WIDTH"):
        plan("t", word)


def test_around_is_a_range_of_its_own():
    """Together with another one, nobody knows what is meant."""
    with pytest.raises(CommandError, match="give one or the other"):
        plan("t", "--around=+1s", "--begin=+2s")


def test_ctrl_c_before_a_live_session_answers_ends_the_reading(run, monkeypatch):
    """Nothing has been read then; that is no mistake of the program."""

    def waiting(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("vestige.graph.lowering.lower", waiting)
    status, text, told = run("view", "--follow", "net://127.0.0.1:9/host/h/s")
    assert (status, text) == (130, "")
    assert told.startswith("0 events")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["net://h"], "net://h: live sessions are read with --follow"),
        (["--follow", "net://h:7"], "'vestige convert net://h:7' lists what there is"),
        (["--follow", "net://h/s"], "expected net://HOST[:PORT]/host/TARGET/SESSION\n"),
    ],
)
def test_what_is_no_live_session_is_refused(run, words, told):
    """With what would be one; nobody is asked."""
    status, text, errors = run("view", *words)
    assert (status, text) == (2, "")
    assert told in errors
