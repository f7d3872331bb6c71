"""Plugins in Python on the command line."""

from __future__ import annotations

import pytest

from support.recordings import DATA
from vestige.cli.main import main

PLUGINS = f"--plugin-path={DATA / 'plugins'}"
EVENTS = ["-c", "src.sample.Events", "-p", "count=2,first=5,step=10"]


def test_sources_are_found_for_paths(tmp_path, capfd) -> None:
    """A class that knows an input reads it; those of a group go to one component."""
    for name in ("one.sample", "two.sample", "other"):
        (tmp_path / name).touch()
    params = "count=1,first=5,step=1"
    words = ["convert", PLUGINS, str(tmp_path), "-p", params, "--clock-gmt"]

    assert main([*words, "nothing-here"]) == 0
    output = capfd.readouterr()
    assert output.out.count("sampled") == 1
    assert "No trace was found based on input `nothing-here`" in output.err


def test_a_range_of_time_cuts_what_a_source_in_python_gives(capfd) -> None:
    """The second event is after its end."""
    assert main(["convert", PLUGINS, *EVENTS, "--end", "10.01"]) == 0
    assert capfd.readouterr().out.count("sampled") == 1


def test_details_tell_what_was_made(capfd) -> None:
    """Names, and what stream classes support."""
    sink = ["-c", "sink.text.details", "-p", "color=never"]
    assert main(["convert", PLUGINS, *EVENTS, *sink]) == 0

    output = capfd.readouterr().out
    assert "Supports discarded events: Yes" in output
    assert "Supports discarded packets: No" in output
    assert "  Name: stream\n  Trace `sample`:\n" in output


@pytest.mark.parametrize("verb", ["list-plugins", "help"])
def test_plugins_are_described(verb, capfd) -> None:
    """With what they say of themselves."""
    words = ["sample"] if verb == "help" else []
    assert main([verb, PLUGINS, *words]) == 0

    assert (
        f"""\
sample:
  Path: {DATA / "plugins"}/bt_plugin_sample.py
  Version: 1.2.3beta
  Description: Samples
  Source component classes:
    'source.sample.Events'
  Filter component classes:
    'filter.sample.Passing'
  Sink component classes:
    'sink.sample.Telling'
"""
        in capfd.readouterr().out
    )


def test_an_exception_is_told_with_its_component(capfd) -> None:
    """After what came before it; the exit status is 1."""
    words = [*EVENTS[:2], "-p", "count=2,first=5,step=10,raises-at=3"]
    assert main(["convert", PLUGINS, *words]) == 1

    output = capfd.readouterr()
    assert output.out.count("sampled") == 1
    assert "ValueError: the seventh seal\n" in output.err
    assert "vestige: error: component 'src.sample.Events': failed\n" in output.err
