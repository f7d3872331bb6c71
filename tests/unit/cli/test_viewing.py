"""What `view` is asked for, as a plan."""

from __future__ import annotations

import argparse
from itertools import pairwise

from vestige.cli.commands.view import ViewCommand
from vestige.cli.viewing import view_plan
from vestige.components.registry import Registry
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
        },
        "filter.lttng-utils.debug-info": {
            "debug-info-dir": "/debug",
            "debug-info-field-name": "debug_info",
            "full-path": False,
            "debuginfod": False,
            "demangle": True,
        },
        "filter.vestige.calls": {"least-ns": 2000},
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
