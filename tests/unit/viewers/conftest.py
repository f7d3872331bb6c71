"""Traces of calls with everything that viewers must stand, and what reports say of them."""

from __future__ import annotations

import json

import pytest

from support.viewer_traces import write_hostile_calls, write_spans
from vestige.cli.main import main


@pytest.fixture
def calls(tmp_path):
    """A trace of calls, some of them not complete, with names of others."""
    return write_hostile_calls(tmp_path / "calls")


@pytest.fixture
def spans(tmp_path):
    """A trace of two spans, one in the other, without calls."""
    return write_spans(tmp_path / "spans")


@pytest.fixture
def report(capsys):
    """A function that returns what ``vestige report --json`` says of a trace."""

    def read(path, *options):
        main(["report", "--json", *options, str(path)])
        return json.loads(capsys.readouterr().out)

    return read


@pytest.fixture
def export(tmp_path, capsys):
    """A function that exports a trace; returns the file and what was said."""

    def run(path, to, *options):
        out = tmp_path / f"out.{to}"
        status = main(["export", "--to", to, "-o", str(out), *options, str(path)])
        said = capsys.readouterr()
        assert status == 0, said.err
        return out, said.err

    return run
